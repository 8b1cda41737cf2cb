//! Assembles replies of OpenAI's Chat Completions API:
//! <https://platform.openai.com/docs/api-reference/chat-streaming>. Tolerates the deviations of compatible
//! servers.

use serde_json::Value;

use super::draft::{Draft, ReplyEnd, ReplyEvent, arguments, number, text};
use super::error::ProviderError;
use crate::tokens::cost::Usage;

#[derive(Debug, Default)]
pub(super) struct Assembly {
    pub(super) draft: Draft,
    calls: Vec<OpenCall>,
    finish: Option<ReplyEnd>,
}

#[derive(Debug, Default)]
struct OpenCall {
    index: u64,
    id: String,
    name: String,
    arguments: String,
}

impl Assembly {
    pub(super) fn event(&mut self, data: &Value, out: &mut Vec<ReplyEvent>) {
        let choice = data.pointer("/choices/0");
        self.draft.has_begun |= choice.is_some() || data.get("usage").is_some();
        if let Some(choice) = choice {
            let delta = choice.get("delta").unwrap_or(&Value::Null);
            self.thought(delta, out);
            self.draft.say(text(delta, "content"), out);
            self.draft.say(text(delta, "refusal"), out);
            for call in delta.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
                self.call_delta(call);
            }
            if let Some(reason) = choice.get("finish_reason").and_then(Value::as_str) {
                self.close_calls(out);
                self.finish = Some(end(reason));
            }
        }
        self.usage(data.get("usage"));
        // The usage arrives with the last choice, or in a separate event after it.
        if self.draft.usage.is_some() {
            self.draft.end = self.finish.take();
        }
    }

    pub(super) fn whole(&mut self, body: &Value) -> Option<()> {
        let choice = body.pointer("/choices/0")?;
        let (message, mut out) = (choice.get("message")?, Vec::new());
        self.draft.say(text(message, "content"), &mut out);
        self.draft.say(text(message, "refusal"), &mut out);
        for call in message.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            let written = call.pointer("/function/arguments").and_then(Value::as_str).unwrap_or_default();
            let name = call.get("function").map(|function| text(function, "name")).unwrap_or_default();
            self.draft.call(text(call, "id"), name, arguments(written), &mut out);
        }
        self.usage(body.get("usage"));
        self.draft.end = Some(end(text(choice, "finish_reason")));
        Some(())
    }

    /// Ends the reply with the last finish reason, if no other event has ended it. Needed because servers that
    /// do not report usage send nothing after that reason.
    pub(super) fn end(&mut self) {
        if self.draft.end.is_none() {
            self.draft.end = self.finish.take();
        }
    }

    pub(super) fn into_draft(mut self) -> Draft {
        self.end();
        self.draft
    }

    /// Reads reasoning from the fields that DeepSeek, vLLM and OpenRouter use. Reasoning is shown but not
    /// stored, because the API does not accept it in requests.
    fn thought(&self, delta: &Value, out: &mut Vec<ReplyEvent>) {
        let thought = [text(delta, "reasoning_content"), text(delta, "reasoning")];
        if let Some(thought) = thought.into_iter().find(|thought| !thought.is_empty()) {
            out.push(ReplyEvent::Thinking(thought.to_owned()));
        }
    }

    fn call_delta(&mut self, delta: &Value) {
        let index = number(delta, "/index");
        let at = self.calls.iter().position(|call| call.index == index).unwrap_or_else(|| {
            self.calls.push(OpenCall { index, ..OpenCall::default() });
            self.calls.len() - 1
        });
        let Some(call) = self.calls.get_mut(at) else { return };
        let function = delta.get("function").unwrap_or(&Value::Null);
        call.id.push_str(text(delta, "id"));
        call.name.push_str(text(function, "name"));
        call.arguments.push_str(text(function, "arguments"));
    }

    fn close_calls(&mut self, out: &mut Vec<ReplyEvent>) {
        for (at, call) in std::mem::take(&mut self.calls).into_iter().enumerate() {
            // Some servers do not assign ids to calls.
            let id = if call.id.is_empty() { format!("call_{at}") } else { call.id };
            self.draft.call(&id, &call.name, arguments(&call.arguments), out);
        }
    }

    fn usage(&mut self, billed: Option<&Value>) {
        let Some(billed) = billed.filter(|billed| billed.is_object()) else { return };
        let cache_read = number(billed, "/prompt_tokens_details/cached_tokens");
        let cache_write = number(billed, "/prompt_tokens_details/cache_write_tokens");
        let input = number(billed, "/prompt_tokens").saturating_sub(cache_read + cache_write);
        let output = number(billed, "/completion_tokens");
        self.draft.usage = Some(Usage { input, output, cache_read, cache_write });
    }
}

fn end(finish_reason: &str) -> ReplyEnd {
    match finish_reason {
        "tool_calls" | "function_call" => ReplyEnd::ToolCalls,
        "length" => ReplyEnd::OutputLimit,
        "content_filter" => {
            ReplyEnd::Failed(ProviderError::content("the provider's content filter stopped the answer"))
        }
        _ => ReplyEnd::Complete,
    }
}
