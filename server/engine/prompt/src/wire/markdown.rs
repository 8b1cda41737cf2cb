//! Writes a prompt as one text for reading and pasting: a heading per message and its texts unchanged, and in previews
//! also cache breakpoints as comments. A text is fenced if it could be mistaken for this structure, or if it would change the
//! rendering of later text, as an open fence or raw HTML would. Texts are never escaped or rewrapped.

use std::fmt::Write as _;
use std::ops::Range;

use strata_conversation::history::{ContentBlock, Image, ImageSource, ResultPart, ToolOutcome};
use strata_conversation::providers::{Speaker, order_results_first};
use strata_tokens::models::Ttl;

use super::body::{Body, RenderedBody};
use crate::layout::{Layout, LayoutBlock, Part, fence_for};

/// An open code fence: its character and length (CommonMark 4.5).
#[derive(Clone, Copy)]
struct Fence {
    mark: char,
    length: usize,
}

/// A layout as one text, with the position of each block.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct ReadableLayout<'a> {
    /// The rendered text. It is empty or consists of complete lines.
    pub text: String,
    /// Blocks in the order of the text. Together they cover all of its lines.
    pub passages: Vec<RenderedBlock<'a>>,
}

/// The position of a block in a text.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct RenderedBlock<'a> {
    /// Zero-based index of the message that the block belongs to.
    pub message: usize,
    pub speaker: Speaker,
    pub block: &'a LayoutBlock,
    /// Zero-based line range of the block. A line ends with `\n`. The heading of a message belongs to its first block,
    /// and a blank line belongs to the block before it. The range is empty if the block cannot be written as text.
    pub lines: Range<usize>,
}

/// Writes a layout as readable text, with cache breakpoints as comments.
pub(crate) fn render_readable(layout: &Layout) -> ReadableLayout<'_> {
    write_layout(layout, true)
}

fn write_layout(layout: &Layout, shows_breakpoints: bool) -> ReadableLayout<'_> {
    let mut text = String::new();
    let mut passages: Vec<RenderedBlock<'_>> = Vec::new();
    let (mut written, mut line) = (0, 0);
    for (message, layout_message) in layout.messages.iter().enumerate() {
        let speaker = layout_message.speaker;
        write_heading(&mut text, message + 1, speaker);
        for block in order_results_first(&layout_message.blocks, |block| &block.content) {
            write_block(&mut text, block, shows_breakpoints);
            let end = line + line_break_count(text.get(written..).unwrap_or_default());
            passages.push(RenderedBlock { message, speaker, block, lines: line..end });
            (written, line) = (text.len(), end);
        }
    }
    // Blank lines only separate blocks, so the blank line after the last block is removed.
    if text.ends_with("\n\n") {
        text.pop();
        if let Some(last) = passages.iter_mut().rfind(|passage| !passage.lines.is_empty()) {
            last.lines.end -= 1;
        }
        let end = line.saturating_sub(1);
        for passage in passages.iter_mut().rev().take_while(|passage| passage.lines.start > end) {
            passage.lines = end..end;
        }
    }
    ReadableLayout { text, passages }
}

pub(super) fn render_markdown(layout: &Layout) -> RenderedBody {
    let text = write_layout(&with_question_last(layout), false).text;
    RenderedBody { body: Body::Text(text), messages: layout.messages.len() }
}

/// Returns the layout with the question after everything else in its message, since whoever pastes a text expects its
/// question at the end.
fn with_question_last(layout: &Layout) -> Layout {
    let mut layout = layout.clone();
    if let Some(message) = layout.messages.last_mut() {
        message.blocks.sort_by_key(|block| block.part == Part::Prompt);
    }
    layout
}

fn line_break_count(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

fn write_heading(out: &mut String, number: usize, speaker: Speaker) {
    let name = match speaker {
        Speaker::System => "System",
        Speaker::User => "User",
        Speaker::Assistant => "Assistant",
    };
    write_paragraph(out, &format!("# [{number}] {name}"));
}

fn write_block(out: &mut String, block: &LayoutBlock, shows_breakpoints: bool) {
    match &block.content {
        ContentBlock::Text { text } => write_text(out, text),
        ContentBlock::Image(image) => write_paragraph(out, &describe_image(image)),
        ContentBlock::Foreign(foreign) => {
            if let Some(text) = foreign.text() {
                write_text(out, text);
            }
        }
        ContentBlock::Thinking { .. } | ContentBlock::RedactedThinking { .. } => {
            write_paragraph(out, "<!-- reasoning left out -->");
        }
        ContentBlock::ToolCall { id, name, input } => {
            write_paragraph(out, &format!("Tool call {} ({}):", inline_code(name), inline_code(id)));
            write_fenced(out, "json", &input.to_string());
        }
        ContentBlock::ToolResult { call_id, content, outcome } => {
            let title = match outcome {
                ToolOutcome::Ok => "Tool result",
                ToolOutcome::Error => "Tool error",
            };
            write_paragraph(out, &format!("{title} ({}):", inline_code(call_id)));
            for part in content {
                if let ResultPart::Image(image) = part {
                    write_paragraph(out, &describe_image(image));
                } else if let Some(text) = part.text() {
                    write_fenced(out, "", text);
                }
            }
        }
    }
    if let Some(ttl) = block.mark.filter(|_| shows_breakpoints) {
        let time = match ttl {
            Ttl::FiveMinutes => "5m",
            Ttl::OneHour => "1h",
        };
        write_paragraph(out, &format!("<!-- cache breakpoint: {}, {time} -->", block.tier));
    }
}

/// Writes a text unchanged, or inside a fence if it could be mistaken for the structure of the prompt.
fn write_text(out: &mut String, text: &str) {
    if is_self_contained(text) { write_paragraph(out, text) } else { write_fenced(out, "", text) }
}

fn write_paragraph(out: &mut String, text: &str) {
    out.push_str(text);
    out.push_str(if text.ends_with('\n') { "\n" } else { "\n\n" });
}

/// Writes a code block inside a fence that the text cannot close.
fn write_fenced(out: &mut String, info: &str, text: &str) {
    let fence = fence_for(text);
    let end = if text.ends_with('\n') { "" } else { "\n" };
    // Writing to a string cannot fail.
    let _ = write!(out, "{fence}{info}\n{text}{end}{fence}\n\n");
}

/// Formats a name in backticks. Removes backticks and control characters, which no provider uses in names.
fn inline_code(name: &str) -> String {
    let plain: String = name.chars().filter(|c| *c != '`' && !c.is_control()).collect();
    format!("`{plain}`")
}

fn describe_image(image: &Image) -> String {
    let kind = match &image.source {
        ImageSource::Base64 { media_type, .. } => inline_code(media_type),
        ImageSource::Url { url } => inline_code(url),
    };
    match (image.width, image.height) {
        (Some(width), Some(height)) => format!("Picture: {kind}, {width} x {height}"),
        _ => format!("Picture: {kind}"),
    }
}

/// Whether a text, read as Markdown, closes all of its fences and contains nothing that could be mistaken for the
/// prompt's structure or change the rendering of later text.
fn is_self_contained(text: &str) -> bool {
    let mut open: Option<Fence> = None;
    // CommonMark also ends lines at a lone carriage return.
    for line in text.split(['\n', '\r']) {
        match open {
            Some(fence) if closes_fence(line, fence) => open = None,
            Some(_) => {}
            None if may_be_markdown_structure(line) => return false,
            None => open = opening_fence(line),
        }
    }
    open.is_none()
}

/// Returns the fence that a line opens: at least three backticks or tildes. After the backticks of a fence, the line
/// cannot contain another backtick.
fn opening_fence(line: &str) -> Option<Fence> {
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let rest = line.trim_start_matches(mark);
    let length = line.len() - rest.len();
    (length >= 3 && !(mark == '`' && rest.contains('`'))).then_some(Fence { mark, length })
}

fn closes_fence(line: &str, fence: Fence) -> bool {
    let line = strip_block_indent(line);
    let rest = line.trim_start_matches(fence.mark);
    line.len() - rest.len() >= fence.length && rest.trim_matches([' ', '\t']).is_empty()
}

/// Whether a line outside of fences could be something other than plain text: a top-level heading that starts with
/// neither a letter nor a digit, as the heading of a message does (`# [1] User`); the underline of a top-level heading;
/// raw HTML; or a fence that may or may not belong to a list. Enclosing quotes and lists make no difference.
fn may_be_markdown_structure(line: &str) -> bool {
    let unindented = strip_block_indent(line);
    if unindented.len() < line.len() && opening_fence(unindented).is_some() {
        return true;
    }
    let is_container_marker = |c: char| c.is_whitespace() || c.is_ascii_digit() || ">-*+.)".contains(c);
    let inner = line.trim_start_matches(is_container_marker);
    let heading = inner.strip_prefix('#').filter(|rest| !rest.starts_with('#'));
    let underline = inner.trim_end();
    heading.is_some_and(|rest| !rest.trim_start().starts_with(char::is_alphanumeric))
        || (!underline.is_empty() && underline.chars().all(|c| c == '='))
        || inner
            .strip_prefix('<')
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_alphabetic() || "/!?".contains(c)))
}

/// Removes up to three leading spaces, which have no meaning at the start of a block.
fn strip_block_indent(line: &str) -> &str {
    let spaces = line.bytes().take(3).take_while(|byte| *byte == b' ').count();
    line.get(spaces..).unwrap_or(line)
}
