//! Assembles replies of Anthropic's Messages API:
//! <https://docs.anthropic.com/en/docs/build-with-claude/streaming>.

use serde_json::Value;

use super::draft::{Draft, ReplyEnd, ReplyEvent, arguments, number, text};
use super::end::end;
use crate::conversation::history::{ContentBlock, Provider};
use crate::tokens::cost::Usage;

#[derive(Debug, Default)]
pub(super) struct Assembly {
    pub(super) draft: Draft,
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

impl Assembly {
    pub(super) fn event(&mut self, data: &Value, out: &mut Vec<ReplyEvent>) {
        match text(data, "type") {
            "message_start" => {
                self.draft.has_begun = true;
                self.usage(data.pointer("/message/usage"));
            }
            "content_block_start" => {
                self.cut_open();
                let start = data.get("content_block").cloned().unwrap_or_default();
                let written = text(&start, "text").to_owned() + text(&start, "thinking");
                let signature = text(&start, "signature").to_owned();
                match text(&start, "type") {
                    "text" => say(ReplyEvent::Text(written.clone()), out),
                    "thinking" => say(ReplyEvent::Thinking(written.clone()), out),
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
                        say(ReplyEvent::Text(text(delta, "text").to_owned()), out);
                    }
                    ("thinking", "thinking_delta") => {
                        open.written.push_str(text(delta, "thinking"));
                        say(ReplyEvent::Thinking(text(delta, "thinking").to_owned()), out);
                    }
                    ("thinking", "signature_delta") => open.signature.push_str(text(delta, "signature")),
                    ("text" | "thinking", _) => {}
                    (_, "input_json_delta") => open.written.push_str(text(delta, "partial_json")),
                    _ => {}
                }
            }
            "content_block_stop" => {
                if let Some(open) = self.open.take() {
                    self.close(open, out);
                }
            }
            "message_delta" => {
                self.usage(data.get("usage"));
                self.draft.end = data.pointer("/delta/stop_reason").and_then(Value::as_str).map(end);
            }
            _ => {}
        }
    }

    pub(super) fn whole(&mut self, body: &Value) -> Option<()> {
        for block in body.get("content")?.as_array()? {
            let written = text(block, "text").to_owned() + text(block, "thinking");
            let signature = text(block, "signature").to_owned();
            self.close(OpenBlock { start: block.clone(), written, signature }, &mut Vec::new());
        }
        self.usage(body.get("usage"));
        let reason = body.get("stop_reason").and_then(Value::as_str);
        self.draft.end = Some(reason.map_or(ReplyEnd::Complete, end));
        Some(())
    }

    /// Returns the reply so far, including an interrupted block only if it is text.
    pub(super) fn into_draft(mut self) -> Draft {
        self.cut_open();
        self.draft
    }

    /// Closes an unfinished text block, and drops any other unfinished block.
    fn cut_open(&mut self) {
        if let Some(open) = self.open.take()
            && text(&open.start, "type") == "text"
        {
            self.close(open, &mut Vec::new());
        }
    }

    fn close(&mut self, open: OpenBlock, out: &mut Vec<ReplyEvent>) {
        let OpenBlock { start, written, signature } = open;
        match text(&start, "type") {
            "text" if written.is_empty() => {}
            "text" => self.draft.content.push(ContentBlock::Text { text: written }),
            "thinking" => {
                let signature = (!signature.is_empty()).then_some(signature);
                self.draft.content.push(ContentBlock::Thinking { text: written, signature });
            }
            "redacted_thinking" => {
                let data = text(&start, "data").to_owned();
                self.draft.content.push(ContentBlock::RedactedThinking { data });
            }
            kind => {
                let is_call = kind == "tool_use";
                let mut block = start;
                // The arguments of a server-side call are streamed like those of any other call.
                if let (false, Some(input)) = (written.is_empty(), block.get_mut("input")) {
                    *input = arguments(&written.into());
                }
                if is_call {
                    let input = arguments(block.get("input").unwrap_or(&Value::Null));
                    self.draft.call(text(&block, "id"), text(&block, "name"), input, out);
                } else {
                    self.draft.keep(Provider::Anthropic, block);
                }
            }
        }
    }

    /// Updates the usage. Counts are cumulative ("The token counts shown in the `usage` field of the
    /// `message_delta` event are cumulative"), so a smaller count, as some gateways send at the end, is ignored.
    fn usage(&mut self, billed: Option<&Value>) {
        let Some(billed) = billed else { return };
        let count = |field: &str, known: u64| number(billed, field).max(known);
        let known = self.draft.usage.unwrap_or_default();
        let usage = Usage {
            input: count("/input_tokens", known.input),
            output: count("/output_tokens", known.output),
            cache_read: count("/cache_read_input_tokens", known.cache_read),
            cache_write: count("/cache_creation_input_tokens", known.cache_write),
        };
        self.draft.usage = (usage != Usage::default()).then_some(usage);
    }
}

fn say(event: ReplyEvent, out: &mut Vec<ReplyEvent>) {
    if !matches!(&event, ReplyEvent::Text(text) | ReplyEvent::Thinking(text) if text.is_empty()) {
        out.push(event);
    }
}
