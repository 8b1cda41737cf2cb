//! Formats a conversation as input for a summarizer: repaired as for a provider, with every call answered,
//! and with results clipped. Escapes closing tags, so that no message can end the conversation early.

use std::sync::Arc;

use strata_base::sanitize;
use strata_base::text::clip_middle;

use crate::history::{
    ContentBlock, Message, MessageKind, ProjectedMessage, ResultPart, Role, archived_stub, project,
};

use super::profile::SummaryRules;

/// Limits for tool calls and their results, in characters. 0 means no limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ClipLimits {
    /// Maximum characters of each result.
    pub result_chars: usize,
    /// Maximum characters of each call's arguments.
    pub call_chars: usize,
}

impl From<&SummaryRules> for ClipLimits {
    fn from(rules: &SummaryRules) -> Self {
        Self { result_chars: rules.result_chars, call_chars: rules.call_chars }
    }
}

/// Tag that opens the conversation in a question to a model.
pub(super) const CONVERSATION_OPEN_TAG: &str = "<conversation>";
pub(super) const CONVERSATION_CLOSE_TAG: &str = "</conversation>";

/// Formats each message for a summarizing model. Every call in the result is answered.
pub(super) fn transcript(messages: &[Arc<Message>], clipping: ClipLimits) -> Vec<String> {
    let mut projection = project(messages.iter().map(|message| &**message), &[], None);
    projection.add_reply_to_tool_results();
    projection.history.iter().map(|projected| format_message(projected, clipping)).collect()
}

/// Formats one message as recorded. Unlike [`transcript`], does not add missing results or drop unmatched ones.
pub(super) fn format_recorded_message(message: &Message, clipping: ClipLimits) -> String {
    let archived = message.body.kind == MessageKind::ToolResultArchived;
    let blocks = message.body.content.iter().map(|block| match block {
        ContentBlock::ToolResult { .. } if archived => format!("[result] {}", archived_stub(message.id)),
        block => block_text(block, clipping),
    });
    let words: Vec<String> = blocks.filter(|words| !words.trim().is_empty()).collect();
    escape_closing_tags(&words.join("\n"))
}

fn format_message(projected: &ProjectedMessage, clipping: ClipLimits) -> String {
    let speaker = match projected.role {
        Role::User => "[user]",
        Role::Assistant => "[assistant]",
    };
    let mut text = String::from(speaker);
    for block in &projected.content {
        text.push('\n');
        text.push_str(&block_text(block, clipping));
    }
    escape_closing_tags(&text)
}

/// Escapes tags in `text` that would close the conversation.
pub(super) fn escape_closing_tags(text: &str) -> String {
    sanitize::escape_closing_tags(text, &["conversation"])
}

fn block_text(block: &ContentBlock, clipping: ClipLimits) -> String {
    match block {
        ContentBlock::Text { text } => text.clone(),
        ContentBlock::Image(_) => "[picture]".to_owned(),
        ContentBlock::ToolCall { name, input, .. } => {
            format!("[calls {name}] {}", clip_if_limited(&input.to_string(), clipping.call_chars))
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
            format!("[result] {}", clip_if_limited(&parts.join("\n"), clipping.result_chars))
        }
        _ => String::new(),
    }
}

/// Returns the beginning and the end of `text` in at most `chars` characters; 0 means no limit.
fn clip_if_limited(text: &str, chars: usize) -> String {
    if chars == 0 { text.to_owned() } else { clip_middle(text, chars) }
}
