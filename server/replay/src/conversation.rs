//! A recorded conversation played through the real engine, without files: every prompt is what was said so far and one
//! more message. Shows what layouts cost where there is nothing to lay out. Knows nothing of where a record comes from.

use std::collections::BTreeMap;

use strata_engine::conversation::history::{ContentBlock, Kind, NewMessage, Role};
use strata_engine::prompt::assembly::{PromptRequest, PromptServices, Request, ToolResult};
use strata_engine::prompt::tiers::PolicyName;
use strata_engine::tokens::cost::{Prices, Usage};

use crate::runner::{CutShort, ReplayError, Runner, format_of};
use crate::scenario::{Content, Scenario};
use crate::totals::{Column, Totals};
use strata_engine::conversation::trace::{SelectionRule, Trace};
use strata_engine::conversation::transcript::{Past, Transcript, Turn};

/// Time to the next prompt where the record has none, in milliseconds: entries that live five minutes survive it.
const PAUSE_MS: u64 = 60_000;

/// Stands for a request without a word: the model was asked once more for what it had been asked.
const ASKED_AGAIN: &str = "Go on.";

/// What Anthropic charges for a token that is written to a cache of five minutes, and for one that is read, in
/// multiples of plain input ("Prompt caching", "Pricing").
const BILLED_WRITE: f64 = 1.25;
const BILLED_READ: f64 = 0.1;

/// A repository without files.
static NOTHING: Trace = Trace {
    name: String::new(),
    files0: BTreeMap::new(),
    recency: BTreeMap::new(),
    sel: SelectionRule::Grow,
    turns: Vec::new(),
};

/// One conversation on its way, under `flat` (which stands for all layouts that keep no memory) and `ledger`.
pub(crate) struct ConversationReplay<'a> {
    turns: &'a [Turn],
    scenario: Scenario<'static>,
    runners: [Runner; 2],
    totals: BTreeMap<Column, Totals>,
    next: usize,
    now_ms: u64,
    cut_short: usize,
}

impl<'a> ConversationReplay<'a> {
    /// A record before its first request.
    pub(crate) fn new(transcript: &'a Transcript, means: PromptServices<'_>) -> Self {
        let settings = means.settings;
        let prices = Prices::of(&means.models.resolve(&settings.model).model, settings.cache.ttl);
        Self {
            turns: &transcript.turns,
            scenario: Scenario::new(&NOTHING, Content::Table),
            runners: [PolicyName::Flat, PolicyName::Ledger].map(|policy| Runner::new(policy, prices)),
            totals: BTreeMap::new(),
            next: 0,
            now_ms: 0,
            cut_short: 0,
        }
    }

    /// Plays the next request under both policies at the time that the record gives it; `false` when there is none.
    /// `clock` says how late it is, in nanoseconds.
    ///
    /// # Errors
    /// [`ReplayError`].
    pub(crate) fn step(
        &mut self,
        means: PromptServices<'_>,
        clock: &dyn Fn() -> u64,
    ) -> Result<bool, ReplayError> {
        let Some(turn) = self.turns.get(self.next) else { return Ok(false) };
        // A record may hold a step back of its clock; a session never sees one.
        self.now_ms = turn.time_ms.unwrap_or(self.now_ms + PAUSE_MS).max(self.now_ms);
        let (results, request) = said(&turn.request);
        for runner in &mut self.runners {
            let session = runner.session_mut();
            if turn.past == Past::Summarised {
                session.set_history([]);
            }
            if !results.is_empty() {
                let results = NewMessage::new(Role::User, results.clone());
                session.history.add(NewMessage { kind: Kind::ToolResult, ..results });
                session.touch();
            }
            let (policy, format) = (Some(runner.policy()), Some(format_of(means)));
            let ask =
                PromptRequest { policy, format, now_ms: self.now_ms, ..PromptRequest::new(request.clone()) };
            let play = runner.play_ask(&self.scenario, &ask, turn.answer.clone(), means, clock)?;
            for (column, charge) in play.charges {
                self.totals.entry(column).or_default().add(charge, play.nanos);
            }
            self.cut_short += usize::from(play.cut_short == CutShort::Yes);
        }
        self.next += 1;
        Ok(true)
    }

    /// What each column came to so far.
    pub(crate) fn totals(&self) -> &BTreeMap<Column, Totals> {
        &self.totals
    }

    /// Prompts that had to leave something out to fit the window.
    pub(crate) fn cut_short(&self) -> usize {
        self.cut_short
    }
}

/// What was billed for the input of all these requests, as a share of what it would have cost without a cache; `None`
/// when the record has no bill.
pub(crate) fn billed_share(transcript: &Transcript) -> Option<f64> {
    let bills = || transcript.turns.iter().filter_map(|turn| turn.billed);
    let sum = |of: fn(Usage) -> u64| bills().map(|bill| of(bill) as f64).sum::<f64>();
    let (plain, written, read) =
        (sum(|bill| bill.input), sum(|bill| bill.cache_write), sum(|bill| bill.cache_read));
    let all = plain + written + read;
    (all > 0.0).then(|| (plain + BILLED_WRITE * written + BILLED_READ * read) / all)
}

/// A request as the engine takes it. Results that come with a prompt are told first, as a message of their own.
fn said(blocks: &[ContentBlock]) -> (Vec<ContentBlock>, Request) {
    let mut results = Vec::new();
    let mut text = String::new();
    let mut images = Vec::new();
    for block in blocks {
        match block {
            ContentBlock::ToolResult { .. } => results.push(block.clone()),
            ContentBlock::Image(image) => images.push(image.clone()),
            ContentBlock::Text { text: said } if !said.trim().is_empty() => {
                if !text.is_empty() {
                    text.push_str("\n\n");
                }
                text.push_str(said);
            }
            // Nobody but a model calls or reasons.
            _ => {}
        }
    }
    if !text.is_empty() || !images.is_empty() {
        return (results, Request::Prompt { text, images });
    }
    if results.is_empty() {
        return (results, Request::Prompt { text: ASKED_AGAIN.to_owned(), images });
    }
    let results = results.into_iter().filter_map(|block| match block {
        ContentBlock::ToolResult { call_id, content, outcome } => {
            Some(ToolResult { call_id, content, outcome })
        }
        _ => None,
    });
    (Vec::new(), Request::ToolResults(results.collect()))
}

#[cfg(test)]
mod tests;
