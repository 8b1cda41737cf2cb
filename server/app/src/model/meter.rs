//! The context meter that `strata/status` reports. Computed in the background from a snapshot.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_base::cancel::{Cancel, Cancelled};
use strata_conversation::compaction::RequestSize;
use strata_prompt::assembly::{AssembleError, IndexState};
use strata_prompt::budget;
use strata_prompt::session::Session;

use crate::format::{dollars, group_digits, pluralize, tokens};
use crate::model::session_store::Persistence;
use crate::model::snapshot::Snapshot;

/// The size and cost of the current session's context, as the context meter shows them.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Status")]
pub struct ContextStatus {
    /// Id of the current session.
    session: String,
    /// Model that prompts are built for.
    model: String,
    /// Number of tokens in the next request, excluding the user's new message.
    tokens: usize,
    /// Input window of the model, in tokens.
    window: usize,
    /// `tokens` as a percentage of `window`.
    percent: f64,
    /// Percentage of the session's billed input tokens that were read from the cache. Absent until input is billed.
    cached_percent: Option<f64>,
    /// What the session cost so far, in US dollars. Absent if the price of a model is unknown, or nothing was billed.
    #[serde(skip_serializing_if = "Option::is_none")]
    dollars: Option<f64>,
    /// Number of tokens that the next request can read from the cache. Absent if nothing is cached.
    #[serde(skip_serializing_if = "Option::is_none")]
    cached_tokens: Option<usize>,
    /// When the cache expires unless it is used before, in milliseconds since 1970. Absent if nothing is cached.
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_expires_ms: Option<u64>,
    /// How close the conversation is to the next compaction, as a percentage of the threshold.
    compaction_percent: f64,
    /// Number of selected files that the next request omits because they do not fit. `strata.budget.report` lists them.
    shed: usize,
    /// Number of secrets in selected files that placeholders replace. `strata.redaction.list` lists them.
    redacted: usize,
    /// Whether the conversation is saved to disk. If not, it is lost when the server exits.
    stored: bool,
    /// Whether all files have been outlined.
    index: IndexState,
    /// Number of files in the workspace.
    files: usize,
    /// Number of changes to the session so far.
    state_version: u64,
}

impl ContextStatus {
    /// Returns a one-line summary for the user, including the number of selected files.
    pub(crate) fn summary(&self, name: &str, selected: usize) -> String {
        let used =
            format!("{name}: {} of {} ({} %)", group_digits(self.tokens), tokens(self.window), self.percent);
        let cached = self.cached_percent.map(|percent| format!("{percent:.0} % cached"));
        let cost = self.dollars.map(dollars);
        let files = format!("{} selected", pluralize(selected, "file"));
        let compaction = format!("compaction at {:.0} %", self.compaction_percent);
        let index = (self.index == IndexState::Building).then(|| "still indexing".to_owned());
        let parts = [Some(used), cached, cost, Some(files), Some(compaction), index];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

/// Computes the meter at the time `now_ms`, in milliseconds since 1970. Returns `None` if the size of the context
/// cannot be determined.
pub fn measure_context(
    snapshot: &Snapshot,
    session: &Session,
    persistence: Persistence,
    now_ms: u64,
    cancel: &Cancel,
) -> Option<ContextStatus> {
    let prompt_request = session.next_request(now_ms);
    let result: Result<_, Cancelled> =
        snapshot.with_workspace(session, &prompt_request, cancel, |workspace, services| {
            let redacted: usize = workspace.texts.values().map(|file| file.redacted.len()).sum();
            (redacted, budget::measure_budget(workspace, session, &prompt_request, services))
        });
    let (redacted, report) = result.ok()?;
    let (model, tokens, window, omitted) = match report {
        Ok(report) => (report.model, report.used, report.max_input_tokens, report.shed.len()),
        // The request does not fit even without a question, so report its actual size.
        Err(AssembleError::TooLarge { model, tokens, .. }) => {
            let window = snapshot.models.resolve(&model).model.max_input;
            (model, tokens, window, session.selection.selected.len())
        }
        Err(_) => return None,
    };
    let cached = session.cached_prefix(now_ms);
    let services = snapshot.prompt_services();
    let size = RequestSize { tokens, least: tokens, ..session.request_size(&prompt_request, services) };
    Some(ContextStatus {
        session: session.id.to_string(),
        model,
        tokens,
        window,
        percent: (tokens as f64 * 1_000.0 / window.max(1) as f64).round() / 10.0,
        cached_percent: session.bill.usage().cached_percent(),
        dollars: session.bill.total().and_then(|total| total.known_dollars()),
        cached_tokens: cached.map(|cached| cached.tokens),
        cache_expires_ms: cached.map(|cached| cached.expires_ms),
        compaction_percent: session.compaction_status(size, services, now_ms).percent,
        shed: omitted,
        redacted,
        stored: persistence == Persistence::Durable,
        index: snapshot.index.state,
        files: snapshot.index.files.len(),
        state_version: session.cache.revision,
    })
}
