//! Compares the savings of archiving with the cost of rewriting the provider's cache, in tokens of plain
//! input.

use crate::compaction::TokenCounters;
use crate::history::{ContentBlock, Message, MessageId, MessageKind, NewMessage, Role};

use super::words::MAX_MODEL_SUMMARY_CHARS;

/// Approximate number of characters per token in a summary.
const CHARS_PER_TOKEN: usize = 4;
/// Upper limit for the estimated number of further turns.
const MAX_EXPECTED_TURNS: f64 = 50.0;
/// Prompts so far for each prompt that is expected before the next archival, and the upper limit of that expectation.
/// Measured with `strata replay --transcripts`; see `docs/compaction.md`, "Tool results, ageing".
const PAST_PROMPTS_PER_EXPECTED_PROMPT: f64 = 4.0;
const MAX_EXPECTED_PROMPTS: f64 = 8.0;

/// State of the provider's cache for a conversation.
#[derive(Clone, Copy)]
pub enum CacheState<'a> {
    /// The cache is empty, expired or already invalidated.
    Cold,
    /// A prefix of the last prompt is cached.
    Warm(WarmCache<'a>),
    /// The window is full, so results are archived regardless of the cache.
    Forced,
}

/// Cached tokens and prices, which determine whether archiving saves money.
#[derive(Clone, Copy)]
pub struct WarmCache<'a> {
    /// Price of a token read from the cache, relative to plain input.
    pub read: f64,
    /// Price of a token written to the cache, relative to plain input.
    pub write: f64,
    /// Expected number of prompts until the next archival.
    pub turns: f64,
    /// Returns the number of cached tokens from the start of a message to the end of the cached prefix.
    pub behind: &'a dyn Fn(MessageId) -> usize,
    pub counters: TokenCounters<'a>,
}

/// Cost and savings of archiving while the cache is warm.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct ArchivalCost {
    /// Number of tokens saved in every prompt until the next archival.
    pub freed: usize,
    /// Number of cached tokens after the first archived result that stay in the prompt and must be written
    /// again.
    pub rewritten: usize,
    /// Price of a token read from the cache, relative to plain input.
    pub read: f64,
    /// Price of a token written to the cache, relative to plain input.
    pub write: f64,
    /// Expected number of prompts until the next archival.
    pub turns: f64,
}

impl ArchivalCost {
    /// Whether the savings exceed the cost. Every prompt until the next archival would have read the freed tokens
    /// from the cache. The rewritten tokens are written once instead of being read.
    pub(crate) fn is_worthwhile(&self) -> bool {
        let saved = self.freed as f64 * self.read * self.turns;
        let spent = self.rewritten as f64 * (self.write - self.read);
        saved > spent
    }
}

impl CacheState<'_> {
    /// Whether archiving these messages now is worth the cost.
    pub(super) fn is_archival_worthwhile(&self, archive: &[&Message]) -> bool {
        match self {
            Self::Cold | Self::Forced => true,
            Self::Warm(warm) => warm.archival_cost(archive).is_worthwhile(),
        }
    }
}

impl WarmCache<'_> {
    /// Computes the effect of archiving the messages in `archive`, which are sorted oldest first.
    fn archival_cost(&self, archive: &[&Message]) -> ArchivalCost {
        let archived_tokens: usize = archive.iter().map(|message| (self.counters.message)(message)).sum();
        let stubs: usize =
            archive.iter().map(|message| (self.counters.message)(&archived_form(message))).sum();
        let tokens_after = archive.first().map_or(0, |message| (self.behind)(message.id));
        let Self { read, write, turns, .. } = *self;
        ArchivalCost {
            freed: archived_tokens.saturating_sub(stubs + MAX_MODEL_SUMMARY_CHARS / CHARS_PER_TOKEN),
            rewritten: tokens_after.saturating_sub(archived_tokens - stubs.min(archived_tokens)),
            read,
            write,
            turns,
        }
    }
}

/// Returns the expected number of further prompts: as many as so far, within limits.
pub fn expected_turns(so_far: usize) -> f64 {
    (so_far as f64).clamp(1.0, MAX_EXPECTED_TURNS)
}

/// Returns the expected number of prompts until the next archival, given the number of prompts so far. Savings after
/// that do not count, because the next archival could free the same results.
pub fn turns_until_next_archival(so_far: usize) -> f64 {
    (so_far as f64 / PAST_PROMPTS_PER_EXPECTED_PROMPT).clamp(1.0, MAX_EXPECTED_PROMPTS)
}

/// Returns a message in its archived form, for counting.
fn archived_form(message: &Message) -> Message {
    let result = |block: &ContentBlock| match block {
        ContentBlock::ToolResult { call_id, outcome, .. } => Some(ContentBlock::ToolResult {
            call_id: call_id.clone(),
            content: Vec::new(),
            outcome: *outcome,
        }),
        _ => None,
    };
    let content = message.body.content.iter().filter_map(result).collect();
    let body = NewMessage { kind: MessageKind::ToolResultArchived, ..NewMessage::new(Role::User, content) };
    Message { id: message.id, body }
}
