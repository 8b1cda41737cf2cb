//! A finished prompt as readable text, with a table of its parts. Lays nothing out: shows the layout of a request.

use schemars::JsonSchema;
use serde::Serialize;

use crate::prompt::diff;
use crate::prompt::session::Session;
use crate::prompt::wire::{Passage, readable};

use super::prepared::PreparedPrompt;
use super::title::Titles;
use crate::prompt::layout::{LayoutBlock, Part, Tier};

/// Unchanged lines around each change.
const CONTEXT: usize = 2;

/// The next request: the reply of `prompt.preview`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct Preview {
    /// All of it, as Markdown.
    pub text: String,
    /// Tokens of the request. Includes declared tools and the format itself, in addition to the text.
    pub tokens: usize,
    /// The parts of the text, in order. Every line belongs to one.
    pub(crate) parts: Vec<PreviewPart>,
}

/// A part of a prompt: the blocks of one message that show the same and are for the same.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub(crate) struct PreviewPart {
    /// Its title.
    pub title: String,
    /// Its kind of content.
    pub part: Part,
    /// Its tier.
    pub tier: Tier,
    /// Its tokens, for the model.
    pub tokens: usize,
    /// Its first line in the text, counted from 0. A line ends with a line feed.
    pub line: usize,
    /// How many lines it has; 0 when nothing of it can be written as text.
    pub lines: usize,
    /// Whether it ends with a cache breakpoint.
    pub marked: bool,
}

/// Shows a prompt of `session` to people.
pub fn preview(prepared: &PreparedPrompt, session: &Session) -> Preview {
    let readable = readable(&prepared.layout);
    let mut groups: Vec<Vec<&Passage<'_>>> = Vec::new();
    for passage in &readable.passages {
        let goes_on =
            |group: &&mut Vec<&Passage<'_>>| group.last().is_some_and(|before| go_together(before, passage));
        match groups.last_mut().filter(goes_on) {
            Some(group) => group.push(passage),
            None => groups.push(vec![passage]),
        }
    }
    let titles = Titles::of(session);
    let parts = groups.iter().filter_map(|group| {
        let (first, last) = (group.first()?, group.last()?);
        let LayoutBlock { part, tier, .. } = *first.block;
        // The heading over a file shows nothing itself.
        let shows = group.iter().find(|passage| !passage.block.items.is_empty()).unwrap_or(first);
        Some(PreviewPart {
            title: titles.part(first.speaker, shows.block),
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

/// A unified diff from an earlier preview to this one, with hunks labeled by their part. Empty without changes.
pub fn changes_since(earlier: &str, now: &Preview) -> String {
    let mut changes = String::new();
    for line in diff::unified(earlier, &now.text, CONTEXT).split_inclusive('\n') {
        let title = first_new_line(line)
            .and_then(|at| now.parts.iter().find(|part| (part.line..part.line + part.lines).contains(&at)));
        match title {
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

/// The first new line of a hunk, from 0; `None` if this is not a hunk header.
fn first_new_line(head: &str) -> Option<usize> {
    let (_, new) = head.strip_prefix("@@ -")?.split_once(" +")?;
    let (first, _) = new.split_once([',', ' '])?;
    first.parse::<usize>().ok()?.checked_sub(1)
}

/// Whether a block belongs to the same part as the one before it. Headings come first, so the last block decides.
fn go_together(before: &Passage<'_>, next: &Passage<'_>) -> bool {
    let (one, other) = (before.block, next.block);
    before.message == next.message
        && one.mark.is_none()
        && (one.part, one.tier) == (other.part, other.tier)
        && match one.part {
            // A heading goes with what stands under it.
            Part::Files | Part::Urls => one.items.is_empty() || one.items == other.items,
            Part::Updates | Part::History => one.items == other.items,
            _ => true,
        }
}
