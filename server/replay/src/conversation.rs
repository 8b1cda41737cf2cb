//! Replays a recorded conversation through the real engine, without files. Every prompt consists of the
//! conversation so far and one more message. The results show the cost of layouts when there are no files to
//! arrange.

use std::collections::BTreeMap;

use serde::Serialize;
use strata_conversation::history::{ContentBlock, MessageKind, NewMessage, Role, TextOrList};
use strata_conversation::trace::{SelectionRule, Trace};
use strata_conversation::transcript::{PriorHistoryForm, Transcript, TranscriptTurn};
use strata_prompt::assembly::{PromptRequest, PromptServices, Request, ToolResult};
use strata_prompt::session::PromptFit;
use strata_prompt::tiers::PolicyName;
use strata_tokens::cost::Usage;

use crate::columns::{ColumnStats, LayoutColumn, share};
use crate::predictions::{RequestPredictions, predictions};
use crate::runner::{PromptStats, ReplayError, Runner, SessionTotals, model_prices, provider_format};
use crate::scenario::{IncludedParts, Scenario};
use crate::varied::PROMPT_PAUSE_MS;

/// Sent in place of a recorded request without text, which only asked the model to continue.
const CONTINUE_REQUEST: &str = "Go on.";

/// Anthropic's price for writing a token to a five-minute cache, in multiples of plain input ("Prompt caching",
/// "Pricing"). `CACHE_READ_PRICE` is the price for reading one.
const CACHE_WRITE_PRICE: f64 = 1.25;
const CACHE_READ_PRICE: f64 = 0.1;

/// A repository without files.
static EMPTY_REPOSITORY: Trace = Trace {
    name: String::new(),
    files0: BTreeMap::new(),
    recency: BTreeMap::new(),
    sel: SelectionRule::Grow,
    turns: Vec::new(),
};

/// Results of replaying one recorded conversation.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ConversationStats {
    pub name: String,
    pub turns: usize,
    /// Number of lines in the record that could not be read.
    pub skipped_lines: usize,
    /// Billed cost relative to the cost without a cache; `None` if the record has no bill. Includes the agent's tools
    /// and system prompt, which the record does not contain.
    pub billed: Option<f64>,
    pub columns: BTreeMap<LayoutColumn, ColumnStats>,
    /// Cost of `ledger` when old tool results are archived, relative to the cost without a cache and without archiving.
    /// Summaries are made without a model.
    pub with_archival: Option<f64>,
    /// Number of prompts that omitted something to fit into the window.
    pub cut_short: usize,
    /// Why the replay ended before the record did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    #[serde(skip)]
    pub prompts: usize,
    #[serde(skip)]
    pub predictions: Vec<RequestPredictions>,
}

impl ConversationStats {
    /// Replays a record under `flat` (which represents all stateless layouts) and `ledger`, sending each request at its
    /// recorded time.
    pub(crate) fn play(
        name: &str,
        transcript: &Transcript,
        services: PromptServices<'_>,
        turn_done: &dyn Fn(),
    ) -> Self {
        let play =
            |policies: &[PolicyName], archives| play(transcript, policies, archives, services, turn_done);
        let SessionTotals { turns, mut prompts, columns, mut cut_short, mut problem } =
            play(&[PolicyName::Flat, PolicyName::Ledger], false);
        let without = columns.get(&LayoutColumn::None).map(|none| none.cost);
        let mut with_archival = None;
        if problem.is_none() {
            let archived = play(&[PolicyName::Ledger], true);
            let cost = archived.columns.get(&LayoutColumn::Ledger).map(|ledger| ledger.cost);
            with_archival = cost.zip(without).map(|(cost, without)| share(cost, without));
            prompts += archived.prompts;
            cut_short += archived.cut_short;
            problem = archived.problem.map(|problem| format!("with archival: {problem}"));
        }
        Self {
            name: name.to_owned(),
            turns,
            skipped_lines: transcript.skipped,
            billed: billed_cost_ratio(transcript),
            columns: ColumnStats::from_totals(&columns),
            with_archival,
            cut_short,
            problem,
            prompts,
            predictions: predictions(transcript, services),
        }
    }
}

/// Plays a record under each policy. Archives old tool results after each turn if `archives`.
fn play(
    transcript: &Transcript,
    policies: &[PolicyName],
    archives: bool,
    services: PromptServices<'_>,
    turn_done: &dyn Fn(),
) -> SessionTotals {
    let prices = model_prices(services);
    let mut runners: Vec<Runner> = policies.iter().map(|policy| Runner::new(*policy, prices)).collect();
    let scenario = Scenario::new(&EMPTY_REPOSITORY, IncludedParts::Table);
    let mut totals = SessionTotals::default();
    let mut now_ms = 0;
    for turn in &transcript.turns {
        // A record may contain a backward step of the clock, which a session never sees.
        now_ms = turn.time_ms.unwrap_or(now_ms + PROMPT_PAUSE_MS).max(now_ms);
        let goes_on = totals.play_turn(&mut runners, turn_done, |runner| {
            let prompt = play_turn(runner, turn, &scenario, now_ms, services)?;
            if archives {
                let room = if prompt.cut_short { PromptFit::TooLarge } else { PromptFit::Fits };
                if let Some(plan) = runner.session.plan_archival(room, services, now_ms) {
                    runner.session.apply_archival(plan.apply(None));
                }
            }
            Ok(prompt)
        });
        if !goes_on {
            break;
        }
    }
    totals
}

fn play_turn(
    runner: &mut Runner,
    turn: &TranscriptTurn,
    scenario: &Scenario<'_>,
    now_ms: u64,
    services: PromptServices<'_>,
) -> Result<PromptStats, ReplayError> {
    let (results, request) = split_request(&turn.request);
    let session = &mut runner.session;
    if turn.past == PriorHistoryForm::Summarised {
        session.set_history([]);
    }
    if !results.is_empty() {
        let results = NewMessage::new(Role::User, results);
        session.history.add(NewMessage { kind: MessageKind::ToolResult, ..results });
        session.mark_changed();
    }
    let (policy, format) = (Some(runner.policy), Some(provider_format(services)));
    let request = PromptRequest { policy, format, now_ms, ..PromptRequest::new(request) };
    runner.play(scenario, &request, turn.answer.clone(), services)
}

/// Returns the billed cost of all input relative to the cost without a cache. Returns `None` if the record has no bill.
fn billed_cost_ratio(transcript: &Transcript) -> Option<f64> {
    let bills = || transcript.turns.iter().filter_map(|turn| turn.billed);
    let sum = |of: fn(Usage) -> u64| bills().map(|bill| of(bill) as f64).sum::<f64>();
    let (plain, written, read) =
        (sum(|bill| bill.input), sum(|bill| bill.cache_write), sum(|bill| bill.cache_read));
    let all = plain + written + read;
    (all > 0.0).then(|| (plain + CACHE_WRITE_PRICE * written + CACHE_READ_PRICE * read) / all)
}

/// Converts recorded blocks to a request for the engine. Results that come with a prompt become a message before the
/// prompt.
fn split_request(blocks: &[ContentBlock]) -> (Vec<ContentBlock>, Request) {
    let mut results = Vec::new();
    let mut text = String::new();
    let mut images = Vec::new();
    for block in blocks {
        match block {
            ContentBlock::ToolResult { .. } => results.push(block.clone()),
            ContentBlock::Image(image) => images.push(image.clone()),
            ContentBlock::Text { text: words } if !words.trim().is_empty() => {
                if !text.is_empty() {
                    text.push_str("\n\n");
                }
                text.push_str(words);
            }
            // Other blocks are calls and reasoning, which only a model writes.
            _ => {}
        }
    }
    if !text.is_empty() || !images.is_empty() {
        return (results, Request::Prompt { text, images });
    }
    if results.is_empty() {
        return (results, Request::Prompt { text: CONTINUE_REQUEST.to_owned(), images });
    }
    let results = results.into_iter().filter_map(|block| match block {
        ContentBlock::ToolResult { call_id, content, outcome } => {
            Some(ToolResult { call_id, content: TextOrList(content), outcome })
        }
        _ => None,
    });
    (Vec::new(), Request::ToolResults(results.collect()))
}

#[cfg(test)]
mod tests;
