//! Fields of a request body besides its messages: streaming and the output limit. Also builds whole bodies
//! that ask a single question. Does not set cache marks.

use serde_json::{Map, Value, json};

use super::format::Format;

/// Maximum window that Strata requests from Ollama for a question, in tokens.
const WIDEST: usize = 1 << 17;

/// Adds the fields that request a streamed reply. Gemini and Bedrock have a separate URL for streams, and Markdown is
/// never sent.
pub fn ask_for_stream(format: Format, body: &mut Value) {
    let Some(fields) = body.as_object_mut() else { return };
    match format {
        Format::Anthropic | Format::Responses => {
            fields.insert("stream".into(), true.into());
        }
        Format::OpenAi => {
            fields.insert("stream".into(), true.into());
            // Otherwise the stream does not report the usage.
            fields.insert("stream_options".into(), json!({"include_usage": true}));
        }
        Format::Gemini | Format::Bedrock | Format::Markdown => {}
    }
}

/// Limits the reply to `tokens`, in the field that the model supports. Keeps an existing limit.
pub fn limit_output(format: Format, model: &str, body: &mut Value, tokens: usize) {
    let Some(fields) = body.as_object_mut() else { return };
    let (group, name) = match format {
        Format::Anthropic => (None, "max_tokens"),
        // OpenAI: "`max_tokens` is not supported with this model. Use `max_completion_tokens` instead."
        Format::OpenAi if reasons(model) => (None, "max_completion_tokens"),
        Format::OpenAi => (None, "max_tokens"),
        Format::Responses => (None, "max_output_tokens"),
        Format::Gemini => (Some("generationConfig"), "maxOutputTokens"),
        Format::Bedrock => (Some("inferenceConfig"), "maxTokens"),
        Format::Markdown => return,
    };
    let fields = match group {
        None => fields,
        Some(group) => {
            let group = fields.entry(group).or_insert_with(|| Value::Object(Map::new()));
            let Some(group) = group.as_object_mut() else { return };
            group
        }
    };
    fields.entry(name).or_insert_with(|| tokens.into());
}

/// Builds a body that asks one question. Content is a plain string wherever the API allows it, because every
/// compatible server accepts that. Does not support Markdown, which is never sent.
pub fn question(format: Format, model: &str, system: &str, prompt: &str, output_tokens: usize) -> Value {
    let system = Some(system).filter(|system| !system.is_empty());
    let mut body = match format {
        Format::Anthropic => {
            let mut body = json!({"model": model, "messages": [{"role": "user", "content": prompt}]});
            insert(&mut body, "system", system.map(Value::from));
            body
        }
        Format::OpenAi => json!({"model": model, "messages": messages(system, prompt)}),
        Format::Responses => {
            let input = json!([{"type": "message", "role": "user", "content": [{"type": "input_text", "text": prompt}]}]);
            let mut body = json!({"model": model, "store": false, "input": input});
            insert(&mut body, "instructions", system.map(Value::from));
            body
        }
        Format::Gemini => {
            let mut body =
                json!({"model": model, "contents": [{"role": "user", "parts": [{"text": prompt}]}]});
            insert(&mut body, "systemInstruction", system.map(|text| json!({"parts": [{"text": text}]})));
            body
        }
        Format::Bedrock => {
            let mut body =
                json!({"modelId": model, "messages": [{"role": "user", "content": [{"text": prompt}]}]});
            insert(&mut body, "system", system.map(|text| json!([{"text": text}])));
            body
        }
        Format::Markdown => Value::Object(Map::new()),
    };
    limit_output(format, model, &mut body, output_tokens);
    body
}

/// Builds a question for Ollama's native API (<https://github.com/ollama/ollama/blob/main/docs/api.md>), the
/// only one that can set the window size. Ollama's default is 4,096 tokens, and it silently drops the beginning
/// of longer prompts. The size is a power of two, because Ollama reloads the model for every new size.
pub fn ollama_question(model: &str, system: &str, prompt: &str, output_tokens: usize) -> Value {
    let needed = (system.len() + prompt.len()) / 3 + output_tokens.saturating_add(256).min(WIDEST);
    let window = needed.min(WIDEST).next_power_of_two().max(1 << 12);
    let system = Some(system).filter(|system| !system.is_empty());
    json!({
        "model": model,
        "messages": messages(system, prompt),
        "stream": false,
        "options": {"num_predict": output_tokens, "num_ctx": window},
    })
}

fn messages(system: Option<&str>, prompt: &str) -> Vec<Value> {
    let message = |role: &str, text: &str| json!({"role": role, "content": text});
    system.map(|text| message("system", text)).into_iter().chain([message("user", prompt)]).collect()
}

fn insert(body: &mut Value, field: &str, value: Option<Value>) {
    if let (Some(fields), Some(value)) = (body.as_object_mut(), value) {
        fields.insert(field.into(), value);
    }
}

/// Whether a model is one of OpenAI's reasoning models, such as `gpt-5` and later, `o1` or `o3-mini`. Does not
/// recognize names with a proxy's prefix, or models of other vendors.
fn reasons(model: &str) -> bool {
    let is_generation = |rest: &str| {
        let number = rest.split(['.', '-']).next().unwrap_or_default();
        // OpenAI's versions have one digit, unlike `gpt-45`.
        number.len() == 1 && ("5"..="9").contains(&number)
    };
    let is_series = |rest: &str| {
        let mut rest = rest.chars();
        rest.next().is_some_and(|first| first.is_ascii_digit())
            && rest.next().is_none_or(|next| next == '-' || next.is_ascii_digit())
    };
    model.strip_prefix("gpt-").is_some_and(is_generation) || model.strip_prefix('o').is_some_and(is_series)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::dialect::check;

    #[test]
    fn questions_keep_the_providers_rules() {
        for format in [Format::Anthropic, Format::OpenAi, Format::Responses, Format::Gemini, Format::Bedrock]
        {
            for system in ["", "You summarise."] {
                let body = question(format, "gpt-4o", system, "What was done?", 500);
                assert!(check(format, &body).is_empty(), "{format:?}: {body:#}: {:?}", check(format, &body));
                let text = body.to_string();
                assert!(text.contains("What was done?") && text.contains("500"), "{text}");
                assert_eq!(text.contains("You summarise."), !system.is_empty(), "{text}");
            }
        }
    }

    #[test]
    fn models_that_reason_have_their_limit_in_the_newer_field() {
        for (model, field) in [
            ("gpt-5", "max_completion_tokens"),
            ("gpt-5.1-mini", "max_completion_tokens"),
            ("gpt-6", "max_completion_tokens"),
            ("o1", "max_completion_tokens"),
            ("o4-mini-2025-04-16", "max_completion_tokens"),
            ("gpt-4o", "max_tokens"),
            ("gpt-45", "max_tokens"),
            ("openai/gpt-5", "max_tokens"),
            ("olmo", "max_tokens"),
            ("o1x", "max_tokens"),
            ("", "max_tokens"),
        ] {
            let mut body = json!({});
            limit_output(Format::OpenAi, model, &mut body, 7);
            assert_eq!(body, json!({field: 7}), "{model}");
        }
    }

    #[test]
    fn a_limit_that_is_there_stays() {
        let mut body = json!({"generationConfig": {"temperature": 0, "maxOutputTokens": 3}});
        limit_output(Format::Gemini, "gemini-3-flash", &mut body, 7);
        assert_eq!(body, json!({"generationConfig": {"temperature": 0, "maxOutputTokens": 3}}));
    }

    #[test]
    fn only_bodies_that_say_so_are_streamed() {
        for (format, said) in [
            (Format::Anthropic, json!({"stream": true})),
            (Format::OpenAi, json!({"stream": true, "stream_options": {"include_usage": true}})),
            (Format::Responses, json!({"stream": true})),
            (Format::Gemini, json!({})),
        ] {
            let mut body = json!({});
            ask_for_stream(format, &mut body);
            assert_eq!(body, said, "{format:?}");
        }
    }

    #[test]
    fn ollama_opens_a_window_that_holds_the_question() {
        let window = |prompt: &str, output| {
            ollama_question("m", "", prompt, output).pointer("/options/num_ctx").and_then(Value::as_u64)
        };
        assert_eq!(window("short", 500), Some(4_096));
        assert_eq!(window(&"word ".repeat(10_000), 500), Some(32_768));
        assert_eq!(window("short", usize::MAX), Some(131_072));
    }
}
