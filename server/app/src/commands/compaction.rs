//! `compaction.*`: reports how close a compaction is, runs and undoes compactions, and recovers when a provider
//! rejects a prompt as too long.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_conversation::compaction::{
    CompactionMoment, CompactionStatus, ConversationSize, Profile, RequestSize, TriggerMetric, TriggerReading,
};
use strata_prompt::assembly::{PromptRequest, history_size};
use strata_prompt::session::Session;

use super::{Access, BackgroundJob, Command, CommandError, Context, DeferredReply, Effect, NoArguments};
use crate::model::snapshot::Snapshot;
use crate::services::compaction::CompactionJob;
use crate::services::compaction_notice::{CompactionNotice, CompactionReason};

/// The compaction to run.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunParams {
    /// Name of the compaction profile. Defaults to the setting `compaction.profile`.
    pub profile: Option<String>,
}

/// Model and token limit of the request to report on, if they differ from those of the next request.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReportedRequestParams {
    /// Model of the request. Defaults to the model of the last prompt, or else to the setting `model`.
    pub model: Option<String>,
    /// Maximum input tokens that the client allows. Defaults to the limit of the last prompt. The model's window and
    /// the session's own limit apply as well.
    pub max_input_tokens: Option<usize>,
}

impl ReportedRequestParams {
    /// Returns the next request of a session, with the model and the token limit from `self` if they are given.
    pub(super) fn next_prompt_request(self, session: &Session, now_ms: u64) -> PromptRequest {
        let last_request = session.next_request(now_ms);
        PromptRequest {
            model: self.model.or(last_request.model),
            max_input_tokens: self.max_input_tokens.or(last_request.max_input_tokens),
            ..last_request
        }
    }
}

/// The compaction that was undone.
#[derive(Debug, Serialize, JsonSchema)]
pub struct UndoReply {
    /// Name of the profile that the compaction used.
    pub profile: String,
    /// Size of the conversation before the undo.
    pub before: ConversationSize,
    /// Number of messages that the model sees after the undo.
    pub messages: usize,
}

pub struct ReportCompactionStatus;

impl Command for ReportCompactionStatus {
    const NAME: &str = "strata.compaction.status";
    const SUMMARY: &str = "Reports how close the conversation is to compaction.";
    const ACCESS: Access = Access::Reads;
    type Args = ReportedRequestParams;
    type Reply = CompactionStatus;

    fn run(
        params: ReportedRequestParams,
        context: &mut Context<'_>,
    ) -> Result<CompactionStatus, CommandError> {
        let (session, services) = (&context.session, context.snapshot.prompt_services());
        let prompt_request = params.next_prompt_request(session, context.now_ms);
        let status = session.compaction_status(
            session.request_size(&prompt_request, services),
            services,
            context.now_ms,
        );
        Ok(CompactionStatus { running: context.compaction.is_some(), ..status })
    }
}

pub struct RunCompaction;

impl Command for RunCompaction {
    const NAME: &str = "strata.compaction.run";
    const SUMMARY: &str = "Compacts the conversation. Replies when the compaction is done.";
    type Args = RunParams;
    type Reply = DeferredReply<CompactionNotice>;

    fn run(
        params: RunParams,
        context: &mut Context<'_>,
    ) -> Result<DeferredReply<CompactionNotice>, CommandError> {
        let settings = &context.snapshot.settings;
        let profile = match params.profile {
            Some(name) => settings.compaction.profile_named(&name, &settings.tool_output)?,
            None => settings.compaction.active_profile(&settings.tool_output),
        };
        start_compaction(profile, CompactionReason::Asked, context);
        Ok(DeferredReply::default())
    }
}

pub struct UndoCompaction;

impl Command for UndoCompaction {
    const NAME: &str = "strata.compaction.undo";
    const SUMMARY: &str = "Undoes the last compaction.";
    type Args = NoArguments;
    type Reply = UndoReply;

    fn run(_: NoArguments, context: &mut Context<'_>) -> Result<UndoReply, CommandError> {
        let record = context.session.undo_compaction()?;
        let messages = context.session.history.visible_messages().count();
        Ok(UndoReply { profile: record.profile, before: record.after, messages })
    }
}

/// Compacts the conversation after the provider rejected a prompt as too long. The client then assembles the prompt
/// again and resends it.
pub struct RecoverFromContextLimit;

impl Command for RecoverFromContextLimit {
    const NAME: &str = "strata.compaction.contextLimitExceeded";
    const SUMMARY: &str = "Compacts the conversation after the provider rejected a prompt as too long. Replies when the compaction is \
                           done.";
    type Args = NoArguments;
    type Reply = DeferredReply<CompactionNotice>;

    fn run(
        _: NoArguments,
        context: &mut Context<'_>,
    ) -> Result<DeferredReply<CompactionNotice>, CommandError> {
        context.session.check_recovery_allowed()?;
        if context.compaction.is_some() {
            return Err(CommandError::failed(
                "a compaction of this session is running; wait until it ends, then assemble the prompt again and send it",
            ));
        }
        let settings = &context.snapshot.settings;
        let profile = settings.compaction.active_profile(&settings.tool_output);
        start_compaction(profile, CompactionReason::ContextLimit, context);
        Ok(DeferredReply::default())
    }
}

/// Returns the automatic compaction to run at `moment`. Returns `None` if automatic compaction is disabled, the profile
/// specifies another moment, or its threshold has not been reached.
pub(super) fn due_job(
    moment: CompactionMoment,
    size: RequestSize,
    session: &Session,
    snapshot: &Snapshot,
    now_ms: u64,
) -> Option<CompactionJob> {
    let profile = automatic_profile(snapshot)?;
    if profile.moment != moment {
        return None;
    }
    let reading = profile.due_reading(&session.pressure(Some(size), snapshot.prompt_services(), now_ms))?;
    Some(new_compaction_job(profile, CompactionReason::Due(reading), Some(size), session))
}

/// Returns the automatic compaction to run before a prompt that would otherwise omit exchanges, even if the profile
/// specifies another moment. Returns `None` if automatic compaction is disabled.
pub(super) fn job_before_truncation(
    size: RequestSize,
    session: &Session,
    snapshot: &Snapshot,
) -> Option<CompactionJob> {
    let profile = automatic_profile(snapshot)?;
    let (measured, limit) = (TriggerMetric::ContextTokens, size.limit.unwrap_or_default());
    let reading = TriggerReading { measured, now: size.tokens, limit, due: true };
    Some(new_compaction_job(profile, CompactionReason::Due(reading), Some(size), session))
}

/// Returns the automatic compaction to run before a prompt that reads `read` tokens from the cache, if it saves money
/// because the prompt writes much of the conversation again. The profile may specify another moment.
pub(super) fn job_before_rewriting(
    size: RequestSize,
    read: usize,
    session: &Session,
    snapshot: &Snapshot,
    now_ms: u64,
) -> Option<CompactionJob> {
    let profile = automatic_profile(snapshot)?;
    let services = snapshot.prompt_services();
    let history = history_size(&session.history, services).tokens;
    let reading = profile.trigger.rewriting_reading(history).filter(|reading| reading.due)?;
    let pressure = session.pressure(Some(size), services, now_ms);
    let pays = session.is_compaction_worthwhile_before_prompt(&pressure, read, services);
    pays.then(|| new_compaction_job(profile, CompactionReason::Due(reading), Some(size), session))
}

/// Returns the compaction to run before the next prompt, after the provider rejected one as too long.
pub(super) fn recovery_job(size: RequestSize, session: &Session, snapshot: &Snapshot) -> CompactionJob {
    let settings = &snapshot.settings;
    new_compaction_job(
        settings.compaction.active_profile(&settings.tool_output),
        CompactionReason::ContextLimit,
        Some(size),
        session,
    )
}

fn new_compaction_job(
    profile: Profile,
    reason: CompactionReason,
    size: Option<RequestSize>,
    session: &Session,
) -> CompactionJob {
    CompactionJob { session: session.id.to_string(), profile, reason, size }
}

/// Returns the configured profile, or `None` if automatic compaction is disabled.
fn automatic_profile(snapshot: &Snapshot) -> Option<Profile> {
    let compaction = &snapshot.settings.compaction;
    (compaction.enabled && compaction.auto).then(|| compaction.active_profile(&snapshot.settings.tool_output))
}

fn start_compaction(profile: Profile, reason: CompactionReason, context: &mut Context<'_>) {
    let job = new_compaction_job(profile, reason, None, context.session);
    context.effects.push(Effect::Start(BackgroundJob::Compact(Box::new(job))));
}
