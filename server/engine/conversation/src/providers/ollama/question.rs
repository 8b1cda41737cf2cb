//! Questions to Ollama's native chat API, the only one that can set the size of the window. The default is 4,096
//! tokens, and the beginning of longer prompts is silently dropped.

use serde_json::{Value, json};
use strata_tokens::cost::Usage;

use crate::providers::reply::{
    ProviderError, Reply, ReplyDraft, ReplyEnd, StreamedReply, count_at_pointer, parse_stop_reason, text,
};

/// Maximum window to request, in tokens.
const MAX_WINDOW_TOKENS: usize = 1 << 17;

/// Writes a question. The size of the window is a power of two, because Ollama reloads the model for every new size.
pub(super) fn body(model: &str, system: &str, prompt: &str, output_tokens: usize) -> Value {
    let needed = (system.len() + prompt.len()) / 3 + output_tokens.saturating_add(256).min(MAX_WINDOW_TOKENS);
    let window = needed.min(MAX_WINDOW_TOKENS).next_power_of_two().max(1 << 12);
    let message = |role: &str, text: &str| json!({"role": role, "content": text});
    let system = (!system.is_empty()).then(|| message("system", system));
    json!({
        "model": model,
        "messages": system.into_iter().chain([message("user", prompt)]).collect::<Vec<_>>(),
        "stream": false,
        "options": {"num_predict": output_tokens, "num_ctx": window},
    })
}

/// Decodes the answer.
pub(super) fn read_answer(body: &[u8]) -> Result<Reply, ProviderError> {
    Reply::from_body(&mut OllamaAnswer, body)
}

#[derive(Debug)]
struct OllamaAnswer;

impl StreamedReply for OllamaAnswer {
    fn read_event(&mut self, _name: &str, _data: &Value, _draft: &mut ReplyDraft) {}

    fn read_body(&mut self, body: &Value, draft: &mut ReplyDraft) -> Option<()> {
        draft.push_text(body.pointer("/message/content").and_then(Value::as_str)?);
        let reason = Some(text(body, "done_reason")).filter(|reason| !reason.is_empty());
        draft.end = Some(reason.map_or(ReplyEnd::Complete, parse_stop_reason));
        let (input, output) =
            (count_at_pointer(body, "/prompt_eval_count"), count_at_pointer(body, "/eval_count"));
        draft.usage = Some(Usage { input, output, cache_read: 0, cache_write: 0 });
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ollama_opens_a_window_that_holds_the_question() {
        let window = |prompt: &str, output| {
            body("m", "", prompt, output).pointer("/options/num_ctx").and_then(Value::as_u64)
        };
        assert_eq!(window("short", 500), Some(4_096));
        assert_eq!(window(&"word ".repeat(10_000), 500), Some(32_768));
        assert_eq!(window("short", usize::MAX), Some(131_072));
    }
}
