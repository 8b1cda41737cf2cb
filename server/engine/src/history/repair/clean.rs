//! What is mended inside one message, whatever stands around it.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::{ARGUMENTS_LEFT_OUT, FAILED_SILENTLY, PICTURE_LEFT_OUT, Utterance};
use crate::history::{
    ContentBlock, Image, ImageSource, Kind, Message, MessageId, Outcome, Place, Provider, ResultPart, Role,
    Sides, Visibility, media_type_of, sides,
};

/// A tool's name has at most this many characters (both providers).
const NAME_CHARS: usize = 64;
/// A picture of more pixels on one side is refused in any number (Anthropic, vision).
const SIDE_OF_FEW: u32 = 8_000;
/// With more than `FEW` pictures, this many (Anthropic, vision).
const SIDE_OF_MANY: u32 = 2_000;
/// Up to here the larger limit holds.
const FEW: usize = 20;
/// A picture of more base64 is refused (Anthropic, "image exceeds 5 MB maximum: 5316852 bytes > 5242880 bytes").
const PICTURE_BYTES: usize = 5 * 1024 * 1024;
/// All pictures of a request together: of the 32 MB that a body may have (Anthropic), some stay free for the texts.
const ALL_PICTURES: usize = 24 * 1024 * 1024;
/// When they are more, so much of the newest stays: less than could, so that the next requests leave out the same ones and
/// what a provider has cached of the rest counts again.
const AFTER_A_CUT: usize = 12 * 1024 * 1024;
/// A call's arguments are one string, which has at most so many characters (OpenAI, "string too long").
const STRING_CHARS: usize = 1_048_576;

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

/// Replaces pictures that would be refused, and the oldest where all together are too much; says of the others what their
/// bytes say. The new request's own are left, so that its sender gets to hear of it.
pub(super) fn pictures(mut utterances: Vec<Utterance>, recipient: Option<Provider>) -> Vec<Utterance> {
    let pictures = |utterance: &Utterance| utterance.content.iter().flat_map(ContentBlock::images).count();
    let count: usize = utterances.iter().map(pictures).sum();
    let limit = if count > FEW { SIDE_OF_MANY } else { SIDE_OF_FEW };
    keep_recorded(&mut utterances, |image| fits(image, limit, recipient));
    let mut surplus = surplus(&utterances);
    keep_recorded(&mut utterances, |image| {
        let goes = surplus > 0 && inline_bytes(image).is_some();
        surplus -= usize::from(goes);
        !goes
    });
    utterances
}

/// Leaves out what `keeps` does not keep of the recorded pictures, which it may mend.
fn keep_recorded(utterances: &mut [Utterance], mut keeps: impl FnMut(&mut Image) -> bool) {
    let recorded = utterances.iter_mut().filter(|utterance| utterance.id.is_some());
    for block in recorded.flat_map(|utterance| &mut utterance.content) {
        if let ContentBlock::Image(image) = block
            && !keeps(image)
        {
            *block = ContentBlock::text(PICTURE_LEFT_OUT);
        } else if let ContentBlock::ToolResult { content, .. } = block {
            for part in content {
                if let ResultPart::Image(image) = part
                    && !keeps(image)
                {
                    *part = ResultPart::Text { text: PICTURE_LEFT_OUT.into() };
                }
            }
        }
    }
}

/// How many of the recorded pictures have to go, the oldest first. Each is added to those that were there when it came:
/// so a conversation that goes on leaves out the same ones until they are too much again.
fn surplus(utterances: &[Utterance]) -> usize {
    let mut held = VecDeque::new();
    let (mut total, mut gone) = (0, 0);
    for utterance in utterances {
        let images = utterance.content.iter().flat_map(ContentBlock::images);
        for bytes in images.filter_map(inline_bytes) {
            held.push_back((utterance.id, bytes));
            total += bytes;
            let most = if total > ALL_PICTURES { AFTER_A_CUT } else { ALL_PICTURES };
            while total > most
                && held.len() > 1
                && let Some((id, bytes)) = held.pop_front()
            {
                total -= bytes;
                gone += usize::from(id.is_some());
            }
        }
    }
    gone
}

/// What a picture takes in a request; `None` for one that the provider fetches.
fn inline_bytes(image: &Image) -> Option<usize> {
    match &image.source {
        ImageSource::Base64 { data, .. } => Some(data.len()),
        ImageSource::Url { .. } => None,
    }
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
            let input = arguments(input, recipient);
            Some(ContentBlock::ToolCall { id: id.clone(), name: tool_name(name), input })
        }
        (ContentBlock::ToolResult { call_id, content, outcome }, Role::User) => {
            let content = result(content, *outcome, recipient);
            Some(ContentBlock::ToolResult { call_id: call_id.clone(), content, outcome: *outcome })
        }
        (ContentBlock::Foreign(foreign), _) if foreign.is_taken_by(recipient, Place::Said(role)) => {
            Some(ContentBlock::Foreign(foreign.unmarked()))
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
            Some(ResultPart::Foreign(foreign.unmarked()))
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
fn arguments(input: &Value, recipient: Option<Provider>) -> Value {
    let input = match input {
        Value::Object(_) => input.clone(),
        Value::Null => json!({}),
        other => json!({ "input": other }),
    };
    if recipient != Some(Provider::OpenAi) {
        return input;
    }
    let text = input.to_string();
    // A byte count within the limit spares counting characters.
    let too_long = text.len() > STRING_CHARS && text.chars().count() > STRING_CHARS;
    if too_long { json!({ "input": ARGUMENTS_LEFT_OUT }) } else { input }
}

/// Whether `recipient` takes a picture, with `limit` for its sides. One under the name of another kind, which a provider
/// refuses, gets its own.
fn fits(image: &mut Image, limit: u32, recipient: Option<Provider>) -> bool {
    match &mut image.source {
        ImageSource::Url { url } => url.starts_with("https://") || url.starts_with("http://"),
        ImageSource::Base64 { media_type, data } => {
            let Some(kind) = media_type_of(data) else { return false };
            kind.clone_into(media_type);
            let light = recipient != Some(Provider::Anthropic) || data.len() <= PICTURE_BYTES;
            light && is_base64(data) && sides(data).map(Sides::longest).is_some_and(|side| side <= limit)
        }
    }
}

/// Whether a text is base64 as it is written: whole groups of four characters, filled up at the end only.
fn is_base64(text: &str) -> bool {
    let digits = text.trim_end_matches('=');
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    text.len().is_multiple_of(4) && text.len() - digits.len() <= 2 && digits.bytes().all(is_digit)
}
