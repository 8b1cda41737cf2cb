//! Assembles replies of Bedrock's Converse API, whose events and blocks correspond to Anthropic's:
//! <https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html>.

use serde_json::{Value, json};

use crate::providers::anthropic::reply::StreamedMessage;
use crate::providers::reply::{ProviderError, ReplyDraft, ReplyEnd, StreamedReply, parse_stop_reason, text};

#[derive(Debug, Default)]
pub(super) struct StreamedConverse {
    inner: StreamedMessage,
    /// Whether a block has begun. Only calls have an event for that.
    is_open: bool,
    /// The end, which is reported before the usage.
    finish: Option<ReplyEnd>,
}

impl StreamedReply for StreamedConverse {
    fn read_event(&mut self, name: &str, data: &Value, draft: &mut ReplyDraft) {
        match name {
            "messageStart" => self.inner.read_event("", &json!({"type": "message_start"}), draft),
            "contentBlockStart" => {
                if let Some(call) = data.pointer("/start/toolUse") {
                    self.start_block(&anthropic_tool_use(call), draft);
                }
            }
            "contentBlockDelta" => self.read_delta(data.get("delta").unwrap_or(&Value::Null), draft),
            "contentBlockStop" => {
                self.is_open = false;
                self.inner.read_event("", &json!({"type": "content_block_stop"}), draft);
            }
            "messageStop" => self.finish = Some(parse_stop_reason(text(data, "stopReason"))),
            "metadata" => {
                self.inner.read_event(
                    "",
                    &json!({"type": "message_start", "message": {"usage": anthropic_usage(data)}}),
                    draft,
                );
                self.end_reply(draft);
            }
            name if name.ends_with("Exception") => {
                draft.has_begun = true;
                let error = ProviderError::from_status(http_status(name), data.to_string().as_bytes(), None);
                draft.end = Some(ReplyEnd::Failed(error));
            }
            _ => {}
        }
    }

    fn read_body(&mut self, body: &Value, draft: &mut ReplyDraft) -> Option<()> {
        let content = body.pointer("/output/message/content")?.as_array()?;
        let blocks: Vec<Value> = content.iter().filter_map(anthropic_block).collect();
        let stop = body.get("stopReason").cloned().unwrap_or_default();
        self.inner.read_body(
            &json!({"content": blocks, "stop_reason": stop, "usage": anthropic_usage(body)}),
            draft,
        )
    }

    fn end(&mut self, draft: &mut ReplyDraft) {
        self.end_reply(draft);
        self.inner.end(draft);
    }
}

impl StreamedConverse {
    /// Ends the reply as the provider stated.
    fn end_reply(&mut self, draft: &mut ReplyDraft) {
        if draft.end.is_none() {
            draft.end = self.finish.take();
        }
    }

    fn start_block(&mut self, block: &Value, draft: &mut ReplyDraft) {
        self.is_open = true;
        self.inner.read_event("", &json!({"type": "content_block_start", "content_block": block}), draft);
    }

    fn read_delta(&mut self, delta: &Value, draft: &mut ReplyDraft) {
        let part = |pointer: &str| delta.pointer(pointer).filter(|part| part.is_string());
        let (kind, delta) = if let Some(text) = part("/text") {
            ("text", json!({"type": "text_delta", "text": text}))
        } else if let Some(json) = part("/toolUse/input") {
            ("tool_use", json!({"type": "input_json_delta", "partial_json": json}))
        } else if let Some(thought) = part("/reasoningContent/text") {
            ("thinking", json!({"type": "thinking_delta", "thinking": thought}))
        } else if let Some(signature) = part("/reasoningContent/signature") {
            ("thinking", json!({"type": "signature_delta", "signature": signature}))
        } else if let Some(data) = part("/reasoningContent/redactedContent") {
            return self.start_block(&json!({"type": "redacted_thinking", "data": data}), draft);
        } else {
            return;
        };
        if !self.is_open {
            self.start_block(&json!({"type": kind}), draft);
        }
        self.inner.read_event("", &json!({"type": "content_block_delta", "delta": delta}), draft);
    }
}

/// Converts a block to Anthropic's form; `None` for kinds that Strata does not store.
fn anthropic_block(block: &Value) -> Option<Value> {
    let thought = block.pointer("/reasoningContent/reasoningText");
    if let Some(text) = block.get("text") {
        Some(json!({"type": "text", "text": text}))
    } else if let Some(call) = block.get("toolUse") {
        Some(anthropic_tool_use(call))
    } else if let Some(thought) = thought {
        let (text, signature) = (text(thought, "text"), text(thought, "signature"));
        Some(json!({"type": "thinking", "thinking": text, "signature": signature}))
    } else {
        let data = block.pointer("/reasoningContent/redactedContent")?;
        Some(json!({"type": "redacted_thinking", "data": data}))
    }
}

fn anthropic_tool_use(call: &Value) -> Value {
    let input = call.get("input").cloned().unwrap_or_else(|| json!({}));
    json!({"type": "tool_use", "id": text(call, "toolUseId"), "name": text(call, "name"), "input": input})
}

/// Converts the token counts, of which `inputTokens` excludes cached ones:
/// <https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_TokenUsage.html>.
fn anthropic_usage(data: &Value) -> Value {
    let count = |name: &str| data.pointer(&format!("/usage/{name}")).cloned().unwrap_or_default();
    json!({
        "input_tokens": count("inputTokens"),
        "output_tokens": count("outputTokens"),
        "cache_read_input_tokens": count("cacheReadInputTokens"),
        "cache_creation_input_tokens": count("cacheWriteInputTokens"),
    })
}

/// Returns the HTTP status that an exception has outside of a stream:
/// <https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html#API_runtime_ConverseStream_Errors>.
fn http_status(exception: &str) -> u16 {
    match exception {
        "throttlingException" => 429,
        "serviceUnavailableException" => 503,
        "validationException" => 400,
        _ => 500,
    }
}
