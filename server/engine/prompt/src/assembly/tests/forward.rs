//! Requests for conversations that a client keeps.

use serde_json::{Value, json};
use strata_conversation::history::{
    ContentBlock, Image, ImageSource, Message, MessageId, NewMessage, ResultPart, Role, ToolOutcome,
};
use strata_conversation::providers::{Format, Rule, Tool, check};
use strata_tokens::counting::TokenCounter;
use strata_tokens::models::Models;

use crate::assembly::{AssembleError, ClientConversation, PromptServices, build_forwarded_request};
use crate::settings::Settings;
use crate::wire::Body;

/// A model of each dialect, and the field that marks a breakpoint in its body, if it has one.
const DIALECTS: [(Format, &str, Option<&str>); 5] = [
    (Format::Anthropic, "claude-sonnet-5-5", Some("cache_control")),
    (Format::OpenAi, "gpt-5.6-sol", Some("prompt_cache_breakpoint")),
    (Format::OpenAi, "gpt-5.1", None),
    (Format::Responses, "gpt-5.6-sol", Some("prompt_cache_breakpoint")),
    (Format::Gemini, "gemini-3-flash", None),
];

fn body_of(
    system: &str,
    messages: &[NewMessage],
    (format, model): (Format, &str),
) -> Result<Value, AssembleError> {
    let messages: Vec<Message> =
        (0..).map(MessageId).zip(messages.to_vec()).map(|(id, body)| Message { id, body }).collect();
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    let tools =
        [Tool { name: "read".to_owned(), description: "Reads a file.".to_owned(), input_schema: schema }];
    let conversation = ClientConversation { system, tools: &tools, messages: &messages };
    let (models, counter, settings) = (Models::builtin(), TokenCounter::default(), Settings::default());
    let services = PromptServices { models: &models, counter: &counter, settings: &settings };
    match build_forwarded_request(conversation, format, model, services)?.body {
        Body::Json(body) => Ok(body),
        Body::Text(text) => panic!("{format:?} has no JSON body: {text}"),
    }
}

/// Creates questions and answers. For every second question, the model calls a tool.
fn talk(turns: usize) -> Vec<NewMessage> {
    let mut messages = Vec::new();
    for turn in 0..turns {
        messages.push(NewMessage::text(Role::User, format!("Question {turn}?")));
        if turn % 2 == 1 {
            let (id, name) = (format!("call_{turn}"), "read".to_owned());
            let call = ContentBlock::ToolCall { id: id.clone(), name, input: json!({"path": "a.py"}) };
            let answer = vec![ContentBlock::text("I look."), call];
            messages.push(NewMessage::new(Role::Assistant, answer));
            let content = vec![ResultPart::Text { text: format!("line {turn}") }];
            let result = ContentBlock::ToolResult { call_id: id, content, outcome: ToolOutcome::Ok };
            messages.push(NewMessage::new(Role::User, vec![result]));
        }
        messages.push(NewMessage::text(Role::Assistant, format!("Answer {turn}.")));
    }
    messages
}

fn requests(dialect: (Format, &str)) -> Vec<Value> {
    let talk = talk(6);
    let ends = (1..=talk.len()).filter(|end| talk[end - 1].role == Role::User);
    ends.map(|end| body_of("Be brief.", &talk[..end], dialect).unwrap()).collect()
}

/// Returns everything that a provider caches as a prefix, piece by piece, and the pieces that a breakpoint follows.
fn prefix(body: &Value, mark: Option<&str>) -> (Vec<String>, Vec<usize>) {
    let (mut pieces, mut marks) = (vec![body["tools"].to_string()], Vec::new());
    let parts = ["system", "systemInstruction", "messages", "input", "contents"].map(|field| &body[field]);
    for message in parts.iter().filter_map(|list| list.as_array()).flatten() {
        let content = match (&message["content"], &message["output"]) {
            (Value::Array(blocks), _) | (_, Value::Array(blocks)) => blocks.clone(),
            // Content with a breakpoint is a list. The same content without one may be a plain text.
            (Value::String(text), _) => vec![json!({"type": "text", "text": text})],
            _ => vec![message.clone()],
        };
        pieces.extend(message.get("tool_calls").map(Value::to_string));
        for mut block in content {
            let marked = mark.and_then(|mark| block.as_object_mut()?.shift_remove(mark)).is_some();
            pieces.push(format!("{} {block}", message["role"]));
            marks.extend(marked.then_some(pieces.len()));
        }
    }
    (pieces, marks)
}

#[test]
fn each_request_extends_the_previous_one_and_finds_its_cache_entry() {
    for (format, model, mark) in DIALECTS {
        let requests = requests((format, model));
        assert_eq!(requests.len(), 9);
        for body in &requests {
            assert!(check(format, body).is_empty(), "{format:?}: {body:#}: {:?}", check(format, body));
        }
        for pair in requests.windows(2) {
            let [(before, marks), (now, marks_now)] = [&pair[0], &pair[1]].map(|body| prefix(body, mark));
            assert_eq!(now[..before.len()], before, "{format:?}");
            assert_eq!(marks.is_empty(), mark.is_none(), "{format:?} {model}: {:#}", pair[0]);
            if mark.is_some() {
                assert_eq!(marks.last(), Some(&before.len()), "{format:?}: the end is marked: {:#}", pair[0]);
                let entry = before.len();
                assert!(marks_now.contains(&entry), "{format:?}: {marks_now:?} lacks {entry}: {:#}", pair[1]);
                assert_eq!(marks_now[0], marks[0], "{format:?}: the instructions and tools");
                let most = if matches!(format, Format::OpenAi | Format::Responses) { 80 } else { 4 };
                assert!(marks_now.len() <= most, "{format:?}: {marks_now:?}");
            }
        }
    }
}

#[test]
fn only_openai_requests_have_a_cache_key() {
    for (format, model, _) in DIALECTS {
        let keys: Vec<String> =
            requests((format, model)).iter().map(|body| body["prompt_cache_key"].to_string()).collect();
        assert!(keys.iter().all(|key| *key == keys[0]), "{keys:?}");
        let is_openai = matches!(format, Format::OpenAi | Format::Responses);
        assert_eq!(keys[0] != "null", is_openai, "{format:?}: {}", keys[0]);
    }
}

#[test]
fn invalid_conversations_are_repaired_or_rejected() {
    let anthropic = (Format::Anthropic, "claude-sonnet-5-5");
    let call = ContentBlock::ToolCall { id: "c".to_owned(), name: "read".to_owned(), input: json!({}) };
    let result = ContentBlock::ToolResult {
        call_id: "c".to_owned(),
        content: vec![ResultPart::Text { text: "line".to_owned() }],
        outcome: ToolOutcome::Error,
    };
    // Texts before results, several messages of one speaker, and a call without a result.
    let messages = [
        NewMessage::text(Role::User, "Why?"),
        NewMessage::new(Role::Assistant, vec![call.clone()]),
        NewMessage::new(Role::User, vec![ContentBlock::text("There:"), result]),
        NewMessage::text(Role::User, "Well?"),
        NewMessage::new(Role::Assistant, vec![call]),
        NewMessage::text(Role::User, "Never mind."),
    ];
    let body = body_of("", &messages, anthropic).unwrap();
    assert_eq!(body["messages"].as_array().unwrap().len(), 5, "{body:#}");
    let results = body["messages"][2]["content"].as_array().unwrap();
    assert_eq!((&results[0]["type"], &results[0]["is_error"]), (&json!("tool_result"), &json!(true)));
    assert!(results[2]["cache_control"].is_object(), "the mark is behind all of the turn: {body:#}");
    assert_eq!(body.get("system"), None);

    let nothing = body_of("Be brief.", &[NewMessage::text(Role::User, " ")], anthropic);
    assert_eq!(nothing, Err(AssembleError::Empty));
    let data = "bm90aGluZw==".to_owned();
    let source = ImageSource::Base64 { media_type: "image/tiff".to_owned(), data };
    let picture = ContentBlock::Image(Image { source, width: None, height: None });
    let message = NewMessage::new(Role::User, vec![ContentBlock::text("See:"), picture]);
    match body_of("", &[message], anthropic) {
        Ok(body) => assert!(!body.to_string().contains("tiff"), "{body:#}"),
        Err(AssembleError::Invalid { violations }) => {
            assert!(violations.iter().all(|violation| violation.rule == Rule::ImageForm), "{violations:?}");
        }
        Err(error) => panic!("{error}"),
    }
}
