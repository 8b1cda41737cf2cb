//! Assembles replies of OpenAI's Responses API:
//! <https://platform.openai.com/docs/api-reference/responses-streaming>. Items are stored when they are
//! complete, and text is shown as it arrives.

use serde_json::{Value, json};

use crate::history::ForeignProvider;
use crate::providers::reply::{
    ProviderError, ReplyDraft, ReplyEnd, StreamedReply, UsageFields, parse_arguments, parse_stop_reason, text,
};

/// <https://platform.openai.com/docs/api-reference/responses/object>
const USAGE_FIELDS: UsageFields = UsageFields {
    prompt: &["/input_tokens"],
    output: &["/output_tokens"],
    cache_read: &["/input_tokens_details/cached_tokens"],
    cache_write: &["/input_tokens_details/cache_write_tokens"],
    reasoning: &["/output_tokens_details/reasoning_tokens"],
    total: &["/total_tokens"],
};

#[derive(Debug, Default)]
pub(super) struct StreamedResponse {
    /// Part of the unfinished message's text that was already shown.
    shown: String,
}

impl StreamedReply for StreamedResponse {
    fn read_event(&mut self, name: &str, data: &Value, draft: &mut ReplyDraft) {
        let kind = data.get("type").and_then(Value::as_str).unwrap_or(name);
        draft.has_begun |= kind.starts_with("response.");
        match kind {
            "response.output_text.delta" | "response.refusal.delta" => {
                let delta = text(data, "delta");
                self.shown.push_str(delta);
                draft.push_text(delta);
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                draft.emit_thinking(text(data, "delta"));
            }
            "response.output_item.done" => {
                if let Some(item) = data.get("item") {
                    self.read_item(item, draft);
                }
            }
            _ => {
                let last = ["completed", "incomplete", "failed", "cancelled"];
                let event = kind.strip_prefix("response.").filter(|event| last.contains(event));
                if let (Some(event), Some(response)) = (event, data.get("response")) {
                    end_reply(response, event, draft);
                }
            }
        }
    }

    fn read_body(&mut self, body: &Value, draft: &mut ReplyDraft) -> Option<()> {
        for item in body.get("output")?.as_array()? {
            self.read_item(item, draft);
        }
        end_reply(body, "completed", draft);
        Some(())
    }
}

impl StreamedResponse {
    fn read_item(&mut self, item: &Value, draft: &mut ReplyDraft) {
        match text(item, "type") {
            "message" => {
                let shown = std::mem::take(&mut self.shown);
                let parts = item.get("content").and_then(Value::as_array).into_iter().flatten();
                let full_text: String =
                    parts.map(|part| text(part, "text").to_owned() + text(part, "refusal")).collect();
                // Show the text that was not streamed.
                if let Some(rest) = full_text.strip_prefix(&shown) {
                    draft.push_text(rest);
                }
            }
            "function_call" => {
                let input = parse_arguments(item.get("arguments").unwrap_or(&Value::Null));
                draft.push_call(text(item, "call_id"), text(item, "name"), input);
            }
            "reasoning" => draft.push_foreign(ForeignProvider::OpenAiResponses, reasoning_request_item(item)),
            _ => draft.push_foreign(ForeignProvider::OpenAiResponses, item.clone()),
        }
    }
}

/// Ends the reply. `event` is the word for the end if the response has none.
fn end_reply(response: &Value, event: &str, draft: &mut ReplyDraft) {
    draft.usage = response.get("usage").and_then(|billed| USAGE_FIELDS.read(billed));
    let reason = response.pointer("/incomplete_details/reason").and_then(Value::as_str);
    let word = reason.or(response.get("status").and_then(Value::as_str)).unwrap_or(event);
    let error = ProviderError::from_value(response).map(ReplyEnd::Failed);
    draft.end = Some(error.unwrap_or_else(|| parse_stop_reason(word)));
}

/// Reduces a reasoning item to the fields that a request accepts. Only the provider may write `status` and
/// `content`.
fn reasoning_request_item(item: &Value) -> Value {
    let mut reasoning = json!({"type": "reasoning"});
    for field in ["id", "summary", "encrypted_content"] {
        if let Some(value) = item.get(field) {
            reasoning[field] = value.clone();
        }
    }
    reasoning
}
