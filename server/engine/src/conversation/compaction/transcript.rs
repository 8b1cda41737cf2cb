//! A conversation as a text for a summariser: cleaned as for a provider, every call answered, results clipped. Written so
//! that nothing inside can pass for its end.

use std::sync::Arc;

use crate::conversation::history::{
    ContentBlock, Kind, Message, ProjectedMessage, ResultPart, Role, archived_stub, project,
};
use crate::sanitize;
use crate::text::clip_middle;

/// The arguments of a tool call are shown up to so many characters.
const CALL_CHARS: usize = 1_200;

/// Opens and closes the conversation in a question.
pub(super) const OPEN: &str = "<conversation>";
pub(super) const CLOSE: &str = "</conversation>";

/// The conversation, one text for each message. Results of tools are clipped to `result_chars` characters each.
pub(super) fn transcript(messages: &[Arc<Message>], result_chars: usize) -> Vec<String> {
    let mut projection = project(messages.iter().map(|message| &**message), &[], None);
    projection.acknowledge();
    projection.history.iter().map(|projected| paragraph(projected, result_chars)).collect()
}

/// What one message says, whatever stands before and behind it.
pub(super) fn said(message: &Message, result_chars: usize) -> String {
    let archived = message.body.kind == Kind::ToolResultArchived;
    let blocks = message.body.content.iter().map(|block| match block {
        ContentBlock::ToolResult { .. } if archived => format!("[result] {}", archived_stub(message.id)),
        block => in_words(block, result_chars),
    });
    let words: Vec<String> = blocks.filter(|words| !words.trim().is_empty()).collect();
    escape_closing_tags(&words.join("\n"))
}

fn paragraph(projected: &ProjectedMessage, result_chars: usize) -> String {
    let speaker = match projected.role {
        Role::User => "[user]",
        Role::Assistant => "[assistant]",
    };
    let mut text = String::from(speaker);
    for block in &projected.content {
        text.push('\n');
        text.push_str(&in_words(block, result_chars));
    }
    escape_closing_tags(&text)
}

/// `text` without anything in it that could pass for the end of the conversation.
pub(super) fn escape_closing_tags(text: &str) -> String {
    sanitize::escape_closing_tags(text, &["conversation"])
}

fn in_words(block: &ContentBlock, result_chars: usize) -> String {
    match block {
        ContentBlock::Text { text } => text.clone(),
        ContentBlock::Image(_) => "[picture]".to_owned(),
        ContentBlock::ToolCall { name, input, .. } => {
            format!("[calls {name}] {}", clip_middle(&input.to_string(), CALL_CHARS))
        }
        ContentBlock::ToolResult { content, .. } => {
            let parts: Vec<&str> = content
                .iter()
                .map(|part| match part {
                    ResultPart::Text { text } => text.as_str(),
                    ResultPart::Image(_) => "[picture]",
                    ResultPart::Foreign(foreign) => foreign.text().unwrap_or_default(),
                })
                .collect();
            format!("[result] {}", clip_middle(&parts.join("\n"), result_chars))
        }
        _ => String::new(),
    }
}
