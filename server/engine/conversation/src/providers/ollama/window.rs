//! How Ollama tells the window of a model: that of the loaded model, or else that in the model's file, or else the
//! model is loaded, as the next request would do:
//! <https://docs.ollama.com/api/ps>, <https://docs.ollama.com/api/show>, <https://docs.ollama.com/api/generate>.

use serde_json::{Value, json};

use crate::providers::WindowLookupStep;

pub(super) fn next_lookup_step(model: &str, answers: &[Option<Value>]) -> WindowLookupStep {
    let running = || WindowLookupStep::Ask { path: "api/ps", body: None };
    match answers {
        [] => running(),
        [list] => match loaded_window(list.as_ref(), model) {
            None => WindowLookupStep::Ask { path: "api/show", body: Some(json!({"model": model})) },
            known => WindowLookupStep::End(known),
        },
        [_, None] => WindowLookupStep::End(None),
        [_, Some(shown)] => {
            let parameters = shown.get("parameters").and_then(Value::as_str).unwrap_or_default();
            match parameters.lines().find_map(|line| line.strip_prefix("num_ctx")?.trim().parse().ok()) {
                None => WindowLookupStep::Load {
                    path: "api/generate",
                    body: json!({"model": model, "stream": false}),
                },
                known => WindowLookupStep::End(known),
            }
        }
        [_, _, _] => running(),
        [.., list] => WindowLookupStep::End(loaded_window(list.as_ref(), model)),
    }
}

/// Returns the window of `model` in a list of running models.
fn loaded_window(list: Option<&Value>, model: &str) -> Option<u64> {
    let is_ours = |entry: &&Value| {
        let name = entry.get("model").or(entry.get("name")).and_then(Value::as_str).unwrap_or_default();
        name == model || name.strip_suffix(":latest") == Some(model)
    };
    list?.get("models")?.as_array()?.iter().find(is_ours)?.get("context_length")?.as_u64()
}
