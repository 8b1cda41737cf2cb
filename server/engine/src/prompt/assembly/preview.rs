//! A finished prompt as a text to read, with a table of its parts. Lays nothing out: it shows what was laid out for a request,
//! whose dialect says it in other words.

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

/// What would be sent: the reply of `prompt.preview`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct Preview {
    /// All of it, as Markdown.
    pub text: String,
    /// What the request weighs, in tokens of the model. Beside the parts of the text it has the declared tools and what the
    /// format itself costs.
    pub tokens: usize,
    /// What stands where in the text, in its order. Every line belongs to one of them.
    pub(crate) parts: Vec<PreviewPart>,
}

/// A part of a prompt: the blocks of one message that show the same and are for the same.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub(crate) struct PreviewPart {
    /// What people call it.
    pub title: String,
    /// What it is for.
    pub part: Part,
    /// The tier it stands in.
    pub tier: Tier,
    /// What it weighs, in tokens of the model.
    pub tokens: usize,
    /// Its first line in the text, counted from 0. A line ends with a line feed.
    pub line: usize,
    /// How many lines it has; 0 when nothing of it can be written as text.
    pub lines: usize,
    /// Whether a cache breakpoint stands at its end.
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

/// What has changed since an earlier preview: a unified diff from its text to this one's, whose hunks name the part that they
/// begin in. Empty when nothing has.
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

/// The first line of the new text that a hunk shows, counted from 0; `None` for what is not the head of a hunk.
fn first_new_line(head: &str) -> Option<usize> {
    let (_, new) = head.strip_prefix("@@ -")?.split_once(" +")?;
    let (first, _) = new.split_once([',', ' '])?;
    first.parse::<usize>().ok()?.checked_sub(1)
}

/// Whether a block belongs to the part that the one before it is in. Headings come first in theirs, so what the last block
/// shows decides.
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
