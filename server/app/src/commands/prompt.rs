//! `prompt.*`: assembles, previews, estimates, records and discards prompts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use strata_conversation::compaction::{CompactionMoment, RequestSize, Summariser};
use strata_conversation::history::{ContentBlock, Image, TextOrList};
use strata_conversation::providers::reply::ContextSize;
use strata_conversation::providers::{Format, Tool, ToolChoice};
use strata_prompt::assembly::{
    self, AssembleError, AssembledPrompt, PreparedPrompt, Preview, PromptRequest, PromptServices, Request,
    ToolResult, Warning, WarningCode, Workspace, history_size,
};
use strata_prompt::session::{
    PromptFit, RecordResult, RecoverableRequestError, RequestOutcome, RequestStatus,
};
use strata_prompt::tiers::PolicyName;
use strata_prompt::wire::Body;
use strata_tokens::cost::Usage;
use strata_tokens::models::CacheTtl;

use super::{
    Access, BackgroundJob, Command, CommandError, Context, Effect, Empty, IndexNeed, compaction, tool_output,
};
use crate::model::snapshot::Snapshot;
use crate::model::workspace_context::current_branch;
use crate::services::Services;
use crate::services::compaction::CompactionJob;
use crate::services::compaction_notice::CompactionReason;
use crate::services::token_count_client::CountedPrompt;

/// Maximum number of times to ask the client for the token count of one prompt.
const MAX_CLIENT_COUNT_REQUESTS: usize = 2;
/// The client is asked for a token count only if the margin for estimation error exceeds the available tokens divided
/// by this number.
const COUNT_REQUEST_MARGIN_DIVISOR: usize = 20;

/// What to assemble. Requires either `prompt` (with or without `images`) or `toolResults`.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AssembleParams {
    /// Text of the user's question.
    pub prompt: Option<String>,
    /// Images to send with the question. Defaults to none.
    #[serde(default)]
    pub images: Vec<Image>,
    /// Results of the tool calls in the last answer, and late ones of earlier calls.
    pub tool_results: Option<Vec<ToolResult>>,
    /// Tools that the model may call, in the order in which to declare them. Defaults to none.
    #[serde(default)]
    pub tools: Vec<Tool>,
    /// Whether the model may call the tools. Declare the same tools in each request, even if the model may not call
    /// them, because the provider's cache contains their declarations. Defaults to `auto`.
    #[serde(default)]
    pub tool_choice: ToolChoice,
    /// Format of the request. Defaults to the setting `format`.
    pub format: Option<Format>,
    /// Layout policy. Defaults to the session's policy, or else to the setting `cache.policy`.
    pub policy: Option<PolicyName>,
    /// Model to build the prompt for. Defaults to the setting `model`.
    pub model: Option<String>,
    /// Maximum input tokens that the client allows. Defaults to no limit besides the model's window and the session's
    /// own limit.
    pub max_input_tokens: Option<usize>,
    /// Token limit for code to add to the prompt as excerpts. Defaults to the session's limit, or else to the setting
    /// `context.auto_budget`.
    pub auto_budget: Option<usize>,
    /// Lifetime of cache entries, for clients that support only one lifetime. Defaults to the setting `cache.ttl`.
    pub ttl: Option<CacheTtl>,
    /// Whether to assemble the prompt without remembering it, so that it cannot be recorded. Defaults to `false`.
    #[serde(default)]
    pub dry_run: bool,
    /// How to return the request body. Defaults to `json`.
    #[serde(default)]
    pub body_as: BodyAs,
    /// Additional top-level fields of the request body, such as `max_tokens` and `stream`, appended after Strata's own.
    /// Fields that Strata sets are rejected. Token counts do not include these additional fields.
    #[serde(default)]
    pub extra: Map<String, Value>,
}

/// How to return the request body.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BodyAs {
    /// As a JSON object.
    #[default]
    Json,
    /// As a string with the exact text to POST, for clients that would reorder the fields of an object.
    Text,
}

/// The outcome of a prompt.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RecordParams {
    /// Id of the prompt, as returned by `strata.prompt.assemble`.
    pub id: String,
    /// How the request ended. Defaults to `complete`.
    #[serde(default)]
    pub status: RequestStatus,
    /// The model's answer: a string or a list of content blocks.
    pub response: Option<TextOrList<ContentBlock>>,
    /// The part of an interrupted answer that was received, in the same form as `response`. Cannot be combined with
    /// `response`.
    pub partial: Option<TextOrList<ContentBlock>>,
    /// Token usage that the provider reported.
    pub usage: Option<Usage>,
    /// Why the request failed. The prompt then counts as not sent. After `context_limit`, assemble and send the prompt
    /// again: the conversation is compacted first. A second `context_limit` in a row is an error that names the largest
    /// parts of the prompt.
    pub error: Option<RecoverableRequestError>,
    /// Token limit that the provider stated with `context_limit`.
    pub limit: Option<u64>,
    /// Tokens of the request that the provider stated with `context_limit`.
    pub requested: Option<u64>,
}

/// A prompt that was assembled.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PromptId {
    /// Id of the prompt, as returned by `strata.prompt.assemble`.
    pub id: String,
}

/// An earlier preview to compare with.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangesParams {
    /// Text of the earlier preview, as returned by `strata.prompt.preview`.
    pub since: String,
    /// Policy of the earlier preview. Defaults to the session's policy, or else to the setting `cache.policy`.
    pub policy: Option<PolicyName>,
}

/// Changes since an earlier preview.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PreviewChanges {
    /// Text of the current preview.
    pub text: String,
    /// Unified diff from the earlier text to the current one. Each hunk header names the part of the prompt in which
    /// the hunk begins. Empty if nothing changed.
    pub changes: String,
}

/// A text, and the model to count its tokens for.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EstimateParams {
    /// Text whose tokens to count.
    pub text: String,
    /// Model whose tokenizer to use. Defaults to the setting `model`.
    pub model: Option<String>,
    /// Maximum input tokens that the client allows. Defaults to no limit besides the model's window and the session's
    /// own limit.
    pub max_input_tokens: Option<usize>,
}

/// The number of tokens in a text, and the limit of the model.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Estimate {
    /// Number of tokens in the text.
    pub tokens: usize,
    /// Model whose tokenizer was used.
    pub model: String,
    /// Token limit for a request to `model`: the input window minus the reserve for the answer and the margin for
    /// estimation error.
    pub limit: usize,
    /// Warning about the properties assumed for a model that is missing from the model table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

impl AssembleParams {
    fn into_prompt_request(self, now_ms: u64) -> Result<PromptRequest, CommandError> {
        let request = match (self.prompt, self.tool_results) {
            (Some(_), Some(_)) => {
                return Err(CommandError::invalid(
                    "toolResults",
                    "pass either `prompt` or `toolResults`, not both",
                ));
            }
            (None, Some(_)) if !self.images.is_empty() => {
                return Err(CommandError::invalid(
                    "images",
                    "`images` requires `prompt`; put images from a tool into its result",
                ));
            }
            (None, Some(results)) => Request::ToolResults(results),
            (text, None) => Request::Prompt { text: text.unwrap_or_default(), images: self.images },
        };
        let Self { tools, tool_choice, format, policy, model, max_input_tokens, auto_budget, ttl, .. } = self;
        Ok(PromptRequest {
            request,
            tools,
            tool_choice,
            format,
            policy,
            model,
            max_input_tokens,
            auto_budget,
            ttl,
            now_ms,
        })
    }
}

pub struct AssemblePrompt;

impl Command for AssemblePrompt {
    const NAME: &str = "strata.prompt.assemble";
    const SUMMARY: &str = "Assembles a prompt: a request body for a provider, with a report on its content.";
    const INDEX: IndexNeed = IndexNeed::Prompt;
    type Args = AssembleParams;
    type Reply = AssembledPrompt;

    /// Returns whether assembling may wait: it may compact the conversation first, or ask the client to count tokens.
    fn may_await_reply(snapshot: &Snapshot, services: &Services) -> bool {
        services.token_count_client().is_some() || services.has_summary_model(snapshot)
    }

    fn run(mut params: AssembleParams, context: &mut Context<'_>) -> Result<AssembledPrompt, CommandError> {
        check_extra_fields(&params, context)?;
        let AssembleParams { dry_run, body_as, .. } = params;
        let extra = std::mem::take(&mut params.extra);
        let finish_reply = |mut reply: AssembledPrompt| {
            reply.body.add_missing_fields(extra);
            if body_as == BodyAs::Text {
                reply.body = Body::Text(reply.body.into_text());
            }
            reply
        };
        let mut prompt_request = params.into_prompt_request(context.now_ms)?;
        if let Request::ToolResults(results) = &mut prompt_request.request {
            for result in results {
                result.content.0 =
                    tool_output::truncate_output(std::mem::take(&mut result.content.0), context);
            }
        }
        inherit_calibrations(context);
        let mut prepared = prepare(&prompt_request, context)?;
        if dry_run {
            return Ok(finish_reply(prepared?.reply));
        }
        let mut due_job = due_compaction(&prepared, &prompt_request, context);
        let mut is_compacted = false;
        if due_job.is_some() && await_running_compaction(context)? {
            is_compacted = true;
            prepared = prepare(&prompt_request, context)?;
            due_job = due_compaction(&prepared, &prompt_request, context);
        }
        if let Some(job) = due_job
            && compact_now(&job, context)?
        {
            is_compacted = true;
            prepared = prepare(&prompt_request, context)?;
        }
        let mut prepared = prepared?;
        if is_compacted {
            prepared = recount_after_compaction(prepared, &prompt_request, context)?;
        }
        let mut prepared = recount_if_over_limit(prepared, &prompt_request, context)?;
        context.cancel.check()?;
        let AssembledPrompt { model, warnings, .. } = &mut prepared.reply;
        let is_about_model = |warning: &Warning| warning.code == WarningCode::UnknownModel;
        if warnings.iter().any(is_about_model) && !context.services.record_unknown_model(model) {
            warnings.retain(|warning| !is_about_model(warning));
        }
        warnings.retain(|warning| match (&warning.code, &warning.path) {
            (WarningCode::Redacted, Some(path)) => context.services.warn_of_secrets(path, &warning.message),
            _ => true,
        });
        Ok(finish_reply(context.session.add_pending_prompt(prepared)))
    }
}

/// Returns the compaction that is due before this prompt is sent. Considers the complete prompt, including parts that
/// were omitted to make it fit.
fn due_compaction(
    prepared: &Result<PreparedPrompt, AssembleError>,
    prompt_request: &PromptRequest,
    context: &Context<'_>,
) -> Option<CompactionJob> {
    let Context { session, snapshot, .. } = context;
    let (size, is_truncated, read) = match prepared {
        Ok(PreparedPrompt { reply, size, .. }) => {
            let is_truncated =
                reply.warnings.iter().any(|warning| warning.code == WarningCode::HistoryTruncated);
            (*size, is_truncated, Some(reply.predicted.read))
        }
        Err(AssembleError::TooLarge { tokens, .. }) => {
            let size = session.request_size(prompt_request, snapshot.prompt_services());
            (RequestSize { tokens: *tokens, least: *tokens, ..size }, true, None)
        }
        Err(_) => return None,
    };
    if session.must_recover() {
        return Some(compaction::recovery_job(size, session, snapshot));
    }
    compaction::due_job(CompactionMoment::BeforeAssembling, size, session, snapshot, context.now_ms)
        .or_else(|| is_truncated.then(|| compaction::job_before_truncation(size, session, snapshot))?)
        .or_else(|| {
            // A prompt does not wait for a model only to save money.
            let read = read.filter(|_| !context.services.has_summary_model(snapshot))?;
            compaction::job_before_rewriting(size, read, session, snapshot, context.now_ms)
        })
}

/// Rejects additional fields that the request body cannot contain, or that Strata sets itself.
fn check_extra_fields(params: &AssembleParams, context: &Context<'_>) -> Result<(), CommandError> {
    let format = context.snapshot.format(params.format, params.model.as_deref());
    if format.foreign_provider().is_none() && !params.extra.is_empty() {
        return Err(CommandError::invalid(
            "extra",
            "the format `markdown` is plain text, so it has no fields to add",
        ));
    }
    match params.extra.keys().find(|field| !format.can_add_field(field)) {
        Some(field) => Err(CommandError::invalid(
            &format!("extra.{field}"),
            "Strata sets this field of the request body",
        )),
        None => Ok(()),
    }
}

/// Copies the token calibration of earlier conversations to a session that has none.
fn inherit_calibrations(context: &mut Context<'_>) {
    if context.session.calibrations.is_empty()
        && let Some(calibrations) = context.services.store.calibrations()
    {
        context.session.inherit_calibrations(&calibrations);
    }
}

/// If a prompt exceeds its limit and the margin for estimation error is large, asks the client for a token count and
/// assembles the prompt again with it. Keeps the estimate if the client cannot provide one.
fn recount_if_over_limit(
    mut prepared: PreparedPrompt,
    prompt_request: &PromptRequest,
    context: &mut Context<'_>,
) -> Result<PreparedPrompt, CommandError> {
    let Some(client) = context.services.token_count_client() else { return Ok(prepared) };
    for _ in 0..MAX_CLIENT_COUNT_REQUESTS {
        let RequestSize { tokens, limit, .. } = prepared.size;
        let limit = limit.unwrap_or(usize::MAX);
        let margin = prepared.reply.tokens.room.saturating_sub(limit);
        if tokens <= limit || margin <= prepared.reply.tokens.room / COUNT_REQUEST_MARGIN_DIVISOR {
            break;
        }
        match client.count_prompt_tokens(&prepared.reply, context.cancel) {
            Ok(CountedPrompt { model, estimated, counted }) => {
                context.session.record_token_counts(&model, estimated, counted);
                prepared = prepare(prompt_request, context)??;
            }
            Err(problem) => {
                tracing::warn!(%problem, "the client cannot count the tokens of the prompt; using the estimate");
                break;
            }
        }
    }
    Ok(prepared)
}

fn prepare(
    prompt_request: &PromptRequest,
    context: &Context<'_>,
) -> Result<Result<PreparedPrompt, AssembleError>, CommandError> {
    let make = match prompt_request.request {
        Request::Nothing => assembly::assemble_allowing_empty,
        Request::Prompt { .. } | Request::ToolResults(_) => assembly::assemble,
    };
    let assemble = |workspace: &Workspace<'_>, services: PromptServices<'_>| {
        make(workspace, context.session, prompt_request, services)
    };
    Ok(context.snapshot.with_workspace(context.session, prompt_request, context.cancel, assemble)?)
}

/// Asks the client for the token count of the first prompt after a compaction, then assembles the prompt again with it.
/// Keeps the estimate if the client cannot provide one.
fn recount_after_compaction(
    prepared: PreparedPrompt,
    prompt_request: &PromptRequest,
    context: &mut Context<'_>,
) -> Result<PreparedPrompt, CommandError> {
    let Some(client) = context.services.token_count_client() else { return Ok(prepared) };
    match client.count_prompt_tokens(&prepared.reply, context.cancel) {
        Ok(CountedPrompt { model, estimated, counted }) => {
            context.session.record_token_counts(&model, estimated, counted);
            Ok(prepare(prompt_request, context)??)
        }
        Err(problem) => {
            tracing::warn!(%problem, "the client cannot count the tokens of the compacted conversation; using the estimate");
            Ok(prepared)
        }
    }
}

/// Waits for the compaction that is already running in this session, and installs its draft. Returns `false` if the
/// compaction failed or the conversation has changed since it started. The prompt may then run its own compaction.
fn await_running_compaction(context: &mut Context<'_>) -> Result<bool, CommandError> {
    let Some(running) = context.compaction else { return Ok(false) };
    let draft = running.draft.wait(context.cancel)?;
    let result = draft.and_then(|draft| {
        let result = running.job.install(context.session, draft, context.snapshot);
        result.map_err(|error| error.to_string())
    });
    match result {
        Ok(()) => {
            context.effects.push(Effect::Start(BackgroundJob::Adopted(running.number)));
            Ok(true)
        }
        Err(problem) => {
            tracing::info!(%problem, "the compaction that the prompt waited for cannot be used");
            Ok(false)
        }
    }
}

/// Compacts the conversation before a prompt, and returns whether that succeeded. If the compaction fails, the prompt
/// uses the unchanged conversation and omits what does not fit.
fn compact_now(job: &CompactionJob, context: &mut Context<'_>) -> Result<bool, CommandError> {
    let Context { snapshot, services, session, cancel, .. } = context;
    if matches!(job.reason, CompactionReason::Due(_)) && !job.has_old_messages(session, snapshot) {
        return Ok(false);
    }
    services.notify_compaction(job.started_notice(session, snapshot));
    let draft = job.draft(session, snapshot, services, cancel);
    cancel.check()?;
    let installed = draft.map_err(|error| error.to_string()).and_then(|draft| {
        let notice = job.ended_notice(Some(&draft));
        job.install(session, draft, snapshot).map(|()| notice).map_err(|error| error.to_string())
    });
    let is_installed = installed.is_ok();
    let notice = installed.unwrap_or_else(|error| job.failed_notice(&error));
    // Notify the client only after the command's changes have been persisted.
    context.effects.push(Effect::Start(BackgroundJob::Notify(Box::new(notice))));
    Ok(is_installed)
}

/// Renders the prompt that `strata.prompt.assemble` would return as a readable document. Changes nothing.
pub struct PreviewPrompt;

impl Command for PreviewPrompt {
    const NAME: &str = "strata.prompt.preview";
    const SUMMARY: &str = "Previews the next request as a document.";
    const ACCESS: Access = Access::Reads;
    const INDEX: IndexNeed = IndexNeed::Prompt;
    type Args = AssembleParams;
    type Reply = Preview;

    fn run(params: AssembleParams, context: &mut Context<'_>) -> Result<Preview, CommandError> {
        let mut prompt_request = params.into_prompt_request(context.now_ms)?;
        match &mut prompt_request.request {
            Request::Prompt { text, images } if text.is_empty() && images.is_empty() => {
                prompt_request.request = Request::Nothing;
            }
            Request::ToolResults(results) => {
                for result in results {
                    result.content.0 =
                        tool_output::preview_truncation(std::mem::take(&mut result.content.0), context);
                }
            }
            Request::Prompt { .. } | Request::Nothing => {}
        }
        inherit_calibrations(context);
        let prepared = prepare(&prompt_request, context)??;
        Ok(assembly::preview(&prepared, context.session))
    }
}

/// Compares the current preview with an earlier one, for chats that cannot edit the messages they sent.
pub struct ComparePrompts;

impl Command for ComparePrompts {
    const NAME: &str = "strata.prompt.changes";
    const SUMMARY: &str = "Compares the next request with an earlier preview.";
    const ACCESS: Access = Access::Reads;
    const INDEX: IndexNeed = IndexNeed::Prompt;
    type Args = ChangesParams;
    type Reply = PreviewChanges;

    fn run(params: ChangesParams, context: &mut Context<'_>) -> Result<PreviewChanges, CommandError> {
        let current = PreviewPrompt::run(
            AssembleParams { policy: params.policy, ..AssembleParams::default() },
            context,
        )?;
        let changes = assembly::changes_since(&params.since, &current);
        Ok(PreviewChanges { text: current.text, changes })
    }
}

pub struct RecordOutcome;

impl Command for RecordOutcome {
    const NAME: &str = "strata.prompt.record";
    const SUMMARY: &str = "Records the outcome of a prompt, which completes the turn.";
    type Args = RecordParams;
    type Reply = RecordResult;

    fn run(params: RecordParams, context: &mut Context<'_>) -> Result<RecordResult, CommandError> {
        if params.response.is_some() && params.partial.is_some() {
            return Err(CommandError::invalid("partial", "pass either `response` or `partial`, not both"));
        }
        let answer = params.response.or(params.partial).map_or(Vec::new(), |content| content.0);
        if answer.iter().any(ContentBlock::is_tool_result) {
            return Err(CommandError::invalid(
                "response",
                "an answer cannot contain tool results; they belong in the next request",
            ));
        }
        let status = if params.error.is_some() { RequestStatus::Error } else { params.status };
        let outcome = RequestOutcome {
            status,
            error: params.error,
            answer,
            usage: params.usage,
            time_ms: context.now_ms,
        };
        let recorded = context.session.record(&params.id, outcome)?;
        if status == RequestStatus::Error {
            let stated = ContextSize { limit: params.limit, requested: params.requested };
            context.session.apply_stated_limit(stated);
            return Ok(recorded);
        }
        context.session.branch = current_branch(context.snapshot);
        let (services, now_ms) = (context.snapshot.prompt_services(), context.now_ms);
        let prompt_request = context.session.next_request(now_ms);
        let before = context.session.request_size(&prompt_request, services);
        let history = history_size(&context.session.history, services).tokens;
        archive_old_results(before, context);
        // Archiving discards the billed size of the whole prompt, which is the most accurate measurement, so subtract
        // the freed tokens from that size.
        let freed = history.saturating_sub(history_size(&context.session.history, services).tokens);
        let tokens = before.tokens.saturating_sub(freed);
        let size = RequestSize { tokens, least: tokens, ..before };
        // A turn of a conversation also counts as an iteration.
        let due_job = [CompactionMoment::AfterTurn, CompactionMoment::OnIteration]
            .into_iter()
            .find_map(|moment| compaction::due_job(moment, size, context.session, context.snapshot, now_ms));
        context.effects.extend(due_job.map(|job| Effect::Start(BackgroundJob::Compact(Box::new(job)))));
        Ok(recorded)
    }
}

/// Archives old tool results. Runs in the background if a model summarizes them, because no caller waits for the
/// result.
fn archive_old_results(size: RequestSize, context: &mut Context<'_>) {
    let services = context.snapshot.prompt_services();
    let is_full = size.limit.is_some_and(|limit| size.tokens > limit);
    let room = if is_full { PromptFit::TooLarge } else { PromptFit::Fits };
    let Some(plan) = context.session.plan_archival(room, services, context.now_ms) else { return };
    match (plan.question.as_ref(), context.services.summarizer(context.snapshot).summarizer()) {
        (Some(_), Summariser::Model { .. }) => {
            context.effects.push(Effect::Start(BackgroundJob::Archive(Box::new(plan))));
        }
        _ => {
            context.session.apply_archival(plan.apply(None));
        }
    }
}

pub struct DiscardPrompt;

impl Command for DiscardPrompt {
    const NAME: &str = "strata.prompt.discard";
    const SUMMARY: &str = "Discards a prompt that was not sent.";
    type Args = PromptId;
    type Reply = Empty;

    fn run(params: PromptId, context: &mut Context<'_>) -> Result<Empty, CommandError> {
        context.session.discard_prompt(&params.id)?;
        Ok(Empty {})
    }
}

pub struct EstimateTokens;

impl Command for EstimateTokens {
    const NAME: &str = "strata.prompt.estimate";
    const SUMMARY: &str = "Counts the tokens in a text.";
    const ACCESS: Access = Access::Reads;
    type Args = EstimateParams;
    type Reply = Estimate;

    fn run(params: EstimateParams, context: &mut Context<'_>) -> Result<Estimate, CommandError> {
        let EstimateParams { text, model, max_input_tokens } = params;
        let (name, tokens) = context.snapshot.count_text_tokens(&text, model.as_deref());
        let prompt_request =
            PromptRequest { model, max_input_tokens, ..PromptRequest::new(Request::Nothing) };
        let limit = context
            .session
            .request_size(&prompt_request, context.snapshot.prompt_services())
            .limit
            .unwrap_or_default();
        let snapshot = context.snapshot;
        let warning = snapshot
            .models
            .resolve(prompt_request.model.as_deref().unwrap_or(&snapshot.settings.model))
            .warning();
        Ok(Estimate { tokens, model: name, limit, warning })
    }
}
