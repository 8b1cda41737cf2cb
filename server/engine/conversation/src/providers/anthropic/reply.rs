//! Assembles replies of Anthropic's Messages API:
//! <https://docs.anthropic.com/en/docs/build-with-claude/streaming>.

use serde_json::Value;
use strata_tokens::cost::Usage;

use crate::history::{ContentBlock, ForeignProvider};
use crate::providers::reply::{
    ReplyDraft, ReplyEnd, ReplyEvent, StreamedReply, count_at_pointer, parse_arguments, parse_stop_reason,
    text,
};

#[derive(Debug, Default)]
pub(crate) struct StreamedMessage {
    open: Option<OpenBlock>,
}

/// An unfinished content block.
#[derive(Debug)]
struct OpenBlock {
    start: Value,
    /// Content received so far: text, reasoning, or the raw arguments of a call. Arguments that are not
    /// streamed are in `start`.
    written: String,
    signature: String,
}

impl StreamedReply for StreamedMessage {
    fn read_event(&mut self, _name: &str, data: &Value, draft: &mut ReplyDraft) {
        match text(data, "type") {
            "message_start" => {
                draft.has_begun = true;
                update_usage(data.pointer("/message/usage"), draft);
            }
            "content_block_start" => {
                self.end(draft);
                let start = data.get("content_block").cloned().unwrap_or_default();
                let written = text(&start, "text").to_owned() + text(&start, "thinking");
                let signature = text(&start, "signature").to_owned();
                match text(&start, "type") {
                    "text" => draft.emit_event(ReplyEvent::Text(written.clone())),
                    "thinking" => draft.emit_thinking(&written),
                    _ => {}
                }
                self.open = Some(OpenBlock { start, written, signature });
            }
            "content_block_delta" => {
                let (Some(open), Some(delta)) = (&mut self.open, data.get("delta")) else { return };
                // Ignore a delta whose type does not match its block.
                match (text(&open.start, "type"), text(delta, "type")) {
                    ("text", "text_delta") => {
                        open.written.push_str(text(delta, "text"));
                        draft.emit_event(ReplyEvent::Text(text(delta, "text").to_owned()));
                    }
                    ("thinking", "thinking_delta") => {
                        open.written.push_str(text(delta, "thinking"));
                        draft.emit_thinking(text(delta, "thinking"));
                    }
                    ("thinking", "signature_delta") => open.signature.push_str(text(delta, "signature")),
                    ("text" | "thinking", _) => {}
                    (_, "input_json_delta") => open.written.push_str(text(delta, "partial_json")),
                    _ => {}
                }
            }
            "content_block_stop" => {
                if let Some(open) = self.open.take() {
                    open.close(draft);
                }
            }
            "message_delta" => {
                update_usage(data.get("usage"), draft);
                draft.end = data.pointer("/delta/stop_reason").and_then(Value::as_str).map(parse_stop_reason);
            }
            _ => {}
        }
    }

    fn read_body(&mut self, body: &Value, draft: &mut ReplyDraft) -> Option<()> {
        for block in body.get("content")?.as_array()? {
            let written = text(block, "text").to_owned() + text(block, "thinking");
            let signature = text(block, "signature").to_owned();
            OpenBlock { start: block.clone(), written, signature }.close(draft);
        }
        update_usage(body.get("usage"), draft);
        let reason = body.get("stop_reason").and_then(Value::as_str);
        draft.end = Some(reason.map_or(ReplyEnd::Complete, parse_stop_reason));
        Some(())
    }

    /// Closes an unfinished text block, and drops any other unfinished block.
    fn end(&mut self, draft: &mut ReplyDraft) {
        if let Some(open) = self.open.take()
            && text(&open.start, "type") == "text"
        {
            open.close(draft);
        }
    }
}

impl OpenBlock {
    fn close(self, draft: &mut ReplyDraft) {
        let Self { start, written, signature } = self;
        match text(&start, "type") {
            "text" if written.is_empty() => {}
            "text" => draft.content.push(ContentBlock::Text { text: written }),
            "thinking" => {
                let signature = (!signature.is_empty()).then_some(signature);
                draft.content.push(ContentBlock::Thinking { text: written, signature });
            }
            "redacted_thinking" => {
                let data = text(&start, "data").to_owned();
                draft.content.push(ContentBlock::RedactedThinking { data });
            }
            kind => {
                let is_call = kind == "tool_use";
                let mut block = start;
                // The arguments of a server-side call are streamed like those of any other call.
                if let (false, Some(input)) = (written.is_empty(), block.get_mut("input")) {
                    *input = parse_arguments(&written.into());
                }
                if is_call {
                    let input = parse_arguments(block.get("input").unwrap_or(&Value::Null));
                    draft.push_call(text(&block, "id"), text(&block, "name"), input);
                } else {
                    draft.push_foreign(ForeignProvider::Anthropic, block);
                }
            }
        }
    }
}

/// Updates the usage. Counts are cumulative ("The token counts shown in the `usage` field of the `message_delta`
/// event are cumulative"), so a smaller count, as some gateways send at the end, is ignored.
fn update_usage(billed: Option<&Value>, draft: &mut ReplyDraft) {
    let Some(billed) = billed else { return };
    let count = |field: &str, known: u64| count_at_pointer(billed, field).max(known);
    let known = draft.usage.unwrap_or_default();
    let usage = Usage {
        input: count("/input_tokens", known.input),
        output: count("/output_tokens", known.output),
        cache_read: count("/cache_read_input_tokens", known.cache_read),
        cache_write: count("/cache_creation_input_tokens", known.cache_write),
    };
    draft.usage = (usage != Usage::default()).then_some(usage);
}
