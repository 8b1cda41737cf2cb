//! The table of commands, with their type-erased definitions and their descriptions.

use serde_json::Value;

use super::{
    Access, Command, CommandError, Context, IndexNeed, budget, changes, compaction, context, cost, files,
    grep, here, history, iteration, memory, model, pack, prompt, read, redaction, rules, send, server,
    session, symbols, tiers, tool_output, url, versioned, written,
};
use crate::faults::{self, Point};
use crate::model::snapshot::Snapshot;
use crate::schema::Shapes;
use crate::services::Services;

macro_rules! definitions {
    ($($command:ty,)+) => {
        /// All commands, in the order in which the reference documentation lists them.
        pub const COMMANDS: &[Definition] = &[$(Definition::of::<$command>()),+];
    };
}

definitions! {
    files::Select,
    files::Deselect,
    files::Set,
    files::Exclude,
    files::Include,
    files::List,
    files::Add,
    files::Remove,
    files::RenameFiles,
    files::Clear,
    files::Find,
    read::Read,
    grep::Grep,
    changes::Changes,
    files::Has,
    files::MarkRead,
    here::Select,
    here::Deselect,
    here::Toggle,
    here::Exclude,
    here::Include,
    here::Preview,
    here::AskAbout,
    here::Status,
    prompt::Assemble,
    prompt::Record,
    prompt::Discard,
    send::Send,
    prompt::PreviewPrompt,
    prompt::ComparePrompts,
    prompt::EstimateTokens,
    rules::Rules,
    model::Send,
    context::List,
    context::Pin,
    context::Unpin,
    context::Dismiss,
    context::Restore,
    context::Auto,
    tiers::Report,
    tiers::Rebuild,
    tiers::Policy,
    tiers::ExplainBreak,
    tiers::ForecastCost,
    history::Add,
    history::AddExchange,
    history::Get,
    history::CountMessages,
    history::Set,
    history::Clear,
    history::Truncate,
    history::Edit,
    history::PinMessage,
    history::Hide,
    history::Reregister,
    history::Import,
    tool_output::Add,
    tool_output::Read,
    iteration::Add,
    iteration::Prompt,
    iteration::Status,
    memory::Add,
    memory::Search,
    memory::List,
    memory::Remove,
    session::New,
    session::Reset,
    session::ListSessions,
    session::Load,
    session::ListSteps,
    session::Fork,
    session::Rename,
    session::Delete,
    session::Export,
    session::Import,
    session::Search,
    url::Add,
    url::Remove,
    url::List,
    budget::Report,
    budget::Set,
    cost::Report,
    compaction::Status,
    compaction::Run,
    compaction::Undo,
    compaction::ContextLimitExceeded,
    redaction::List,
    redaction::Restore,
    symbols::Map,
    symbols::File,
    symbols::References,
    symbols::Dependents,
    symbols::Find,
    symbols::Relevant,
    pack::Make,
    server::Status,
    server::Reindex,
    server::ShowSettings,
    server::Models,
}

/// A [`Command`] with its types erased.
#[derive(Clone, Copy, Debug)]
pub struct Definition {
    pub name: &'static str,
    pub access: Access,
    pub index: IndexNeed,
    pub shown: bool,
    screened: bool,
    may_wait: fn(&Snapshot, &Services) -> bool,
    run: fn(Value, &mut Context<'_>) -> Result<Value, CommandError>,
    describe: fn(&mut Shapes) -> Value,
}

impl Definition {
    pub(crate) const fn of<C: Command>() -> Self {
        Self {
            name: C::NAME,
            access: C::ACCESS,
            index: C::INDEX,
            shown: C::SHOWN,
            screened: C::SCREENED,
            may_wait: C::may_wait,
            run: run::<C>,
            describe: |shapes| shapes.command::<C::Args, C::Reply>(C::NAME, C::SUMMARY),
        }
    }

    pub fn named(name: &str) -> Option<&'static Self> {
        COMMANDS.iter().find(|command| command.name == name)
    }

    /// See [`Command::may_wait`].
    pub fn may_wait(&self, snapshot: &Snapshot, services: &Services) -> bool {
        (self.may_wait)(snapshot, services)
    }

    /// Runs the command. `arguments` is the JSON object from `workspace/executeCommand`, without `session`.
    ///
    /// # Errors
    /// Returns a [`CommandError`] if the arguments are invalid or the command fails. The caller must then discard the
    /// session.
    pub(crate) fn run(&self, mut arguments: Value, context: &mut Context<'_>) -> Result<Value, CommandError> {
        context.cancel.check()?;
        faults::reach(self.name, Point::Before);
        // Replace secrets before the command runs, so that they can never be sent, stored or logged.
        if self.screened {
            context.snapshot.screen.value(&mut arguments);
        }
        let mut reply = (self.run)(arguments, context)?;
        faults::reach(self.name, Point::After);
        if let Some(write) = context.write.take() {
            context.cancel.check()?;
            let written = write(&context.services.store)?;
            context.has_written = true;
            if let (Value::Object(reply), Value::Object(written)) = (&mut reply, written) {
                reply.extend(written);
            }
        }
        Ok(reply)
    }
}

fn run<C: Command>(arguments: Value, context: &mut Context<'_>) -> Result<Value, CommandError> {
    let args: C::Args = serde_path_to_error::deserialize(arguments)
        .map_err(|error| CommandError::invalid(&error.path().to_string(), &error.inner().to_string()))?;
    if C::INDEX == IndexNeed::Outlines {
        context.snapshot.index.check_outlines()?;
    }
    let reply = C::run(args, context);
    faults::reach(C::NAME, Point::Changed);
    Ok(versioned(written(reply?)?, context.session))
}

/// Describes all commands, keyed by name, in the order of the reference documentation. Adds their argument and reply
/// types to `shapes`.
pub fn described(shapes: &mut Shapes) -> Value {
    COMMANDS.iter().map(|command| (command.name, (command.describe)(shapes))).collect()
}
