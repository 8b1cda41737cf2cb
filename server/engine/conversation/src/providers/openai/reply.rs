//! Assembles replies of OpenAI's Chat Completions API:
//! <https://platform.openai.com/docs/api-reference/chat-streaming>. Tolerates the deviations of compatible
//! servers.

use std::borrow::Cow;

use serde_json::{Map, Value};
use strata_base::json;

use crate::providers::reply::{
    ProviderError, ReplyDraft, ReplyEnd, StreamedReply, UsageFields, parse_arguments, parse_stop_reason, text,
};

/// Chat Completions, and the deviations of compatible servers:
/// - OpenAI: <https://platform.openai.com/docs/api-reference/chat/object>
/// - DeepSeek (`prompt_cache_hit_tokens`): <https://api-docs.deepseek.com/guides/kv_cache>
/// - Kimi (`cached_tokens`): <https://platform.moonshot.ai/docs/api/chat>
/// - LiteLLM (`cache_read_input_tokens`, `cache_creation_input_tokens`):
///   <https://docs.litellm.ai/docs/completion/prompt_caching>
const USAGE_FIELDS: UsageFields = UsageFields {
    prompt: &["/prompt_tokens"],
    output: &["/completion_tokens"],
    cache_read: &[
        "/prompt_tokens_details/cached_tokens",
        "/prompt_cache_hit_tokens",
        "/cached_tokens",
        "/cache_read_input_tokens",
    ],
    cache_write: &["/prompt_tokens_details/cache_write_tokens", "/cache_creation_input_tokens"],
    reasoning: &["/completion_tokens_details/reasoning_tokens"],
    total: &["/total_tokens"],
};

#[derive(Debug, Default)]
pub(super) struct StreamedChat {
    calls: Vec<OpenCall>,
    finish: Option<ReplyEnd>,
}

#[derive(Debug, Default)]
struct OpenCall {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

impl OpenCall {
    fn has_complete_arguments(&self) -> bool {
        json::from_str::<Map<String, Value>>(&self.arguments).is_ok()
    }
}

impl StreamedReply for StreamedChat {
    fn read_event(&mut self, _name: &str, data: &Value, draft: &mut ReplyDraft) {
        let choice = data.pointer("/choices/0");
        draft.has_begun |= choice.is_some() || data.get("usage").is_some();
        if let Some(choice) = choice {
            self.read_choice(choice, choice.get("delta").unwrap_or(&Value::Null), draft);
        }
        // The usage arrives with the last choice, or in a separate event after it. Some servers also report the
        // usage so far with each choice.
        let usage = data.get("usage").and_then(|billed| USAGE_FIELDS.read(billed));
        if usage.is_some() {
            draft.usage = usage;
            draft.end = self.finish.take();
        }
    }

    fn read_body(&mut self, body: &Value, draft: &mut ReplyDraft) -> Option<()> {
        let choice = body.pointer("/choices/0")?;
        self.read_choice(choice, choice.get("message")?, draft);
        self.close_calls(draft);
        draft.usage = body.get("usage").and_then(|billed| USAGE_FIELDS.read(billed));
        draft.end = Some(self.finish.take().unwrap_or(ReplyEnd::Complete));
        Some(())
    }

    /// Ends the reply with the last finish reason, if no other event has ended it. Needed because servers that
    /// do not report usage send nothing after that reason.
    fn end(&mut self, draft: &mut ReplyDraft) {
        if draft.end.is_none() {
            draft.end = self.finish.take();
        }
    }
}

impl StreamedChat {
    /// Adds a message, or a part of it, and notes its finish reason.
    fn read_choice(&mut self, choice: &Value, message: &Value, draft: &mut ReplyDraft) {
        read_reasoning(message, draft);
        match message.get("content") {
            Some(Value::Array(parts)) => parts.iter().for_each(|content| read_part(content, draft)),
            _ => draft.push_text(text(message, "content")),
        }
        draft.push_text(text(message, "refusal"));
        for call in message.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            self.add_call_delta(call);
        }
        let reason = Some(text(choice, "finish_reason")).filter(|reason| !reason.is_empty());
        let finish =
            ProviderError::from_value(choice).map(ReplyEnd::Failed).or(reason.map(parse_stop_reason));
        if finish.is_some() {
            self.close_calls(draft);
            self.finish = finish;
        }
    }

    /// Adds a part of a call to the call that it belongs to.
    fn add_call_delta(&mut self, delta: &Value) {
        let function = delta.get("function").unwrap_or(&Value::Null);
        let (id, name) = (text(delta, "id"), text(function, "name"));
        let index = delta.get("index").and_then(Value::as_u64);
        let at = self.find_call(id, index, function).unwrap_or_else(|| {
            self.calls.push(OpenCall { index, id: id.to_owned(), ..OpenCall::default() });
            self.calls.len() - 1
        });
        let Some(call) = self.calls.get_mut(at) else { return };
        if call.id.is_empty() {
            id.clone_into(&mut call.id);
        }
        // Some servers repeat the name in each part.
        if name != call.name {
            call.name.push_str(name);
        }
        call.arguments.push_str(&arguments_text(function));
    }

    /// Returns the position of the call that a part belongs to: by its id, then by its index, then the latest
    /// one. `None` if the part begins a call.
    ///
    /// In the documented form, each part has an index, and only the first has an id and a name. Deviations:
    /// - all calls have the index 0: <https://github.com/ollama/ollama/issues/15457>
    /// - no index: <https://github.com/ollama/ollama/issues/7881>
    /// - the id in each part: <https://github.com/langchain4j/langchain4j/pull/4544>
    /// - the name in each part: <https://github.com/ggml-org/llama.cpp/issues/13774>
    fn find_call(&self, id: &str, index: Option<u64>, function: &Value) -> Option<usize> {
        let by_id = self.calls.iter().rposition(|call| !id.is_empty() && call.id == id);
        if by_id.is_some() {
            return by_id;
        }
        let at = self.calls.iter().rposition(|call| index.is_none() || call.index == index)?;
        let call = self.calls.get(at)?;
        let has_other_id = !id.is_empty() && !call.id.is_empty();
        let has_more = !arguments_text(function).is_empty() && call.has_complete_arguments();
        let begins = !text(function, "name").is_empty() && (has_other_id || has_more);
        (!begins).then_some(at)
    }

    fn close_calls(&mut self, draft: &mut ReplyDraft) {
        for (at, call) in std::mem::take(&mut self.calls).into_iter().enumerate() {
            // Some servers do not assign ids to calls.
            let id = if call.id.is_empty() { format!("call_{at}") } else { call.id };
            draft.push_call(&id, &call.name, parse_arguments(&call.arguments.into()));
        }
    }
}

/// Reads a part of a message whose content is a list, as Mistral's reasoning models send it:
/// <https://docs.mistral.ai/capabilities/reasoning/>.
fn read_part(part: &Value, draft: &mut ReplyDraft) {
    match part.get("thinking") {
        Some(Value::Array(thoughts)) => {
            thoughts.iter().for_each(|part| draft.emit_thinking(text(part, "text")));
        }
        Some(thought) => draft.emit_thinking(thought.as_str().unwrap_or_default()),
        None => draft.push_text(part.as_str().unwrap_or_else(|| text(part, "text"))),
    }
}

/// Reads reasoning from the fields that DeepSeek, vLLM and OpenRouter use. Reasoning is shown but not
/// stored, because the API does not accept it in requests.
fn read_reasoning(delta: &Value, draft: &mut ReplyDraft) {
    let thought = [text(delta, "reasoning_content"), text(delta, "reasoning")];
    if let Some(thought) = thought.into_iter().find(|thought| !thought.is_empty()) {
        draft.emit_thinking(thought);
    }
}

/// Returns the arguments of a call as text. Some servers send them as an object.
fn arguments_text(function: &Value) -> Cow<'_, str> {
    match function.get("arguments") {
        Some(Value::String(written)) => written.into(),
        Some(written @ Value::Object(_)) => written.to_string().into(),
        _ => "".into(),
    }
}
