//! Renders a finished prompt as readable text, with a table of its parts. Reads the layout of the request without
//! changing it.

use schemars::JsonSchema;
use serde::Serialize;

use crate::diff;
use crate::session::Session;
use crate::wire::{RenderedBlock, render_readable};

use super::reply::PreparedPrompt;
use super::title::Titles;
use crate::layout::{LayoutBlock, Part, Tier};

/// Number of unchanged lines around each change in a diff.
const DIFF_CONTEXT_LINES: usize = 2;

/// The next request as readable text: the reply to `prompt.preview`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct Preview {
    /// The whole prompt as Markdown.
    pub text: String,
    /// Tokens of the request, including declared tools and the format itself, which `text` does not show.
    pub tokens: usize,
    /// Parts of the text, in order. Every line belongs to exactly one part.
    pub(crate) parts: Vec<PreviewPart>,
}

/// A part of a prompt: adjacent blocks of one message with the same content and purpose.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub(crate) struct PreviewPart {
    /// Title of the part, for display.
    pub title: String,
    /// Purpose of the part's blocks.
    pub part: Part,
    /// Tier of the part's blocks.
    pub tier: Tier,
    /// Token count of the part, according to the model's tokenizer.
    pub tokens: usize,
    /// Zero-based number of the part's first line in the text. A line ends with a line feed.
    pub line: usize,
    /// Number of lines in the part; 0 if nothing in it can be shown as text.
    pub lines: usize,
    /// Whether a cache breakpoint follows the part.
    pub marked: bool,
}

pub fn preview(prepared: &PreparedPrompt, session: &Session) -> Preview {
    let readable = render_readable(&prepared.layout);
    let mut groups: Vec<Vec<&RenderedBlock<'_>>> = Vec::new();
    for passage in &readable.passages {
        let continues_part = |group: &&mut Vec<&RenderedBlock<'_>>| {
            group.last().is_some_and(|previous| is_same_part(previous, passage))
        };
        match groups.last_mut().filter(continues_part) {
            Some(group) => group.push(passage),
            None => groups.push(vec![passage]),
        }
    }
    let titles = Titles::new(session);
    let parts = groups.iter().filter_map(|group| {
        let (first, last) = (group.first()?, group.last()?);
        let LayoutBlock { part, tier, .. } = *first.block;
        // The heading block above a file has no items, so the title comes from the first block that has some.
        let first_with_items = group.iter().find(|passage| !passage.block.items.is_empty()).unwrap_or(first);
        Some(PreviewPart {
            title: titles.part_title(first.speaker, first_with_items.block),
            part,
            tier,
            tokens: group.iter().map(|passage| passage.block.tokens).sum(),
            line: first.lines.start,
            lines: last.lines.end - first.lines.start,
            marked: last.block.mark.is_some(),
        })
    });
    let parts = parts.collect();
    Preview { text: readable.text, tokens: prepared.reply.tokens.total, parts }
}

/// Returns a unified diff from the text of an earlier preview to `now`, or an empty string if nothing changed. Each
/// hunk is labeled with the part of the prompt that it changes.
pub fn changes_since(earlier: &str, current: &Preview) -> String {
    let mut changes = String::new();
    for line in diff::unified_diff(earlier, &current.text, DIFF_CONTEXT_LINES).split_inclusive('\n') {
        let part = first_new_line_of_hunk(line).and_then(|at| {
            current.parts.iter().find(|part| (part.line..part.line + part.lines).contains(&at))
        });
        match part {
            Some(part) => {
                changes.push_str(line.trim_end());
                changes.push(' ');
                changes.push_str(&part.title);
                changes.push('\n');
            }
            None => changes.push_str(line),
        }
    }
    changes
}

/// Parses the zero-based number of the first new line from a hunk header. Returns `None` if `head` is not a hunk
/// header.
fn first_new_line_of_hunk(head: &str) -> Option<usize> {
    let (_, new) = head.strip_prefix("@@ -")?.split_once(" +")?;
    let (first, _) = new.split_once([',', ' '])?;
    first.parse::<usize>().ok()?.checked_sub(1)
}

/// Whether `next` belongs to the same part as the block before it. A part begins with its heading, so comparing `next`
/// with the last block is enough.
fn is_same_part(previous: &RenderedBlock<'_>, next: &RenderedBlock<'_>) -> bool {
    let (one, other) = (previous.block, next.block);
    previous.message == next.message
        && one.mark.is_none()
        && (one.part, one.tier) == (other.part, other.tier)
        && match one.part {
            // A heading belongs to the block after it.
            Part::Files | Part::Urls => one.items.is_empty() || one.items == other.items,
            Part::Updates | Part::History => one.items == other.items,
            _ => true,
        }
}
