//! Repairs individual messages, independently of their neighbors.

use serde_json::{Value, json};

use super::utterance::{ARGUMENTS_LEFT_OUT, FAILED_SILENTLY, PICTURE_LEFT_OUT, Utterance};
use crate::history::{
    ContentBlock, ForeignPosition, ForeignProvider, Message, MessageId, MessageKind, ResultPart, Role,
    ToolOutcome, Visibility,
};

/// Maximum characters of a tool name that every provider accepts.
const MAX_TOOL_NAME_CHARS: usize = 64;
/// Maximum characters of a string that OpenAI accepts, including a call's arguments ("string too long.
/// Expected a string with maximum length 1048576").
pub(crate) const MAX_OPENAI_STRING_CHARS: usize = 1_048_576;

/// Converts a message to the form that the model sees, with stubs for archived results. `None` if the message
/// is hidden.
pub(super) fn clean_message(message: &Message, recipient: Option<ForeignProvider>) -> Option<Utterance> {
    let role = message.body.role;
    let content = match (message.body.kind, message.body.agent) {
        (MessageKind::ToolResultArchived, _) => {
            let stubs: Vec<_> = message
                .body
                .content
                .iter()
                .filter_map(|block| archived_result_stub(block, message.id))
                .collect();
            clean_blocks(&stubs, role, recipient)
        }
        (_, Visibility::Hidden) => return None,
        (_, Visibility::Shown) => clean_blocks(&message.body.content, role, recipient),
    };
    (!content.is_empty()).then_some(Utterance { id: Some(message.id), role, content })
}

/// Returns the text of the stub for each archived result of a message. The stub names the message id for
/// `toolOutput.read`.
pub fn archived_stub(message: MessageId) -> String {
    format!("[archived; see summary; toolOutput.read {}]", message.0)
}

/// Converts blocks to an acceptable form, and drops those that `role` cannot send.
pub(super) fn clean_blocks(
    content: &[ContentBlock],
    role: Role,
    recipient: Option<ForeignProvider>,
) -> Vec<ContentBlock> {
    content.iter().filter_map(|block| clean_block(block, role, recipient)).collect()
}

/// Returns the stub of an archived result, under the id of its call.
fn archived_result_stub(block: &ContentBlock, message: MessageId) -> Option<ContentBlock> {
    let ContentBlock::ToolResult { call_id, outcome, .. } = block else { return None };
    let content = vec![ResultPart::Text { text: archived_stub(message) }];
    Some(ContentBlock::ToolResult { call_id: call_id.clone(), content, outcome: *outcome })
}

fn clean_block(block: &ContentBlock, role: Role, recipient: Option<ForeignProvider>) -> Option<ContentBlock> {
    match (block, role) {
        (ContentBlock::Text { text }, _) => (!text.trim().is_empty()).then(|| block.clone()),
        (ContentBlock::Image(_), Role::User) => Some(block.clone()),
        (ContentBlock::Image(_), Role::Assistant) => Some(ContentBlock::text(PICTURE_LEFT_OUT)),
        (ContentBlock::Thinking { signature, .. }, Role::Assistant) => {
            let sealed = signature.as_ref().is_some_and(|seal| !seal.is_empty());
            (sealed && accepts_reasoning(recipient)).then(|| block.clone())
        }
        (ContentBlock::RedactedThinking { data }, Role::Assistant) => {
            (!data.is_empty() && accepts_reasoning(recipient)).then(|| block.clone())
        }
        (ContentBlock::ToolCall { id, name, input }, Role::Assistant) => {
            let input = clean_arguments(input, recipient);
            Some(ContentBlock::ToolCall { id: id.clone(), name: clean_tool_name(name), input })
        }
        (ContentBlock::ToolResult { call_id, content, outcome }, Role::User) => {
            let content = clean_result(content, *outcome, recipient);
            Some(ContentBlock::ToolResult { call_id: call_id.clone(), content, outcome: *outcome })
        }
        (ContentBlock::Foreign(foreign), _)
            if foreign.is_accepted_by(recipient, ForeignPosition::Said(role)) =>
        {
            Some(ContentBlock::Foreign(foreign.without_cache_marks()))
        }
        (ContentBlock::Foreign(foreign), _) => foreign.text().map(ContentBlock::text),
        (ContentBlock::Thinking { .. } | ContentBlock::RedactedThinking { .. }, Role::User)
        | (ContentBlock::ToolCall { .. }, Role::User)
        | (ContentBlock::ToolResult { .. }, Role::Assistant) => None,
    }
}

/// Whether a provider accepts reasoning in requests. Only Anthropic's models do, including on Bedrock
/// ("signature values are compatible across platforms", Anthropic, "Extended thinking").
fn accepts_reasoning(recipient: Option<ForeignProvider>) -> bool {
    matches!(recipient, Some(ForeignProvider::Anthropic | ForeignProvider::Bedrock))
}

/// Removes empty text parts from a tool result. A failed result keeps only text, and gets a fixed message if
/// none remains.
fn clean_result(
    content: &[ResultPart],
    outcome: ToolOutcome,
    recipient: Option<ForeignProvider>,
) -> Vec<ResultPart> {
    let text = |text: &str| ResultPart::Text { text: text.into() };
    let parts = content.iter().filter_map(|part| match (part, outcome) {
        (ResultPart::Text { text }, _) => (!text.trim().is_empty()).then(|| part.clone()),
        (ResultPart::Image(_), ToolOutcome::Ok) => Some(part.clone()),
        (ResultPart::Image(_), ToolOutcome::Error) => Some(text(PICTURE_LEFT_OUT)),
        (ResultPart::Foreign(foreign), ToolOutcome::Ok)
            if foreign.is_accepted_by(recipient, ForeignPosition::Result) =>
        {
            Some(ResultPart::Foreign(foreign.without_cache_marks()))
        }
        (ResultPart::Foreign(foreign), _) => foreign.text().map(text),
    });
    let parts: Vec<ResultPart> = parts.collect();
    if parts.is_empty() && outcome == ToolOutcome::Error { vec![text(FAILED_SILENTLY)] } else { parts }
}

/// Replaces unsupported characters in a tool name with `_`, and truncates the name.
fn clean_tool_name(name: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let name: String =
        name.chars().take(MAX_TOOL_NAME_CHARS).map(|c| if fits(c) { c } else { '_' }).collect();
    if name.is_empty() { "_".into() } else { name }
}

/// Wraps arguments in an object unless they are one already. Replaces arguments that exceed OpenAI's limit for
/// strings if OpenAI is the recipient.
fn clean_arguments(input: &Value, recipient: Option<ForeignProvider>) -> Value {
    let input = match input {
        Value::Object(_) => input.clone(),
        Value::Null => json!({}),
        other => json!({ "input": other }),
    };
    if !matches!(recipient, Some(ForeignProvider::OpenAi | ForeignProvider::OpenAiResponses)) {
        return input;
    }
    let text = input.to_string();
    // A text has at least as many bytes as characters, so most texts need no counting.
    let too_long = text.len() > MAX_OPENAI_STRING_CHARS && text.chars().count() > MAX_OPENAI_STRING_CHARS;
    if too_long { json!({ "input": ARGUMENTS_LEFT_OUT }) } else { input }
}
