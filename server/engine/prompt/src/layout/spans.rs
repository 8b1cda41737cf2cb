//! Converts a layout to the spans that the cache model (`tokens::cost`) reads. Each block becomes one span with the
//! hash of its bytes.

use strata_base::hash::ContentHash;
use strata_conversation::providers::Speaker;
use strata_tokens::cost::{BreakpointLifetime, CacheMarker, RequestSpan};
use strata_tokens::models::Ttl;

use super::blocks::{Layout, LayoutBlock};

/// Returns the span of a block of `speaker`. Leaves `continues_run` unset, because it depends on the block before.
/// `framing` is the overhead of a content block beyond its text, in tokens.
fn block_span(speaker: Speaker, block: &LayoutBlock, framing: usize) -> RequestSpan {
    let speaker: &[u8] = match speaker {
        Speaker::System => b"s",
        Speaker::User => b"u",
        Speaker::Assistant => b"a",
    };
    // Serializing a block to memory cannot fail, because all of its keys are strings.
    let content = serde_json::to_vec(&block.content).unwrap_or_default();
    RequestSpan {
        hash: ContentHash::from_parts([speaker, &content]),
        tokens: block.tokens.saturating_add(framing),
        mark: match block.mark {
            None => CacheMarker::None,
            Some(Ttl::FiveMinutes) => CacheMarker::Breakpoint(BreakpointLifetime::Short),
            Some(Ttl::OneHour) => CacheMarker::Breakpoint(BreakpointLifetime::Extended),
        },
        continues_run: false,
    }
}

/// Returns the spans of a whole prompt. `framing` is the overhead of a content block beyond its text, in tokens.
pub(crate) fn spans(layout: &Layout, framing: usize) -> Vec<RequestSpan> {
    let messages = layout.messages.iter();
    block_spans(
        messages.flat_map(|message| message.blocks.iter().map(|block| (message.speaker, block))),
        framing,
    )
}

/// Returns the spans of the given blocks in order. `framing` is the overhead of a content block beyond its text, in
/// tokens.
pub fn block_spans<'a>(
    blocks: impl IntoIterator<Item = (Speaker, &'a LayoutBlock)>,
    framing: usize,
) -> Vec<RequestSpan> {
    let mut previous: Option<&LayoutBlock> = None;
    let spans = blocks.into_iter().map(|(speaker, block)| {
        let continues_run =
            previous.is_some_and(|previous| block.content.is_same_tool_kind_as(&previous.content));
        previous = Some(block);
        RequestSpan { continues_run, ..block_span(speaker, block, framing) }
    });
    spans.collect()
}

#[cfg(test)]
mod tests {
    use strata_conversation::history::ContentBlock;

    use super::*;
    use crate::layout::{Part, Tier};

    fn block(text: &str, mark: Option<Ttl>) -> LayoutBlock {
        let content = ContentBlock::text(text);
        LayoutBlock { content, part: Part::History, items: vec![], tier: Tier::Active, tokens: 7, mark }
    }

    #[test]
    fn a_span_hash_depends_only_on_speaker_and_content() {
        let mut layout = Layout::default();
        layout.push(Speaker::User, block("yes", None));
        layout.push(Speaker::User, block("yes", Some(Ttl::OneHour)));
        layout.push(Speaker::Assistant, block("yes", None));
        layout.push(Speaker::User, block("no", None));
        let spans = spans(&layout, 3);
        assert_eq!(spans[0].hash, spans[1].hash);
        assert_ne!(spans[0].hash, spans[2].hash);
        assert_ne!(spans[0].hash, spans[3].hash);
        assert_eq!(spans.iter().map(|span| span.tokens).collect::<Vec<_>>(), [10, 10, 10, 10]);
        let marks = spans.iter().map(|span| span.mark).collect::<Vec<_>>();
        assert_eq!(
            marks,
            [
                CacheMarker::None,
                CacheMarker::Breakpoint(BreakpointLifetime::Extended),
                CacheMarker::None,
                CacheMarker::None
            ]
        );
    }
}
