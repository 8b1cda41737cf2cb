//! How servers with OpenAI's API tell the window of a model: vLLM and SGLang in the list of models, llama.cpp in its
//! properties, and LM Studio in a list of its own.

use serde_json::Value;

use crate::providers::WindowStep;

pub(in crate::providers) fn step(model: &str, answers: &[Option<Value>]) -> WindowStep {
    let ask = |path| WindowStep::Ask { path, body: None };
    let is_llama = |entry: &Value| entry.get("owned_by").is_some_and(|owner| owner == "llamacpp");
    match answers {
        [] => WindowStep::Models,
        [list] => match list.as_ref().and_then(|list| entry(list, model)) {
            None => WindowStep::End(None),
            // https://github.com/vllm-project/vllm/blob/main/vllm/entrypoints/openai/models/protocol.py
            Some(entry) if entry.get("max_model_len").is_some() => {
                WindowStep::End(entry.get("max_model_len").and_then(Value::as_u64))
            }
            // https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md
            Some(entry) if is_llama(entry) => ask("props"),
            // https://lmstudio.ai/docs/developer/rest/endpoints
            Some(_) => ask("api/v0/models"),
        },
        [.., answer] => {
            let known = answer.as_ref().and_then(|answer| {
                let properties = answer.pointer("/default_generation_settings/n_ctx");
                properties.or_else(|| entry(answer, model)?.get("loaded_context_length"))?.as_u64()
            });
            WindowStep::End(known)
        }
    }
}

/// Returns the model's entry in a server's list of models. If the list has a single entry, returns that entry whatever
/// its name is: llama.cpp serves one model, and its name in the list may differ from the requested name.
fn entry<'a>(list: &'a Value, model: &str) -> Option<&'a Value> {
    match list.get("data")?.as_array()?.as_slice() {
        [only] => Some(only),
        all => all.iter().find(|entry| entry.get("id").is_some_and(|id| id == model)),
    }
}
