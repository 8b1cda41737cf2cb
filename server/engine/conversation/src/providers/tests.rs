//! Properties of every provider in the list.

use serde_json::{Value, json};
use strata_tokens::models::Models;

use super::*;

fn dialects() -> impl Iterator<Item = (Format, &'static dyn Dialect)> {
    Format::ALL.iter().filter_map(|format| Some((*format, format.dialect()?)))
}

fn limited(format: Format, mut body: Value) -> Value {
    format.dialect().unwrap().limit_output(&mut body, 7);
    body
}

#[test]
fn question_bodies_follow_the_providers_rules() {
    for (format, dialect) in dialects() {
        for system in ["", "You summarise."] {
            let body = dialect.question("gpt-4o", system, "What was done?", 500);
            assert_eq!(dialect.check(&body), [], "{format:?}: {body:#}");
            let text = body.to_string();
            assert!(text.contains("What was done?") && text.contains("500"), "{text}");
            assert_eq!(text.contains("You summarise."), !system.is_empty(), "{text}");
            assert_eq!(body[dialect.properties().model_field], "gpt-4o", "{text}");
        }
    }
}

#[test]
fn fields_that_strata_writes_are_reserved() {
    for (format, dialect) in dialects() {
        let body = dialect.question_body("m", "You summarise.", "What was done?");
        for field in body.as_object().unwrap().keys() {
            assert!(!format.can_add_field(field) || field == "include", "{format:?} {field}");
        }
        assert!(format.can_add_field("temperature"));
    }
    assert!(!Format::Markdown.can_add_field("temperature"));
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
        let body = limited(Format::OpenAi, json!({"model": model}));
        assert_eq!(body, json!({"model": model, field: 7}), "{model}");
    }
}

#[test]
fn models_that_do_not_reason_are_not_asked_for_encrypted_reasoning() {
    for (model, includes) in [
        ("gpt-5.1", true),
        ("openai/o3-mini", true),
        ("other", true),
        ("gpt-3.5-turbo", false),
        ("gpt-4.1", false),
        ("openai/gpt-4o-mini", false),
        ("chatgpt-4o-latest", false),
    ] {
        let body = Format::Responses.dialect().unwrap().body(&[], &Envelope::without_tools(model)).fields;
        assert_eq!(body.contains_key("include"), includes, "{model}");
    }
}

#[test]
fn an_existing_output_limit_is_kept() {
    let body = json!({"generationConfig": {"temperature": 0, "maxOutputTokens": 3}});
    assert_eq!(limited(Format::Gemini, body.clone()), body);
    let body = json!({"generationConfig": 5});
    assert_eq!(limited(Format::Gemini, body.clone()), body);
}

#[test]
fn only_bodies_that_ask_for_a_stream_are_streamed() {
    for (format, fields) in [
        (Format::Anthropic, json!({"stream": true})),
        (Format::OpenAi, json!({"stream": true, "stream_options": {"include_usage": true}})),
        (Format::Responses, json!({"stream": true})),
        (Format::Gemini, json!({})),
        (Format::Bedrock, json!({})),
    ] {
        let mut body = json!({});
        format.dialect().unwrap().ask_for_stream(&mut body);
        assert_eq!(body, fields, "{format:?}");
    }
}

#[test]
fn the_model_is_in_the_url_of_all_requests_or_of_none() {
    for provider in ProviderName::ALL {
        let endpoint = provider.endpoint();
        let has_model = |path: &str| path.contains("{model}");
        assert_eq!(
            has_model(endpoint.path),
            has_model(endpoint.stream_path.unwrap_or(endpoint.path)),
            "{provider:?}"
        );
        assert!(endpoint.base_url.contains("REGION") != endpoint.region_variables.is_empty(), "{provider:?}");
    }
}

#[test]
fn openai_takes_breakpoints_for_models_with_explicit_caching() {
    for (name, breakpoints) in [
        ("gpt-5.6", BreakpointMode::Explicit),
        ("openai/gpt-5.6-terra", BreakpointMode::Explicit),
        ("openrouter/openai/gpt-5.6-sol:free", BreakpointMode::Explicit),
        ("gpt-7", BreakpointMode::Explicit),
        ("gpt-5.5", BreakpointMode::Automatic),
        ("gpt-oss-20b", BreakpointMode::Automatic),
        ("claude-opus-5-5", BreakpointMode::Automatic),
    ] {
        assert_eq!(BreakpointMode::for_model(&Models::builtin().resolve(name).model), breakpoints, "{name}");
    }
}
