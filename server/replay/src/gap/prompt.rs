//! A prompt as a provider bills it, with the data for comparing it with the previous prompt.

use std::collections::BTreeSet;

use strata_base::hash::ContentHash;
use strata_base::key::FileKey;
use strata_conversation::selection::{Choice, Selection};
use strata_prompt::assembly::PreparedPrompt;
use strata_prompt::layout::{ItemKey, Part};
use strata_tokens::cost::Charge;

use super::cause::GapCause;

/// A prompt and its charge.
#[derive(Clone, Debug)]
pub(crate) struct ChargedPrompt {
    pub(super) blocks: Vec<SentBlock>,
    pub(super) charge: Charge,
    pub(super) at_ms: u64,
    pub(super) selected: BTreeSet<FileKey>,
    /// The files in the map.
    pub(super) members: BTreeSet<FileKey>,
    /// Whether the layout was rebuilt because the window was full.
    pub(super) rebuilt: bool,
}

#[derive(Clone, Debug)]
pub(super) struct SentBlock {
    pub(super) part: Part,
    pub(super) items: Vec<ItemKey>,
    pub(super) tokens: usize,
    pub(super) text: ContentHash,
    pub(super) marked: bool,
}

/// Identity of a part of a block, independent of its version and position.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum PartId {
    /// A file, an outline or a web page.
    Item(ItemKey),
    /// Any other part, identified by its text.
    Text(ContentHash),
}

impl ChargedPrompt {
    pub(crate) fn new(prepared: &PreparedPrompt, charge: Charge, selection: &Selection) -> Self {
        let spans = prepared.sent.spans.iter();
        let blocks = prepared.layout.blocks().zip(spans).map(|(block, span)| SentBlock {
            part: block.part,
            items: block.items.clone(),
            tokens: span.tokens,
            text: span.hash,
            marked: span.mark.breakpoint().is_some(),
        });
        let selected = selection.selected.keys().filter(|key| selection.choice(key) == Choice::Selected);
        Self {
            blocks: blocks.collect(),
            charge,
            at_ms: prepared.sent.at_ms,
            selected: selected.cloned().collect(),
            members: prepared.members.iter().map(|member| member.path.clone()).collect(),
            rebuilt: prepared.rebuilt,
        }
    }

    /// Returns the number of tokens up to and including each block with a breakpoint.
    pub(super) fn breakpoint_ends(&self) -> impl Iterator<Item = usize> {
        let mut end = 0;
        let ends = self.blocks.iter().map(move |block| {
            end += block.tokens;
            (block.marked, end)
        });
        ends.filter_map(|(marked, end)| marked.then_some(end))
    }

    /// Returns the number of tokens up to the second-to-last breakpoint, or 0 if there is none.
    pub(super) fn penultimate_breakpoint(&self) -> usize {
        let ends: Vec<usize> = self.breakpoint_ends().collect();
        ends.iter().rev().nth(1).copied().unwrap_or(0)
    }

    /// Returns the offset in tokens of the first block that could not stay in the `next` prompt, and the reason.
    pub(super) fn first_break(&self, next: &Self) -> (usize, GapCause) {
        let texts: BTreeSet<ContentHash> = next.blocks.iter().map(|block| block.text).collect();
        let shown: BTreeSet<&ItemKey> = next.blocks.iter().flat_map(|block| &block.items).collect();
        let mut start = 0;
        for block in &self.blocks {
            let gone = match block.part {
                _ if block.is_volatile() => None,
                Part::System | Part::History | Part::Prompt => {
                    (!texts.contains(&block.text)).then_some(GapCause::Conversation)
                }
                _ => block.items.iter().find_map(|item| match item {
                    _ if shown.contains(item) => None,
                    ItemKey::File(path) | ItemKey::Lines(path, _) if next.selected.contains(path) => {
                        Some(GapCause::Shed)
                    }
                    ItemKey::Symbol(path) if next.selected.contains(path) => None,
                    ItemKey::Symbol(path) if next.members.contains(path) => Some(GapCause::Shed),
                    _ => Some(GapCause::Deselected),
                }),
            };
            if let Some(cause) = gone {
                return (start, cause);
            }
            start += block.tokens;
        }
        (start, GapCause::NoBreakpoint)
    }
}

impl SentBlock {
    /// Returns the names of the block's parts.
    pub(super) fn part_ids(&self) -> impl Iterator<Item = PartId> {
        let items =
            if matches!(self.part, Part::Files | Part::Map | Part::Urls) { &self.items[..] } else { &[] };
        let text = items.is_empty().then_some(PartId::Text(self.text));
        items.iter().cloned().map(PartId::Item).chain(text)
    }

    /// Whether the block follows the request and is never cached.
    pub(super) fn is_volatile(&self) -> bool {
        matches!(self.part, Part::SessionState | Part::ContextFrame)
            || (self.part == Part::Updates && self.items.is_empty())
    }
}
