//! Assembles replies of OpenAI's Responses API:
//! <https://platform.openai.com/docs/api-reference/responses-streaming>. Items are stored when they are
//! complete, and text is shown as it arrives.

use serde_json::{Value, json};

use super::draft::{Draft, ReplyEnd, ReplyEvent, arguments, text};
use super::end::end;
use super::error::ProviderError;
use super::usage;
use crate::conversation::history::Provider;

#[derive(Debug, Default)]
pub(super) struct Assembly {
    pub(super) draft: Draft,
    /// Part of the unfinished message's text that was already shown.
    shown: String,
}

impl Assembly {
    pub(super) fn event(&mut self, name: &str, data: &Value, out: &mut Vec<ReplyEvent>) {
        let kind = data.get("type").and_then(Value::as_str).unwrap_or(name);
        self.draft.has_begun |= kind.starts_with("response.");
        match kind {
            "response.output_text.delta" | "response.refusal.delta" => {
                let delta = text(data, "delta");
                self.shown.push_str(delta);
                self.draft.say(delta, out);
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta"
                if !text(data, "delta").is_empty() =>
            {
                out.push(ReplyEvent::Thinking(text(data, "delta").to_owned()));
            }
            "response.output_item.done" => {
                if let Some(item) = data.get("item") {
                    self.item(item, out);
                }
            }
            _ => {
                let last = ["completed", "incomplete", "failed", "cancelled"];
                let event = kind.strip_prefix("response.").filter(|event| last.contains(event));
                if let (Some(event), Some(response)) = (event, data.get("response")) {
                    self.close(response, event);
                }
            }
        }
    }

    pub(super) fn whole(&mut self, body: &Value) -> Option<()> {
        for item in body.get("output")?.as_array()? {
            self.item(item, &mut Vec::new());
        }
        self.close(body, "completed");
        Some(())
    }

    fn item(&mut self, item: &Value, out: &mut Vec<ReplyEvent>) {
        match text(item, "type") {
            "message" => {
                let shown = std::mem::take(&mut self.shown);
                let parts = item.get("content").and_then(Value::as_array).into_iter().flatten();
                let whole: String =
                    parts.map(|part| text(part, "text").to_owned() + text(part, "refusal")).collect();
                // Show the text that was not streamed.
                if let Some(rest) = whole.strip_prefix(&shown) {
                    self.draft.say(rest, out);
                }
            }
            "function_call" => {
                let input = arguments(item.get("arguments").unwrap_or(&Value::Null));
                self.draft.call(text(item, "call_id"), text(item, "name"), input, out);
            }
            "reasoning" => self.draft.keep(Provider::OpenAiResponses, sealed(item)),
            _ => self.draft.keep(Provider::OpenAiResponses, item.clone()),
        }
    }

    /// Ends the reply. `event` is the word for the end if the response has none.
    fn close(&mut self, response: &Value, event: &str) {
        self.draft.usage = response.get("usage").and_then(|billed| usage::RESPONSES.read(billed));
        let reason = response.pointer("/incomplete_details/reason").and_then(Value::as_str);
        let word = reason.or(response.get("status").and_then(Value::as_str)).unwrap_or(event);
        let error = ProviderError::stated(response).map(ReplyEnd::Failed);
        self.draft.end = Some(error.unwrap_or_else(|| end(word)));
    }
}

/// Reduces a reasoning item to the fields that a request accepts. Only the provider may write `status` and
/// `content`.
fn sealed(item: &Value) -> Value {
    let mut kept = json!({"type": "reasoning"});
    if let (Some(kept), Some(item)) = (kept.as_object_mut(), item.as_object()) {
        for field in ["id", "summary", "encrypted_content"] {
            kept.extend(item.get(field).map(|value| (field.to_owned(), value.clone())));
        }
    }
    kept
}
