//! Truncates texts by lines, characters or bytes, never inside a character, and reads line ranges of stored
//! outputs. The marker counts toward the limit. If it does not fit, only the beginning is kept.

use std::fmt;

use schemars::JsonSchema;

use crate::history::{ContentBlock, NewMessage, ResultPart};
use crate::settings::TruncateMode;

/// A function that truncates a string to a limit of at least 1, and returns `None` if the string already fits.
pub(super) type TruncateFn = fn(&str, usize, TruncateMode) -> Option<String>;

/// Minimum limit, in lines, at which a marker between the beginning and the end is inserted.
const MIN_LINES_FOR_MARKER: usize = 4;
/// Minimum limit, in characters or bytes, at which a marker is inserted.
const MIN_LIMIT_FOR_MARKER: usize = 200;
/// Marks removed characters or bytes. The last line of the output reports their number.
const MARKER: &str = "\n[...]\n";

/// Size of a tool output in three units.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct OutputSize {
    /// Number of lines, including an unterminated last line.
    pub lines: usize,
    /// Number of Unicode scalar values.
    pub chars: usize,
    /// Number of bytes in UTF-8.
    pub bytes: usize,
}

/// Sizes before and after a truncation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TruncationSizes {
    /// Size of the original output.
    pub before: OutputSize,
    /// Size of the truncated output, without the line that reports the truncation.
    pub after: OutputSize,
}

impl OutputSize {
    pub fn from_text(text: &str) -> Self {
        Self { lines: text.split_inclusive('\n').count(), chars: text.chars().count(), bytes: text.len() }
    }
}

impl fmt::Display for TruncationSizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { before, after } = self;
        write!(
            f,
            "[output truncated: {} of {} lines, {} of {} characters, {} of {} bytes kept]",
            after.lines, before.lines, after.chars, before.chars, after.bytes, before.bytes
        )
    }
}

pub(super) fn truncate_lines(text: &str, limit: usize, mode: TruncateMode) -> Option<String> {
    let total = text.split_inclusive('\n').count();
    if total <= limit {
        return None;
    }
    if mode == TruncateMode::Head || limit < MIN_LINES_FOR_MARKER {
        return Some(text.split_inclusive('\n').take(limit).collect());
    }
    let tail = (limit - 1) / 2;
    let head = limit - 1 - tail;
    let mut shortened: String = text.split_inclusive('\n').take(head).collect();
    shortened.push_str(&format!("[... {} lines left out ...]\n", total - head - tail));
    shortened.extend(text.split_inclusive('\n').skip(total - tail));
    Some(shortened)
}

pub(super) fn truncate_chars(text: &str, limit: usize, mode: TruncateMode) -> Option<String> {
    if text.len() <= limit {
        return None;
    }
    let total = text.chars().count();
    if total <= limit {
        return None;
    }
    let place = |at: usize| text.char_indices().nth(at).map_or(text.len(), |(place, _)| place);
    Some(match head_and_tail_sizes(limit, mode) {
        None => text[..place(limit)].to_owned(),
        Some((head, tail)) => [&text[..place(head)], MARKER, &text[place(total - tail)..]].concat(),
    })
}

pub(super) fn truncate_bytes(text: &str, limit: usize, mode: TruncateMode) -> Option<String> {
    if text.len() <= limit {
        return None;
    }
    let parts = head_and_tail_sizes(limit, mode)
        .map(|(head, tail)| (floor_char_boundary(text, head), ceil_char_boundary(text, text.len() - tail)));
    Some(match parts {
        // A marker with more characters than the removed text could exceed the limit on characters.
        Some((head, tail)) if text[head..tail].chars().count() >= MARKER.len() => {
            [&text[..head], MARKER, &text[tail..]].concat()
        }
        _ => text[..floor_char_boundary(text, limit)].to_owned(),
    })
}

/// Returns the sizes of the beginning and the end to keep; `None` if there is no room for a marker.
fn head_and_tail_sizes(limit: usize, mode: TruncateMode) -> Option<(usize, usize)> {
    let content_limit = limit
        .checked_sub(MARKER.len())
        .filter(|_| mode == TruncateMode::HeadTail && limit >= MIN_LIMIT_FOR_MARKER)?;
    Some((content_limit - content_limit / 2, content_limit / 2))
}

/// Returns the last character boundary at or before `at`.
fn floor_char_boundary(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// Returns the first character boundary at or after `at`.
fn ceil_char_boundary(text: &str, at: usize) -> usize {
    (at..text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len())
}

/// A range of lines from a tool output.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Page")]
pub struct ResultPage {
    /// Text of the lines, including line breaks.
    pub text: String,
    /// Number of the first line, starting at 1.
    pub from: usize,
    /// Number of the last line; `from - 1` if there are no lines.
    pub to: usize,
    /// Number of lines in the whole output.
    pub total: usize,
}

/// Returns up to `count` lines of the text of all tool results in a message, archived or not, starting at line `from`,
/// where the first line is 1; `None` if there are no results.
pub fn result_page(message: &NewMessage, from: usize, count: usize) -> Option<ResultPage> {
    result_text(message).map(|output| page_lines(&output, from, count))
}

/// Returns up to `count` lines of `text` starting at line `from`, where the first line is 1.
pub(super) fn page_lines(text: &str, from: usize, count: usize) -> ResultPage {
    let from = from.max(1);
    let total = text.split_inclusive('\n').count();
    let text: String = text.split_inclusive('\n').skip(from - 1).take(count).collect();
    let shown = text.split_inclusive('\n').count();
    ResultPage { text, from, to: from - 1 + shown, total }
}

/// Concatenates the text of all tool results in a message; `None` if there are no results.
pub(super) fn result_text(message: &NewMessage) -> Option<String> {
    let results = || message.content.iter().filter(|block| block.is_tool_result());
    results().next()?;
    let mut output = String::new();
    for block in results() {
        let ContentBlock::ToolResult { content, .. } = block else { continue };
        for part in content {
            let text = match part {
                ResultPart::Text { text } => text,
                ResultPart::Foreign(foreign) => foreign.text().unwrap_or_default(),
                ResultPart::Image(_) => "",
            };
            if !output.is_empty() && !output.ends_with('\n') {
                output.push('\n');
            }
            output.push_str(text);
        }
    }
    Some(output)
}
