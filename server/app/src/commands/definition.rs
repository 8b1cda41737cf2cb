//! The table of commands, with their type-erased definitions and their descriptions.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use strata_tokens::redaction::SecretRedactor;

use super::{
    Access, Command, CommandError, Context, IndexNeed, Reply, budget, changes, compaction, context, cost,
    files, grep, here, history, iteration, memory, model, pack, prompt, read, redaction, rules, send, server,
    session, symbols, tiers, tool_output, url,
};
use crate::faults::{self, FaultPoint};
use crate::model::snapshot::Snapshot;
use crate::schema::TypeSchemas;
use crate::services::Services;

macro_rules! definitions {
    ($($command:ty,)+) => {
        /// All commands, in the order in which the reference documentation lists them.
        pub const COMMANDS: &[CommandDefinition] = &[$(CommandDefinition::new::<$command>()),+];
    };
}

definitions! {
    files::SelectFiles,
    files::DeselectFiles,
    files::ReplaceSelection,
    files::ExcludeFiles,
    files::IncludeFiles,
    files::ListSelection,
    files::AddFileContent,
    files::RenameFiles,
    files::ClearSelection,
    files::FindFiles,
    read::ReadFile,
    grep::Grep,
    changes::ListChangedFiles,
    files::CheckIfSelected,
    files::MarkFilesRead,
    here::SelectDocument,
    here::DeselectDocument,
    here::ToggleDocument,
    here::ExcludeDocument,
    here::IncludeDocument,
    here::WritePromptPreview,
    here::AskAboutDocument,
    here::ShowContextSummary,
    prompt::AssemblePrompt,
    prompt::RecordOutcome,
    prompt::DiscardPrompt,
    send::SendPrompt,
    prompt::PreviewPrompt,
    prompt::ComparePrompts,
    prompt::EstimateTokens,
    rules::ListRules,
    model::ForwardConversation,
    context::ListExcerpts,
    context::PinExcerpts,
    context::UnpinExcerpts,
    context::DismissExcerpts,
    context::RestoreExcerpts,
    context::SetAutoBudget,
    tiers::ReportLayout,
    tiers::RebuildLayout,
    tiers::SetCachePolicy,
    tiers::ExplainBreak,
    tiers::ForecastCost,
    history::AddMessage,
    history::AddExchange,
    history::ListMessages,
    history::CountMessages,
    history::ReplaceMessages,
    history::ClearMessages,
    history::TruncateHistory,
    history::EditMessage,
    history::PinMessage,
    history::HideMessage,
    history::ImportMessages,
    tool_output::AddToolOutput,
    tool_output::ReadToolOutput,
    iteration::RecordIteration,
    iteration::BuildIterationPrompt,
    iteration::ReportLoopStatus,
    memory::AddNote,
    memory::SearchMemory,
    memory::ListNotes,
    memory::RemoveNote,
    session::StartSession,
    session::ResetSession,
    session::ListSessions,
    session::LoadSession,
    session::ListSteps,
    session::ForkSession,
    session::RenameSession,
    session::DeleteSession,
    session::ExportSession,
    session::ImportSession,
    url::AddPage,
    url::RemovePage,
    url::ListPages,
    budget::ReportBudget,
    budget::SetTokenLimit,
    cost::ReportCosts,
    compaction::ReportCompactionStatus,
    compaction::RunCompaction,
    compaction::UndoCompaction,
    compaction::RecoverFromContextLimit,
    redaction::ListSecrets,
    redaction::RestoreSecrets,
    symbols::BuildSymbolMap,
    symbols::OutlineFile,
    symbols::FindReferences,
    symbols::ReportDependencies,
    symbols::FindSymbols,
    symbols::FindRelevantCode,
    pack::MakePack,
    server::ReportServerStatus,
    server::Reindex,
    server::ShowSettings,
    server::ListModels,
}

/// A [`Command`] with its types erased.
#[derive(Clone, Copy, Debug)]
pub struct CommandDefinition {
    pub name: &'static str,
    pub access: Access,
    pub index: IndexNeed,
    pub shown: bool,
    pub(super) may_await_reply: fn(&Snapshot, &Services) -> bool,
    run: fn(Value, &mut Context<'_>) -> Result<Value, CommandError>,
    describe: fn(&mut TypeSchemas) -> Value,
}

impl CommandDefinition {
    pub(crate) const fn new<C: Command>() -> Self {
        Self {
            name: C::NAME,
            access: C::ACCESS,
            index: C::INDEX,
            shown: C::SHOWS_OUTCOME,
            may_await_reply: C::may_await_reply,
            run: run::<C>,
            describe: |shapes| shapes.add_command::<C::Args, C::Reply>(C::NAME, C::SUMMARY),
        }
    }

    pub fn by_name(name: &str) -> Option<&'static Self> {
        COMMANDS.iter().find(|definition| definition.name == name)
    }

    /// Runs the command. `arguments` is the JSON object from `workspace/executeCommand`, without `session`.
    ///
    /// # Errors
    /// Returns a [`CommandError`] if the arguments are invalid or the command fails. The caller must then discard the
    /// session.
    pub(crate) fn run(&self, arguments: Value, context: &mut Context<'_>) -> Result<Value, CommandError> {
        (self.run)(arguments, context)
    }
}

/// Runs a command with its arguments and reply as JSON.
fn run<C: Command>(mut arguments: Value, context: &mut Context<'_>) -> Result<Value, CommandError> {
    check_cancelled::<C>(context)?;
    if C::SCREENED {
        context.snapshot.screen.redact_value(&mut arguments);
    }
    let reply = run_typed::<C>(parse_arguments(arguments)?, context)?;
    serde_json::to_value(reply).map_err(|error| CommandError::failed(error.to_string()))
}

/// Runs a command, like [`CommandDefinition::run`].
pub(super) fn call<C: Command<Args: Serialize>>(
    args: C::Args,
    context: &mut Context<'_>,
) -> Result<Reply<C::Reply>, CommandError> {
    check_cancelled::<C>(context)?;
    let args = if C::SCREENED { screen_arguments(args, &context.snapshot.screen)? } else { args };
    run_typed::<C>(args, context)
}

fn check_cancelled<C: Command>(context: &Context<'_>) -> Result<(), CommandError> {
    context.cancel.check()?;
    faults::reach(C::NAME, FaultPoint::Before);
    Ok(())
}

fn parse_arguments<A: DeserializeOwned>(arguments: Value) -> Result<A, CommandError> {
    serde_path_to_error::deserialize(arguments)
        .map_err(|error| CommandError::invalid(&error.path().to_string(), &error.inner().to_string()))
}

/// Replaces secrets in arguments before the command runs, so that they can never be sent, stored or logged. Sees them
/// as JSON, because the name of a field tells whether its value is a secret.
fn screen_arguments<A: Serialize + DeserializeOwned>(
    args: A,
    screen: &SecretRedactor,
) -> Result<A, CommandError> {
    let failed = |error: serde_json::Error| CommandError::failed(error.to_string());
    let value = serde_json::to_value(&args).map_err(failed)?;
    let mut screened = value.clone();
    screen.redact_value(&mut screened);
    if screened == value { Ok(args) } else { parse_arguments(screened) }
}

fn run_typed<C: Command>(args: C::Args, context: &mut Context<'_>) -> Result<Reply<C::Reply>, CommandError> {
    if C::INDEX == IndexNeed::Outlines {
        context.snapshot.index.check_outlines()?;
    }
    let reply = C::run(args, context);
    faults::reach(C::NAME, FaultPoint::Changed);
    let (reply, version) = (reply?, context.session.cache.revision);
    faults::reach(C::NAME, FaultPoint::After);
    if let Some(write) = context.write.take() {
        context.cancel.check()?;
        (write.0)(&context.services.store)?;
        context.has_written = true;
    }
    Ok(Reply::new(reply, version))
}

/// Describes all commands, keyed by name, in the order of the reference documentation. Adds their argument and reply
/// types to `shapes`.
pub fn describe_all(shapes: &mut TypeSchemas) -> Value {
    COMMANDS.iter().map(|command| (command.name, (command.describe)(shapes))).collect()
}
