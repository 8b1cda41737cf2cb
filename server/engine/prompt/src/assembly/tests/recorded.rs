//! Any conversation leads to a next prompt that its provider accepts.

use serde_json::{Value, json};
use strata_conversation::history::{
    ContentBlock, Foreign, ForeignProvider, Image, ImageSource, NewMessage, PICTURE_LEFT_OUT, Role,
};
use strata_conversation::providers::Format;

use super::fixture::Bench;
use crate::assembly::PromptRequest;
use crate::wire::Body;

/// The header of a PNG file, 8 pixels wide and 9 high.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAJCAIAAAAAAAAA";

fn picture(media_type: &str, data: String) -> ContentBlock {
    let source = ImageSource::Base64 { media_type: media_type.into(), data };
    ContentBlock::Image(Image { source, width: None, height: None })
}

/// Assembles the next request after one exchange and the recorded messages.
#[track_caller]
fn next(recorded: Vec<NewMessage>, format: Format, model: &str) -> Value {
    let mut bench = Bench::new("");
    bench.add_exchange("look", "I look");
    for message in recorded {
        bench.session.history.add(message);
    }
    let prompt_request =
        PromptRequest { format: Some(format), model: Some(model.into()), ..PromptRequest::prompt("and?") };
    match bench.assemble(&prompt_request).unwrap_or_else(|error| panic!("{format:?}: {error}")).reply.body {
        Body::Json(body) => body,
        Body::Text(_) => unreachable!("both formats are JSON"),
    }
}

#[test]
fn invalid_images_are_replaced_by_a_note() {
    for format in [Format::Anthropic, Format::OpenAi] {
        let shown = vec![picture("image/png", "AAAA".into()), picture("image/jpeg", PNG.into())];
        let body = next(vec![NewMessage::new(Role::User, shown)], format, "claude-opus-4-5").to_string();
        assert!(body.contains(PICTURE_LEFT_OUT), "{body}");
        assert!(body.contains("image/png") && !body.contains("image/jpeg"), "{body}");
    }
}

#[test]
fn images_beyond_the_request_size_limit_are_replaced_by_a_note() {
    let data = PNG.to_owned() + &"A".repeat(7 * 512 * 1024 - PNG.len());
    let shown = (0..10).map(|_| NewMessage::new(Role::User, vec![picture("image/png", data.clone())]));
    let body = next(shown.collect(), Format::Anthropic, "claude-opus-4-5").to_string();
    assert_eq!((body.matches("\"image/png\"").count(), body.matches(PICTURE_LEFT_OUT).count()), (6, 4));
}

#[test]
fn a_text_over_the_string_limit_is_sent_in_parts() {
    let long = format!("x{}x", " ".repeat(1_100_000));
    let body = next(vec![NewMessage::text(Role::User, long.as_str())], Format::OpenAi, "gpt-4.1");
    let messages = body["messages"].as_array().unwrap();
    let parts = messages.iter().filter_map(|message| message["content"].as_array()).flatten();
    let texts: String = parts.filter_map(|part| part["text"].as_str()).collect();
    assert!(texts.contains(&long));
}

#[test]
fn invalid_foreign_blocks_are_left_out() {
    let source = json!({"type": "text", "media_type": "text/plain", "data": "the whole document"});
    let marked = |mark: Value| json!({"type": "document", "source": source, "cache_control": mark});
    let call = json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}});
    let result = json!({"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []});
    let message = |role, values: &[&Value]| {
        let block = |value: &&Value| {
            ContentBlock::Foreign(Foreign { provider: ForeignProvider::Anthropic, value: (*value).clone() })
        };
        NewMessage::new(role, values.iter().map(block).collect())
    };
    let sent = |message| next(vec![message], Format::Anthropic, "claude-opus-4-5").to_string();
    for half in [&call, &result] {
        assert!(!sent(message(Role::Assistant, &[half])).contains("srvtoolu_1"), "{half}");
    }
    assert!(sent(message(Role::Assistant, &[&call, &result])).contains("web_search_tool_result"));
    let empty = json!({"type": "document", "title": "without a source"});
    assert!(!sent(message(Role::User, &[&empty])).contains("without a source"));
    for mark in [json!({"type": "ephemeral", "ttl": "1h"}), json!({"type": "lasting"}), json!(null)] {
        let document = marked(mark);
        let body = sent(message(Role::User, &[&document; 5]));
        assert_eq!(body.matches("the whole document").count(), 5, "{body}");
    }
}
