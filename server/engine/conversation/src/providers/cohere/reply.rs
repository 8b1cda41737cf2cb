//! Assembles replies of Cohere's v2 chat API: <https://docs.cohere.com/v2/docs/streaming>.

use serde_json::Value;

use crate::providers::reply::{
    ProviderError, ReplyDraft, ReplyEnd, StreamedReply, UsageFields, parse_arguments, parse_stop_reason, text,
};

/// `tokens` counts all tokens of the prompt, and `billed_units` only some of them. The cache holds a part of the prompt.
const TOTAL_USAGE_FIELDS: UsageFields = UsageFields {
    prompt: &["/tokens/input_tokens"],
    output: &["/tokens/output_tokens"],
    cache_read: &["/cached_tokens"],
    cache_write: &[],
    reasoning: &[],
    total: &[],
};

/// Without the counts of all tokens, the billed ones are closest.
const BILLED_USAGE_FIELDS: UsageFields = UsageFields {
    prompt: &["/billed_units/input_tokens"],
    output: &["/billed_units/output_tokens"],
    ..TOTAL_USAGE_FIELDS
};

#[derive(Debug, Default)]
pub(super) struct StreamedChat {
    /// The unfinished call: its id, its name, and its arguments so far.
    call: Option<(String, String, String)>,
}

impl StreamedReply for StreamedChat {
    fn read_event(&mut self, name: &str, data: &Value, draft: &mut ReplyDraft) {
        let kind = data.get("type").and_then(Value::as_str).unwrap_or(name);
        let delta = data.get("delta").unwrap_or(&Value::Null);
        let message = delta.get("message").unwrap_or(&Value::Null);
        match kind {
            "message-start" => draft.has_begun = true,
            "content-start" | "content-delta" => push_content(message.get("content"), draft),
            "tool-plan-delta" => draft.push_text(text(message, "tool_plan")),
            "tool-call-start" => {
                self.finish_call(draft);
                let call = message.get("tool_calls").unwrap_or(&Value::Null);
                let function = call.get("function").unwrap_or(&Value::Null);
                let owned = |value, field| text(value, field).to_owned();
                self.call = Some((owned(call, "id"), owned(function, "name"), owned(function, "arguments")));
            }
            "tool-call-delta" => {
                let more = message.pointer("/tool_calls/function/arguments").and_then(Value::as_str);
                if let (Some((_, _, written)), Some(more)) = (&mut self.call, more) {
                    written.push_str(more);
                }
            }
            "tool-call-end" => self.finish_call(draft),
            "message-end" => {
                self.finish_call(draft);
                end_reply(delta, draft);
            }
            // An error has no type.
            "" if data.get("message").is_some_and(Value::is_string) => {
                draft.end = Some(ReplyEnd::Failed(ProviderError::from_body(data.to_string().as_bytes())));
            }
            _ => {}
        }
    }

    fn read_body(&mut self, body: &Value, draft: &mut ReplyDraft) -> Option<()> {
        let message = body.get("message")?.as_object()?;
        if let Some(plan) = message.get("tool_plan").and_then(Value::as_str) {
            draft.push_text(plan);
        }
        for part in message.get("content").and_then(Value::as_array).into_iter().flatten() {
            push_content(Some(part), draft);
        }
        for call in message.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            let function = call.get("function").unwrap_or(&Value::Null);
            let input = parse_arguments(function.get("arguments").unwrap_or(&Value::Null));
            draft.push_call(text(call, "id"), text(function, "name"), input);
        }
        end_reply(body, draft);
        Some(())
    }
}

impl StreamedChat {
    fn finish_call(&mut self, draft: &mut ReplyDraft) {
        if let Some((id, name, written)) = self.call.take() {
            draft.push_call(&id, &name, parse_arguments(&written.into()));
        }
    }
}

/// Adds a piece of content: text or reasoning.
fn push_content(piece: Option<&Value>, draft: &mut ReplyDraft) {
    if let Some(piece) = piece {
        draft.emit_thinking(text(piece, "thinking"));
        draft.push_text(text(piece, "text"));
    }
}

/// Ends the reply with its usage and reason.
fn end_reply(end_of: &Value, draft: &mut ReplyDraft) {
    let usage = end_of.get("usage");
    draft.usage =
        usage.and_then(|usage| TOTAL_USAGE_FIELDS.read(usage).or_else(|| BILLED_USAGE_FIELDS.read(usage)));
    let word = text(end_of, "finish_reason");
    draft.end = Some(match (word, text(end_of, "error")) {
        (_, error) if !error.is_empty() => ReplyEnd::Failed(ProviderError::server(error)),
        ("COMPLETE", _) => ReplyEnd::Complete,
        ("TOOL_CALL", _) => ReplyEnd::ToolCalls,
        ("TIMEOUT", _) => {
            ReplyEnd::Failed(ProviderError::server("the provider's time for the answer is over"))
        }
        // STOP_SEQUENCE, MAX_TOKENS, ERROR, and words that are not documented.
        (word, _) => parse_stop_reason(word),
    });
}
