//! What is mended inside one message, whatever stands around it.

use serde_json::{Value, json};

use super::{FAILED_SILENTLY, PICTURE_LEFT_OUT, Utterance};
use crate::history::{
    ContentBlock, Image, ImageSource, Kind, Message, MessageId, Outcome, Place, Provider, ResultPart, Role,
    Sides, Visibility, sides,
};

/// A tool's name has at most this many characters (both providers).
const NAME_CHARS: usize = 64;
/// A picture of more pixels on one side is refused in any number (Anthropic, vision).
const SIDE_OF_FEW: u32 = 8_000;
/// With more than `FEW` pictures, this many (Anthropic, vision).
const SIDE_OF_MANY: u32 = 2_000;
/// Up to here the larger limit holds.
const FEW: usize = 20;

/// What the model sees of a message: nothing of a hidden one, stubs of archived results.
pub(super) fn message(message: &Message, recipient: Option<Provider>) -> Option<Utterance> {
    let role = message.body.role;
    let content = match (message.body.kind, message.body.agent) {
        (Kind::ToolResultArchived, _) => {
            let stubs: Vec<_> =
                message.body.content.iter().filter_map(|block| stub(block, message.id)).collect();
            clean(&stubs, role, recipient)
        }
        (_, Visibility::Hidden) => return None,
        (_, Visibility::Shown) => clean(&message.body.content, role, recipient),
    };
    (!content.is_empty()).then_some(Utterance { id: Some(message.id), role, content })
}

/// Stands for each archived result of a message, under its call's id; names the message as `toolOutput.read` takes it.
pub fn archived_stub(message: MessageId) -> String {
    format!("[archived; see summary; toolOutput.read {}]", message.0)
}

/// The blocks that `role` may send, each in a form that is accepted.
pub(super) fn clean(content: &[ContentBlock], role: Role, recipient: Option<Provider>) -> Vec<ContentBlock> {
    content.iter().filter_map(|block| clean_block(block, role, recipient)).collect()
}

/// Replaces pictures that would be refused for their size. The new request's own are left, so that its
/// sender gets to hear of it.
pub(super) fn pictures(mut utterances: Vec<Utterance>) -> Vec<Utterance> {
    let count: usize = utterances.iter().flat_map(|utterance| &utterance.content).map(pictures_in).sum();
    let limit = if count > FEW { SIDE_OF_MANY } else { SIDE_OF_FEW };
    let recorded = utterances.iter_mut().filter(|utterance| utterance.id.is_some());
    for block in recorded.flat_map(|utterance| &mut utterance.content) {
        match block {
            ContentBlock::Image(image) if !fits(image, limit) => {
                *block = ContentBlock::text(PICTURE_LEFT_OUT);
            }
            ContentBlock::ToolResult { content, .. } => {
                for part in content {
                    if matches!(part, ResultPart::Image(image) if !fits(image, limit)) {
                        *part = ResultPart::Text { text: PICTURE_LEFT_OUT.into() };
                    }
                }
            }
            _ => {}
        }
    }
    utterances
}

/// A result whose output was archived, under its call's id.
fn stub(block: &ContentBlock, message: MessageId) -> Option<ContentBlock> {
    let ContentBlock::ToolResult { call_id, outcome, .. } = block else { return None };
    let content = vec![ResultPart::Text { text: archived_stub(message) }];
    Some(ContentBlock::ToolResult { call_id: call_id.clone(), content, outcome: *outcome })
}

fn clean_block(block: &ContentBlock, role: Role, recipient: Option<Provider>) -> Option<ContentBlock> {
    match (block, role) {
        (ContentBlock::Text { text }, _) => (!text.trim().is_empty()).then(|| block.clone()),
        (ContentBlock::Image(_), Role::User) => Some(block.clone()),
        (ContentBlock::Image(_), Role::Assistant) => Some(ContentBlock::text(PICTURE_LEFT_OUT)),
        (ContentBlock::Thinking { signature, .. }, Role::Assistant) => {
            let sealed = signature.as_ref().is_some_and(|seal| !seal.is_empty());
            (sealed && keeps_reasoning(recipient)).then(|| block.clone())
        }
        (ContentBlock::RedactedThinking { data }, Role::Assistant) => {
            (!data.is_empty() && keeps_reasoning(recipient)).then(|| block.clone())
        }
        (ContentBlock::ToolCall { id, name, input }, Role::Assistant) => {
            Some(ContentBlock::ToolCall { id: id.clone(), name: tool_name(name), input: arguments(input) })
        }
        (ContentBlock::ToolResult { call_id, content, outcome }, Role::User) => {
            let content = result(content, *outcome, recipient);
            Some(ContentBlock::ToolResult { call_id: call_id.clone(), content, outcome: *outcome })
        }
        (ContentBlock::Foreign(foreign), _) if foreign.is_taken_by(recipient, Place::Said(role)) => {
            Some(block.clone())
        }
        (ContentBlock::Foreign(foreign), _) => foreign.text().map(ContentBlock::text),
        (ContentBlock::Thinking { .. } | ContentBlock::RedactedThinking { .. }, Role::User)
        | (ContentBlock::ToolCall { .. }, Role::User)
        | (ContentBlock::ToolResult { .. }, Role::Assistant) => None,
    }
}

/// Only Anthropic takes reasoning back.
fn keeps_reasoning(recipient: Option<Provider>) -> bool {
    recipient == Some(Provider::Anthropic)
}

/// Without empty texts; of a failed result, texts only and at least one.
fn result(content: &[ResultPart], outcome: Outcome, recipient: Option<Provider>) -> Vec<ResultPart> {
    let text = |text: &str| ResultPart::Text { text: text.into() };
    let parts = content.iter().filter_map(|part| match (part, outcome) {
        (ResultPart::Text { text }, _) => (!text.trim().is_empty()).then(|| part.clone()),
        (ResultPart::Image(_), Outcome::Ok) => Some(part.clone()),
        (ResultPart::Image(_), Outcome::Error) => Some(text(PICTURE_LEFT_OUT)),
        (ResultPart::Foreign(foreign), Outcome::Ok) if foreign.is_taken_by(recipient, Place::Result) => {
            Some(part.clone())
        }
        (ResultPart::Foreign(foreign), _) => foreign.text().map(text),
    });
    let parts: Vec<ResultPart> = parts.collect();
    if parts.is_empty() && outcome == Outcome::Error { vec![text(FAILED_SILENTLY)] } else { parts }
}

/// Characters that providers refuse become `_`; what is too long is cut.
fn tool_name(name: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let name: String = name.chars().take(NAME_CHARS).map(|c| if fits(c) { c } else { '_' }).collect();
    if name.is_empty() { "_".into() } else { name }
}

/// Arguments are an object; anything else is wrapped into one.
fn arguments(input: &Value) -> Value {
    match input {
        Value::Object(_) => input.clone(),
        Value::Null => json!({}),
        other => json!({ "input": other }),
    }
}

fn pictures_in(block: &ContentBlock) -> usize {
    match block {
        ContentBlock::Image(_) => 1,
        ContentBlock::ToolResult { content, .. } => {
            content.iter().filter(|part| matches!(part, ResultPart::Image(_))).count()
        }
        _ => 0,
    }
}

/// Whether providers take a picture of this kind and size.
fn fits(image: &Image, limit: u32) -> bool {
    match &image.source {
        ImageSource::Url { url } => url.starts_with("https://") || url.starts_with("http://"),
        ImageSource::Base64 { media_type, data } => {
            let known = ["image/png", "image/jpeg", "image/gif", "image/webp"].contains(&media_type.as_str());
            let base64 = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=');
            let sound = known && !data.is_empty() && data.bytes().all(base64);
            sound && sides(data).map(Sides::longest).is_none_or(|side| side <= limit)
        }
    }
}
