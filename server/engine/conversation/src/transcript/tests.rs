//! Tests of the conversion of recorded lines to turns, and that no line makes the reader fail.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::history::{Image, ImageSource, ToolOutcome};

/// A line written by the user.
fn user(content: Value) -> String {
    json!({"type": "user", "isSidechain": false, "timestamp": "1970-01-01T00:00:01Z",
           "message": {"role": "user", "content": content}})
    .to_string()
}

/// A line of the answer with the given id.
fn answer(id: &str, content: Value, output: u64) -> String {
    json!({"type": "assistant", "isSidechain": false, "timestamp": "1970-01-01T00:00:09Z",
           "message": {"role": "assistant", "id": id, "model": "claude", "content": [content],
                       "usage": {"input_tokens": 3, "cache_creation_input_tokens": 20,
                                 "cache_read_input_tokens": 100, "output_tokens": output,
                                 "service_tier": "standard"}}})
    .to_string()
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "read", "input": {"path": "a.rs"}, "caller": {"type": "direct"}})
}

fn result(id: &str) -> Value {
    json!([{"type": "tool_result", "tool_use_id": id, "content": "fn a() {}"}])
}

fn transcript(lines: &[String]) -> Transcript {
    parse(&lines.join("\n"))
}

/// Returns one word per block.
fn words(blocks: &[ContentBlock]) -> String {
    let word = |block: &ContentBlock| match block {
        ContentBlock::Text { text } => text.clone(),
        ContentBlock::ToolCall { id, .. } => format!("call:{id}"),
        ContentBlock::ToolResult { call_id, .. } => format!("result:{call_id}"),
        ContentBlock::Thinking { text, .. } => format!("thinks:{text}"),
        ContentBlock::RedactedThinking { data } => format!("thinks:{data}"),
        ContentBlock::Image(_) => "image".to_owned(),
        ContentBlock::Foreign(foreign) => foreign.value.to_string(),
    };
    blocks.iter().map(word).collect::<Vec<_>>().join(" ")
}

fn turns(transcript: &Transcript) -> Vec<(String, String)> {
    transcript.turns.iter().map(|turn| (words(&turn.request), words(&turn.answer))).collect()
}

fn turn(request: &str, answer: &str) -> (String, String) {
    (request.to_owned(), answer.to_owned())
}

#[test]
fn a_request_contains_the_user_messages_between_two_answers() {
    let transcript = transcript(&[
        user(json!("hello")),
        user(json!([text("more")])),
        answer("m1", text("hi"), 7),
        user(json!("bye")),
        answer("m2", text("ciao"), 7),
        user(json!("too late")),
    ]);
    assert_eq!(turns(&transcript), [turn("hello more", "hi"), turn("bye", "ciao")]);
    assert_eq!(transcript.turns[0].past, PriorHistoryForm::Kept);
    assert_eq!(transcript.turns[0].time_ms, Some(1_000));
    assert_eq!(transcript.skipped, 0);
}

#[test]
fn an_answer_on_several_lines_is_merged_and_billed_once() {
    let transcript = transcript(&[
        user(json!("read both")),
        answer("m1", json!({"type": "thinking", "thinking": "hm", "signature": "s"}), 2),
        answer("m1", call("a"), 2),
        user(result("a")),
        answer("m1", call("b"), 40),
        user(result("b")),
        answer("m2", text("done"), 7),
    ]);
    let expected = [turn("read both", "thinks:hm call:a call:b"), turn("result:a result:b", "done")];
    assert_eq!(turns(&transcript), expected);
    let billed = Usage { input: 3, output: 40, cache_read: 100, cache_write: 20 };
    assert_eq!(transcript.turns[0].billed, Some(billed));
}

#[test]
fn answers_without_an_id_are_not_merged() {
    let line = json!({"type": "assistant", "message": {"content": "yes"}}).to_string();
    let transcript = transcript(&[user(json!("a")), line.clone(), user(json!("b")), line]);
    assert_eq!(turns(&transcript), [turn("a", "yes"), turn("b", "yes")]);
    assert_eq!(transcript.turns[0].billed, None);
}

#[test]
fn a_compaction_replaces_the_prior_history() {
    let boundary = json!({"type": "system", "subtype": "compact_boundary"}).to_string();
    let transcript = transcript(&[
        user(json!("hello")),
        answer("m1", call("a"), 7),
        user(result("a")),
        boundary,
        user(json!("summary")),
        answer("m2", text("on we go"), 7),
        user(json!("and")),
        answer("m3", text("on"), 7),
    ]);
    let expected = [turn("hello", "call:a"), turn("summary", "on we go"), turn("and", "on")];
    assert_eq!(turns(&transcript), expected);
    let prior_histories: Vec<PriorHistoryForm> = transcript.turns.iter().map(|turn| turn.past).collect();
    assert_eq!(
        prior_histories,
        [PriorHistoryForm::Kept, PriorHistoryForm::Summarised, PriorHistoryForm::Kept]
    );
}

#[test]
fn lines_that_no_model_saw_or_wrote_are_skipped() {
    let sidechain_line = user(json!("aside")).replace("\"isSidechain\":false", "\"isSidechain\":true");
    let failed = answer("x", text("API Error"), 0).replace("\"claude\"", "\"<synthetic>\"");
    let others = ["progress", "file-history-snapshot", "summary", "queue-operation", "not seen before"];
    let mut lines = vec![user(json!("hello")), sidechain_line, failed];
    lines.extend(others.map(|kind| json!({"type": kind, "message": 1, "timestamp": "?"}).to_string()));
    lines.push(answer("m1", text("hi"), 7));
    let transcript = transcript(&lines);
    assert_eq!((turns(&transcript), transcript.skipped), (vec![turn("hello", "hi")], 0));
}

#[test]
fn a_subagents_file_is_read_as_its_own_session() {
    let as_sidechain = |line: String| line.replace("\"isSidechain\":false", "\"isSidechain\":true");
    let transcript =
        transcript(&[as_sidechain(user(json!("look"))), as_sidechain(answer("m1", text("seen"), 7))]);
    assert_eq!(turns(&transcript), [turn("look", "seen")]);
}

#[test]
fn messages_added_by_the_agent_belong_to_the_request() {
    let meta = user(json!("caveat")).replace("\"isSidechain\"", "\"isMeta\":true,\"isSidechain\"");
    assert!(meta.contains("isMeta"));
    let transcript = transcript(&[meta, user(json!("hello")), answer("m1", text("hi"), 7)]);
    assert_eq!(turns(&transcript), [turn("caveat hello", "hi")]);
}

#[test]
fn a_line_that_cannot_be_read_is_skipped_and_counted() {
    let transcript = transcript(&[
        "{\"type\":\"user\",\"mess".to_owned(),
        "[]".to_owned(),
        String::new(),
        "  ".to_owned(),
        json!({"type": "user"}).to_string(),
        json!({"type": "assistant", "message": {"content": 7}}).to_string(),
        "[".repeat(100_000),
        user(json!("hello")),
        answer("m1", text("hi"), 7),
    ]);
    assert_eq!((turns(&transcript), transcript.skipped), (vec![turn("hello", "hi")], 5));
}

#[test]
fn every_block_keeps_its_tokens() {
    let pixel =
        json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}});
    let failed = json!({"type": "tool_result", "tool_use_id": "a", "is_error": true,
                        "content": [text("no"), pixel, {"type": "tool_reference", "tool_name": "t"}]});
    let transcript = transcript(&[
        user(
            json!([pixel, failed, {"type": "tool_result", "tool_use_id": "b"}, {"type": "document", "source": 1}]),
        ),
        answer("m1", json!({"type": "redacted_thinking", "data": "xyz"}), 1),
    ]);
    let source = ImageSource::Base64 { media_type: "image/png".into(), data: "AA==".into() };
    let image = Image { source, width: None, height: None };
    let reference = r#"{"type":"tool_reference","tool_name":"t"}"#.to_owned();
    assert_eq!(
        transcript.turns[0].request,
        [
            ContentBlock::Image(image.clone()),
            ContentBlock::ToolResult {
                call_id: "a".into(),
                content: vec![
                    ResultPart::Text { text: "no".into() },
                    ResultPart::Image(image),
                    ResultPart::Text { text: reference },
                ],
                outcome: ToolOutcome::Error,
            },
            ContentBlock::ToolResult { call_id: "b".into(), content: vec![], outcome: ToolOutcome::Ok },
            ContentBlock::text(r#"{"type":"document","source":1}"#),
        ]
    );
    let sealed = ContentBlock::RedactedThinking { data: "xyz".into() };
    assert_eq!(transcript.turns[0].answer, [sealed]);
}

#[test]
fn a_request_without_a_time_has_the_time_of_its_answer() {
    let timeless = user(json!("hello")).replace("1970-01-01T00:00:01Z", "yesterday");
    let transcript = transcript(&[timeless, answer("m1", text("hi"), 7)]);
    assert_eq!(transcript.turns[0].time_ms, Some(9_000));
}

/// Adds an id and the id of the parent to a line.
fn linked(line: &str, id: &str, parent: Option<&str>) -> String {
    let mut line: Value = serde_json::from_str(line).unwrap();
    line["uuid"] = id.into();
    line["parentUuid"] = parent.map_or(Value::Null, Into::into);
    line.to_string()
}

#[test]
fn only_the_branch_that_was_continued_last_is_the_conversation() {
    let lines = [
        linked(&user(json!("hello")), "1", None),
        linked(&answer("m1", text("hi"), 7), "2", Some("1")),
        linked(&user(json!("wrong way")), "3", Some("2")),
        linked(&answer("m2", text("lost"), 7), "4", Some("3")),
        linked(&user(json!("right way")), "5", Some("2")),
        linked(&answer("m3", call("a"), 7), "6", Some("5")),
        linked(&answer("m3", call("b"), 7), "7", Some("6")),
        linked(&user(result("a")), "8", Some("6")),
        linked(&user(result("b")), "9", Some("7")),
        linked(&answer("m4", text("found"), 7), "10", Some("9")),
        // A resumed session repeats lines.
        linked(&answer("m4", text("found"), 7), "10", Some("9")),
        linked(&user(json!("hello")), "1", None),
    ];
    let read = transcript(&lines);
    let expected =
        [turn("hello", "hi"), turn("right way", "call:a call:b"), turn("result:a result:b", "found")];
    assert_eq!((turns(&read), read.unanswered), (expected.to_vec(), None));
    let with_mark = parse(&format!("\u{feff}{}", lines.join("\n")));
    assert_eq!((turns(&with_mark), with_mark.skipped), (expected.to_vec(), 0));
}

#[test]
fn lines_before_a_compaction_or_a_missing_line_are_not_a_branch() {
    let boundary = json!({"type": "system", "subtype": "compact_boundary", "uuid": "3", "parentUuid": null,
        "logicalParentUuid": "2"});
    let read = transcript(&[
        linked(&user(json!("hello")), "1", None),
        linked(&answer("m1", text("hi"), 7), "2", Some("1")),
        boundary.to_string(),
        linked(&user(json!("summary")), "4", Some("3")),
        linked(&answer("m2", text("on"), 7), "5", Some("gone")),
        linked(&user(json!("bye")), "6", Some("5")),
        linked(&answer("m3", text("ciao"), 7), "7", Some("6")),
    ]);
    assert_eq!(turns(&read), [turn("hello", "hi"), turn("summary", "on"), turn("bye", "ciao")]);
}

/// Generates lines of a recorded session.
#[derive(Clone, Debug)]
enum Event {
    Said(String),
    Answered { id: String, text: String },
    Rubbish(String),
}

impl Event {
    fn line(&self) -> String {
        match self {
            Self::Said(text) => user(json!(text)),
            Self::Answered { id, text: reply } => answer(id, text(reply), 7),
            Self::Rubbish(line) => line.clone(),
        }
    }
}

fn event() -> impl Strategy<Value = Event> {
    let rubbish = prop::sample::select(vec!["{", "[]", "null", "{\"type\":\"user\"}", "what?"]);
    prop_oneof![
        3 => "[a-c]{1,3}".prop_map(Event::Said),
        3 => ("[m-o]", "[a-c]{1,3}").prop_map(|(id, text)| Event::Answered { id, text }),
        1 => rubbish.prop_map(|line| Event::Rubbish(line.to_owned())),
    ]
}

proptest! {
    #[test]
    fn every_message_is_read_once_and_in_order(events in prop::collection::vec(event(), 0..40)) {
        let transcript = transcript(&events.iter().map(Event::line).collect::<Vec<_>>());
        let (mut requests, mut answers, mut ids, mut skipped) = (vec![], vec![], vec![], 0);
        for event in &events {
            match event {
                Event::Said(text) => requests.push(text.clone()),
                Event::Rubbish(_) => skipped += 1,
                Event::Answered { id, text } => {
                    answers.push(text.clone());
                    ids.push(id);
                }
            }
        }
        ids.dedup();
        let texts = |blocks: fn(&TranscriptTurn) -> &[ContentBlock]| -> Vec<String> {
            transcript.turns.iter().flat_map(blocks).map(|block| words(std::slice::from_ref(block))).collect()
        };
        prop_assert_eq!(texts(|turn| &turn.answer), answers);
        prop_assert!(requests.starts_with(&texts(|turn| &turn.request)));
        prop_assert_eq!(transcript.turns.len(), ids.len());
        prop_assert_eq!(transcript.skipped, skipped);
    }

    #[test]
    fn no_text_makes_it_panic(text in "(\\PC|\n){0,200}") {
        let lines = text.lines().filter(|line| !line.trim().is_empty()).count();
        prop_assert!(parse(&text).skipped <= lines);
    }
}
