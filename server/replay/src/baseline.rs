//! Other tools' layouts of the same content, for comparison. Only what a cache sees of a prompt matters, so the results
//! are spans to price, not prompts to send.

use strata_conversation::providers::Speaker;
use strata_prompt::layout::{Layout, LayoutBlock, Part, block_spans};
use strata_tokens::cost::{BreakpointLifetime, CacheMarker, RequestSpan};
use strata_tokens::models::CacheKind;

use crate::columns::LayoutColumn;

/// Number of earlier user messages at whose ends a provider with implicit caching looks for cache entries, in addition
/// to its own breakpoint (OpenAI, "Prompt caching", implicit mode).
const IMPLICIT_CACHE_LOOKBACK: usize = 20;

/// A chunk of a prompt in [`LayoutColumn::Fixed`]. The variants are in prompt order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum PromptChunk {
    /// Tools, system prompt and file list.
    Head,
    Map,
    /// Web pages, which count as messages.
    Urls,
    History,
    Files,
    Prompt,
}

impl LayoutColumn {
    /// Columns whose layouts keep no state.
    pub(crate) const BASELINES: [Self; 4] = [Self::None, Self::Automatic, Self::Flat, Self::Fixed];

    /// Returns the spans of the prompt `flat` in this column, for a provider with this `kind` of cache. The marks of
    /// `flat` are ignored. `framing` is the overhead of a content block beyond its text, in tokens.
    pub(crate) fn spans(self, flat: &Layout, kind: CacheKind, framing: usize) -> Vec<RequestSpan> {
        let messages = flat.messages.iter();
        let mut said: Vec<(Speaker, &LayoutBlock)> = messages
            .flat_map(|message| message.blocks.iter().map(|block| (message.speaker, block)))
            .collect();
        if self == Self::Fixed {
            said.sort_by_key(|(_, block)| PromptChunk::from_part(block.part));
        }
        let mut spans = block_spans(said.iter().copied(), framing);
        for span in &mut spans {
            span.mark = CacheMarker::None;
        }
        if self == Self::Automatic && matches!(kind, CacheKind::Explicit { lookback: 1, .. }) {
            for at in user_message_ends(&said).rev().take(IMPLICIT_CACHE_LOOKBACK) {
                spans[at].mark = CacheMarker::Lookup;
            }
        }
        for marked in self.breakpoint_indices(&said) {
            if let Some(span) = spans.get_mut(marked) {
                span.mark = CacheMarker::Breakpoint(BreakpointLifetime::Short);
            }
        }
        spans
    }

    /// Returns the indices of the blocks that carry a breakpoint.
    fn breakpoint_indices(self, said: &[(Speaker, &LayoutBlock)]) -> Vec<usize> {
        let last = |wanted: &dyn Fn(Speaker, Part) -> bool| {
            said.iter().rposition(|&(speaker, block)| {
                wanted(speaker, block.part) && block.content.can_carry_breakpoint()
            })
        };
        let chunk = |chunk| last(&|_, part| PromptChunk::from_part(part) == chunk);
        let marks = match self {
            Self::None | Self::Ripple | Self::Ledger => vec![],
            Self::Automatic => vec![last(&|_, _| true)],
            Self::Flat => vec![last(&|speaker, _| speaker == Speaker::System)],
            Self::Fixed => vec![chunk(PromptChunk::Head), chunk(PromptChunk::Map), chunk(PromptChunk::Files)],
        };
        marks.into_iter().flatten().collect()
    }
}

/// Returns the indices of the blocks that end the user's messages. Tool results, of which a provider would look up only
/// the last in a row, do not occur in the compared prompts.
fn user_message_ends(said: &[(Speaker, &LayoutBlock)]) -> impl DoubleEndedIterator<Item = usize> {
    let is_user = |at: usize| said.get(at).is_some_and(|(speaker, _)| *speaker == Speaker::User);
    (0..said.len()).filter(move |at| is_user(*at) && !is_user(at + 1))
}

impl PromptChunk {
    fn from_part(part: Part) -> Self {
        match part {
            Part::Tools | Part::System | Part::FileList => Self::Head,
            Part::Map => Self::Map,
            Part::Urls => Self::Urls,
            Part::History => Self::History,
            Part::Files => Self::Files,
            Part::SessionState | Part::ContextFrame | Part::Updates | Part::Prompt | Part::Structure => {
                Self::Prompt
            }
        }
    }
}

#[cfg(test)]
mod tests;
