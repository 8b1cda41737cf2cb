//! How servers with OpenAI's API tell the window of a model: vLLM and SGLang in the list of models, llama.cpp in its
//! properties, and LM Studio in a list of its own.

use serde_json::Value;

use crate::providers::WindowLookupStep;

pub(in crate::providers) fn next_lookup_step(model: &str, answers: &[Option<Value>]) -> WindowLookupStep {
    let ask = |path| WindowLookupStep::Ask { path, body: None };
    let is_llama = |entry: &Value| entry.get("owned_by").is_some_and(|owner| owner == "llamacpp");
    match answers {
        [] => WindowLookupStep::Models,
        [list] => match list.as_ref().and_then(|list| model_entry(list, model)) {
            None => WindowLookupStep::End(None),
            // https://github.com/vllm-project/vllm/blob/main/vllm/entrypoints/openai/models/protocol.py
            Some(entry) if entry.get("max_model_len").is_some() => {
                WindowLookupStep::End(entry.get("max_model_len").and_then(Value::as_u64))
            }
            // https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md
            Some(entry) if is_llama(entry) => ask("props"),
            // https://lmstudio.ai/docs/developer/rest/endpoints
            Some(_) => ask("api/v0/models"),
        },
        [.., answer] => {
            let known = answer.as_ref().and_then(|answer| {
                let properties = answer.pointer("/default_generation_settings/n_ctx");
                properties.or_else(|| model_entry(answer, model)?.get("loaded_context_length"))?.as_u64()
            });
            WindowLookupStep::End(known)
        }
    }
}

/// Returns the model's entry in a server's list of models. If the list has a single entry, returns that entry whatever
/// its name is: llama.cpp serves one model, and its name in the list may differ from the requested name.
fn model_entry<'a>(list: &'a Value, model: &str) -> Option<&'a Value> {
    match list.get("data")?.as_array()?.as_slice() {
        [only] => Some(only),
        all => all.iter().find(|entry| entry.get("id").is_some_and(|id| id == model)),
    }
}
