//! The cost and savings of archiving, given the provider's cache. In tokens of plain input.

use crate::conversation::compaction::Scales;
use crate::conversation::history::{ContentBlock, Kind, Message, MessageId, NewMessage, Role};

use super::words::OUTPUT_CHARS;

/// Approximate characters per token of a summary.
const CHARS_PER_TOKEN: usize = 4;
/// Maximum turns a session is expected to continue.
const MOST_TURNS: f64 = 50.0;

/// What the provider's cache holds of a conversation.
#[derive(Clone, Copy)]
pub(crate) enum CacheState<'a> {
    /// Nothing worth preserving: empty, expired or already broken.
    Cold,
    /// A prefix of the last prompt.
    Warm(Warm<'a>),
    /// Whatever it is, the window is full: archive.
    Forced,
}

/// A cache that is worth something.
#[derive(Clone, Copy)]
pub(crate) struct Warm<'a> {
    /// Price of reading a token from the cache.
    pub read: f64,
    /// Price of writing a token to the cache.
    pub write: f64,
    /// How many prompts are expected to come.
    pub turns: f64,
    /// Number of cached tokens at and after a message.
    pub behind: &'a dyn Fn(MessageId) -> usize,
    /// How things are weighed.
    pub scales: Scales<'a>,
}

/// Archiving while the cache is warm.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Rewrite {
    /// Tokens by which every later prompt is shorter.
    pub freed: usize,
    /// Cached tokens after the first archived result that stay in the prompt and are written again.
    pub rewritten: usize,
    /// Price of reading a token from the cache.
    pub read: f64,
    /// Price of writing a token to the cache.
    pub write: f64,
    /// How many prompts are expected to come.
    pub turns: f64,
}

impl Rewrite {
    /// Whether the savings exceed the cost: freed tokens would have been read with every future prompt; rewritten tokens would
    /// have been read once more cheaply.
    pub(crate) fn pays(&self) -> bool {
        let saved = self.freed as f64 * self.read * self.turns;
        let spent = self.rewritten as f64 * (self.write - self.read);
        saved > spent
    }
}

impl CacheState<'_> {
    /// Whether these messages may be archived now.
    pub(super) fn allows(&self, archive: &[&Message]) -> bool {
        match self {
            Self::Cold | Self::Forced => true,
            Self::Warm(warm) => warm.rewrite(archive).pays(),
        }
    }
}

impl Warm<'_> {
    /// Archiving these messages, oldest first.
    fn rewrite(&self, archive: &[&Message]) -> Rewrite {
        let weight: usize = archive.iter().map(|message| (self.scales.message)(message)).sum();
        let stubs: usize = archive.iter().map(|message| (self.scales.message)(&stub(message))).sum();
        let behind = archive.first().map_or(0, |message| (self.behind)(message.id));
        let Self { read, write, turns, .. } = *self;
        Rewrite {
            freed: weight.saturating_sub(stubs + OUTPUT_CHARS / CHARS_PER_TOKEN),
            rewritten: behind.saturating_sub(weight - stubs.min(weight)),
            read,
            write,
            turns,
        }
    }
}

/// Expected number of further prompts: as many as so far, the best guess without other knowledge.
pub(crate) fn expected_turns(so_far: usize) -> f64 {
    (so_far as f64).clamp(1.0, MOST_TURNS)
}

/// A message as it will be when archived, for counting.
fn stub(message: &Message) -> Message {
    let result = |block: &ContentBlock| match block {
        ContentBlock::ToolResult { call_id, outcome, .. } => Some(ContentBlock::ToolResult {
            call_id: call_id.clone(),
            content: Vec::new(),
            outcome: *outcome,
        }),
        _ => None,
    };
    let content = message.body.content.iter().filter_map(result).collect();
    let body = NewMessage { kind: Kind::ToolResultArchived, ..NewMessage::new(Role::User, content) };
    Message { id: message.id, body }
}
