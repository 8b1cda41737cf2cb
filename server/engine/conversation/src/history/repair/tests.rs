//! Tests of single repairs. Property tests of `wire` show that no other cases occur.

use expect_test::{Expect, expect};
use serde_json::json;

use super::utterance::ARGUMENTS_LEFT_OUT;
use super::*;
use crate::history::{
    Foreign, ForeignPosition, Image, ImageSource, MessageKind, NewMessage, ResultPart, ToolOutcome,
    Visibility,
};

/// Header of a PNG file, 8 pixels wide and 9 high.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAJCAIAAAAAAAAA";

fn user(text: &str) -> NewMessage {
    NewMessage::text(Role::User, text)
}

fn model(text: &str) -> NewMessage {
    NewMessage::text(Role::Assistant, text)
}

fn calls(ids: &[&str]) -> NewMessage {
    let call = |id: &&str| ContentBlock::ToolCall { id: (*id).into(), name: "read".into(), input: json!({}) };
    NewMessage::new(Role::Assistant, ids.iter().map(call).collect())
}

fn results(ids: &[&str]) -> NewMessage {
    NewMessage::new(Role::User, ids.iter().map(|id| result(id, "out")).collect())
}

fn result(id: &str, text: &str) -> ContentBlock {
    let content = vec![ResultPart::Text { text: text.into() }];
    ContentBlock::ToolResult { call_id: id.into(), content, outcome: ToolOutcome::Ok }
}

fn hidden(message: NewMessage) -> NewMessage {
    NewMessage { agent: Visibility::Hidden, ..message }
}

fn thinking(text: &str) -> ContentBlock {
    ContentBlock::Thinking { text: text.into(), signature: Some("seal".into()) }
}

fn picture(media_type: &str, data: &str) -> ContentBlock {
    let source = ImageSource::Base64 { media_type: media_type.into(), data: data.into() };
    ContentBlock::Image(Image { source, width: None, height: None })
}

/// Returns a PNG image with `bytes` bytes of base64.
fn heavy(bytes: usize) -> ContentBlock {
    picture("image/png", &(PNG.to_owned() + &"A".repeat(bytes - PNG.len())))
}

fn is_picture(block: &ContentBlock) -> bool {
    matches!(block, ContentBlock::Image(_))
}

fn numbered(messages: impl IntoIterator<Item = NewMessage>) -> Vec<Message> {
    (1..).zip(messages).map(|(id, body)| Message { id: MessageId(id), body }).collect()
}

fn foreign(value: serde_json::Value) -> ContentBlock {
    ContentBlock::Foreign(Foreign { provider: ForeignProvider::Anthropic, value })
}

fn line(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text { text } => format!("{text:?}"),
        ContentBlock::Image(_) => "picture".into(),
        ContentBlock::Thinking { text, .. } => format!("thinking {text:?}"),
        ContentBlock::RedactedThinking { data } => format!("redacted {data:?}"),
        ContentBlock::Foreign(foreign) => format!("foreign {}", foreign.value),
        ContentBlock::ToolCall { id, name, input } => format!("call {id} {name} {input}"),
        ContentBlock::ToolResult { call_id, content, outcome } => {
            let parts: Vec<String> = content
                .iter()
                .map(|part| match part {
                    ResultPart::Text { text } => format!("{text:?}"),
                    ResultPart::Image(_) => "picture".into(),
                    ResultPart::Foreign(foreign) => format!("foreign {}", foreign.value),
                })
                .collect();
            format!("result {call_id} {outcome:?} {}", parts.join(", "))
        }
    }
}

/// Compares a projection, written as one line per block: message id, role, content.
fn check(messages: impl IntoIterator<Item = NewMessage>, prompt: &[ContentBlock], expected: &Expect) {
    let history: Vec<Message> =
        (1..).zip(messages).map(|(id, body)| Message { id: MessageId(id), body }).collect();
    let projection = project(&history, prompt, Some(ForeignProvider::Anthropic));
    let mut lines = String::new();
    for message in &projection.history {
        for block in &message.content {
            lines += &format!("{} {:?}: {}\n", message.id.0, message.role, line(block));
        }
    }
    projection.results.iter().for_each(|block| lines += &format!("new {}\n", line(block)));
    projection.prompt.iter().for_each(|block| lines += &format!("new {}\n", line(block)));
    projection.unmatched.iter().for_each(|id| lines += &format!("unmatched {id}\n"));
    expected.assert_eq(&lines);
}

#[test]
fn a_valid_history_is_unchanged() {
    check(
        [user("Look."), calls(&["a", "b"]), results(&["b", "a"]), model("Done.")],
        &[ContentBlock::text("Thanks.")],
        &expect![[r#"
            1 User: "Look."
            2 Assistant: call a read {}
            2 Assistant: call b read {}
            3 User: result b Ok "out"
            3 User: result a Ok "out"
            4 Assistant: "Done."
            new "Thanks."
        "#]],
    );
}

#[test]
fn new_results_answer_the_pending_calls() {
    check(
        [user("Look."), calls(&["a", "b"])],
        &[ContentBlock::text("Here."), result("b", "two"), result("a", "one")],
        &expect![[r#"
            1 User: "Look."
            2 Assistant: call a read {}
            2 Assistant: call b read {}
            new result b Ok "two"
            new result a Ok "one"
            new "Here."
        "#]],
    );
}

#[test]
fn a_call_unanswered_by_the_new_request_gets_a_substitute_result_first() {
    check(
        [user("Look."), calls(&["a", "b"])],
        &[result("b", "two")],
        &expect![[r#"
        1 User: "Look."
        2 Assistant: call a read {}
        2 Assistant: call b read {}
        2 User: result a Ok "Tool no response"
        new result b Ok "two"
    "#]],
    );
    check(
        [user("Look."), calls(&["a"])],
        &[ContentBlock::text("Never mind.")],
        &expect![[r#"
        1 User: "Look."
        2 Assistant: call a read {}
        2 User: result a Ok "Tool no response"
        new "Never mind."
    "#]],
    );
}

#[test]
fn unmatched_results_are_dropped_and_new_ones_are_reported() {
    check(
        [results(&["x"]), user("Hi."), model("Yes?")],
        &[result("a", "one")],
        &expect![[r#"
        2 User: "Hi."
        3 Assistant: "Yes?"
        unmatched a
    "#]],
    );
    check(
        [user("Look."), calls(&["a"]), results(&["a", "a"])],
        &[],
        &expect![[r#"
        1 User: "Look."
        2 Assistant: call a read {}
        3 User: result a Ok "out"
    "#]],
    );
}

#[test]
fn a_late_result_becomes_text() {
    let failed = ContentBlock::ToolResult {
        call_id: "b".into(),
        content: vec![ResultPart::Text { text: "no </late_tool_result>".into() }],
        outcome: ToolOutcome::Error,
    };
    check(
        [user("Look."), calls(&["a", "b"]), user("Wait."), model("Yes?"), results(&["a"])],
        &[failed, result("a", "again"), ContentBlock::text("Go on.")],
        &expect![[r#"
            1 User: "Look."
            2 Assistant: call a read {}
            2 Assistant: call b read {}
            2 User: result a Ok "Tool no response"
            2 User: result b Ok "Tool no response"
            3 User: "Wait."
            4 Assistant: "Yes?"
            5 User: "<late_tool_result tool=\"read\" call=\"a\">\nout\n</late_tool_result>"
            new "<late_tool_result tool=\"read\" call=\"b\" outcome=\"error\">\nno <\\/late_tool_result>\n</late_tool_result>"
            new "Go on."
            unmatched a
        "#]],
    );
    // A server that counts its calls from `a` in each turn waits for the result of the newest.
    check(
        [user("Look."), calls(&["a"]), user("Wait."), calls(&["a"]), results(&["a"])],
        &[result("a", "late")],
        &expect![[r#"
            1 User: "Look."
            2 Assistant: call a read {}
            2 User: result a Ok "Tool no response"
            3 User: "Wait."
            4 Assistant: call call_ce1889cc6144dfaadebcbb06876fdffc read {}
            5 User: result call_ce1889cc6144dfaadebcbb06876fdffc Ok "out"
            unmatched a
        "#]],
    );
}

#[test]
fn results_precede_text_written_while_the_tool_ran() {
    check(
        [user("Look."), calls(&["a"]), user("Hurry."), results(&["a"])],
        &[],
        &expect![[r#"
        1 User: "Look."
        2 Assistant: call a read {}
        4 User: result a Ok "out"
        3 User: "Hurry."
    "#]],
    );
}

#[test]
fn an_archived_result_is_a_stub() {
    let archived = NewMessage { kind: MessageKind::ToolResultArchived, ..hidden(results(&["a"])) };
    check(
        [user("Look."), calls(&["a"]), archived.clone(), model("Done.")],
        &[],
        &expect![[r#"
        1 User: "Look."
        2 Assistant: call a read {}
        3 User: result a Ok "[archived; see summary; toolOutput.read 3]"
        4 Assistant: "Done."
    "#]],
    );
    // The call is hidden too, so the result needs no stub.
    check(
        [user("Look."), hidden(calls(&["a"])), archived],
        &[],
        &expect![[r#"
        1 User: "Look."
    "#]],
    );
}

#[test]
fn a_history_that_starts_with_the_assistant_gets_a_user_message_first() {
    check(
        [model("And so on."), user("Go on.")],
        &[],
        &expect![[r#"
        1 User: "[earlier messages omitted]"
        1 Assistant: "And so on."
        2 User: "Go on."
    "#]],
    );
}

#[test]
fn ids_that_repeat_or_that_providers_refuse_are_replaced_in_pairs() {
    check(
        [
            user("Look."),
            calls(&["call_0", "fc|1.2"]),
            results(&["fc|1.2", "call_0"]),
            calls(&["call_0", "call_0"]),
        ],
        &[result("call_0", "first"), result("call_0", "second")],
        &expect![[r#"
            1 User: "Look."
            2 Assistant: call call_0 read {}
            2 Assistant: call call_6003455eb5a11dc5b203c1b707582400 read {}
            3 User: result call_6003455eb5a11dc5b203c1b707582400 Ok "out"
            3 User: result call_0 Ok "out"
            4 Assistant: call call_ab213b6de8724a6a2a9bf67e5dafb039 read {}
            4 Assistant: call call_144ab862d8fc79eee6101cdf3b6e407c read {}
            new result call_ab213b6de8724a6a2a9bf67e5dafb039 Ok "first"
            new result call_144ab862d8fc79eee6101cdf3b6e407c Ok "second"
        "#]],
    );
}

#[test]
fn tool_names_and_arguments_are_normalized_for_providers() {
    let call = |name: &str, input| ContentBlock::ToolCall { id: name.into(), name: name.into(), input };
    let unusual_calls =
        vec![call("fs.read", json!(null)), call("a", json!([1])), call("b", json!({"z": 1, "y": 2}))];
    check(
        [user("Look."), NewMessage::new(Role::Assistant, unusual_calls)],
        &[],
        &expect![[r#"
        1 User: "Look."
        2 Assistant: call call_23a92482d65a1c3c1373d12cf8dcfe45 fs_read {}
        2 Assistant: call a a {"input":[1]}
        2 Assistant: call b b {"z":1,"y":2}
        2 User: result call_23a92482d65a1c3c1373d12cf8dcfe45 Ok "Tool no response"
        2 User: result a Ok "Tool no response"
        2 User: result b Ok "Tool no response"
    "#]],
    );
}

#[test]
fn reasoning_is_kept_at_the_start_of_a_turn_or_removed() {
    let assistant = |content| NewMessage::new(Role::Assistant, content);
    let text = || ContentBlock::text("So.");
    check(
        [user("Hi."), assistant(vec![thinking("a"), text(), thinking("b"), text()])],
        &[],
        &expect![[r#"
        1 User: "Hi."
        2 Assistant: thinking "a"
        2 Assistant: "So."
        2 Assistant: thinking "b"
        2 Assistant: "So."
    "#]],
    );
    check(
        [user("Hi."), assistant(vec![text(), thinking("a"), text()])],
        &[],
        &expect![[r#"
        1 User: "Hi."
        2 Assistant: "So."
        2 Assistant: "So."
    "#]],
    );
    check(
        [user("Hi."), assistant(vec![thinking("a")]), user("Hello?")],
        &[],
        &expect![[r#"
        1 User: "Hi."
        3 User: "Hello?"
    "#]],
    );
}

#[test]
fn a_failed_result_without_output_gets_a_text() {
    let source = ImageSource::Url { url: "https://example.org/a.png".into() };
    let image = ResultPart::Image(Image { source, width: None, height: None });
    let failed = |id: &str, content| ContentBlock::ToolResult {
        call_id: id.into(),
        content,
        outcome: ToolOutcome::Error,
    };
    let answers = vec![failed("a", vec![]), failed("b", vec![image])];
    check(
        [user("Look."), calls(&["a", "b"]), NewMessage::new(Role::User, answers)],
        &[],
        &expect![[r#"
        1 User: "Look."
        2 Assistant: call a read {}
        2 Assistant: call b read {}
        3 User: result a Error "Tool failed without output"
        3 User: result b Error "[image omitted]"
    "#]],
    );
}

#[test]
fn recorded_images_beyond_the_providers_limits_are_omitted() {
    // Header of a PNG file, 2,001 pixels wide and 1 high.
    let data = "iVBORw0KGgoAAAANSUhEUgAAB9EAAAABCAIAAAAAAAAA";
    let wide = || {
        let source = ImageSource::Base64 { media_type: "image/png".into(), data: data.into() };
        ContentBlock::Image(Image { source, width: None, height: None })
    };
    let shown = |recorded: Vec<ContentBlock>, new_count: usize| {
        let history = numbered([NewMessage::new(Role::User, recorded)]);
        let projection = project(&history, &vec![wide(); new_count], Some(ForeignProvider::Anthropic));
        let pictures = projection
            .history
            .iter()
            .flat_map(|message| &message.content)
            .map(is_picture)
            .collect::<Vec<_>>();
        let oldest = pictures.iter().position(|is_kept| *is_kept).unwrap_or(pictures.len());
        assert!(pictures[oldest..].iter().all(|is_kept| *is_kept), "the newest stay: {pictures:?}");
        (pictures.len() - oldest, projection.prompt.len())
    };
    assert_eq!(shown(vec![wide(); 19], 1), (19, 1));
    assert_eq!(shown(vec![wide(); 20], 1), (9, 1));
    assert_eq!(shown(vec![wide(); 21], 0), (10, 0));
    assert_eq!(shown(vec![wide(); 30], 0), (19, 0));
    assert_eq!(shown(vec![wide(); 31], 0), (20, 0));
    assert_eq!(shown(vec![wide(); 32], 0), (10, 0));
    // Images of the new request are kept, so that the sender gets the provider's error.
    assert_eq!(shown(vec![wide(); 3], 21), (0, 21));
    // Small images are not limited in number, including those stored with the provider.
    let small = || picture("image/png", PNG);
    assert_eq!(shown(vec![small(); 50], 0), (50, 0));
    assert_eq!(shown([vec![small(); 50], vec![wide()]].concat(), 0), (10, 0));
    let uploaded = foreign(json!({"type": "image", "source": {"type": "file", "file_id": "f"}}));
    let history = numbered([NewMessage::new(Role::User, [vec![uploaded; 6], vec![wide(); 15]].concat())]);
    let messages = project(&history, &[], Some(ForeignProvider::Anthropic)).history;
    let picture_count =
        messages.iter().flat_map(|message| &message.content).filter(|block| is_picture(block)).count();
    assert_eq!(picture_count, 4);
}

#[test]
fn invalid_recorded_images_are_omitted_and_wrong_media_types_corrected() {
    let shown = |picture: ContentBlock, recipient| {
        let messages =
            project(&numbered([NewMessage::new(Role::User, vec![picture])]), &[], recipient).history;
        match &messages[0].content[0] {
            ContentBlock::Image(Image { source: ImageSource::Base64 { media_type, .. }, .. }) => {
                media_type.clone()
            }
            other => line(other),
        }
    };
    let anthropic = Some(ForeignProvider::Anthropic);
    let left_out = line(&ContentBlock::text(PICTURE_LEFT_OUT));
    for name in ["image/png", "image/jpeg", "image/svg+xml", ""] {
        assert_eq!(shown(picture(name, PNG), anthropic), "image/png", "{name}");
        // A new image is sent in the same form as after it is recorded.
        let prompt = project(&[], &[picture(name, PNG)], anthropic).prompt;
        assert_eq!(prompt, [picture("image/png", PNG)], "{name}");
    }
    let cut = &PNG[..PNG.len() - 1];
    let broken = PNG.to_owned() + "=AA=";
    for data in ["", "AAAA", "aGVsbG8sIHdvcmxkISBIZWxsbyE=", "iVBORw0KGgoAAAANSUhEUgAA", cut, broken.as_str()]
    {
        for recipient in [anthropic, Some(ForeignProvider::OpenAi), None] {
            assert_eq!(shown(picture("image/png", data), recipient), left_out, "{data}");
        }
    }
    let most = 5 * 1024 * 1024;
    assert_eq!(shown(heavy(most), anthropic), "image/png");
    assert_eq!(shown(heavy(most + 4), anthropic), left_out);
    assert_eq!(shown(heavy(most + 4), Some(ForeignProvider::OpenAi)), "image/png");
}

#[test]
fn the_oldest_images_beyond_the_total_size_are_omitted_in_steps() {
    // Six images have less than 24 MB, three less than 12 MB.
    let heavy = heavy(7 * 512 * 1024);
    let heavy_message = || NewMessage::new(Role::User, vec![ContentBlock::text("See."), heavy.clone()]);
    let history = numbered((0..11).map(|_| heavy_message()));
    let kept_pictures = |count: usize, prompt: &[ContentBlock]| -> Vec<u64> {
        let messages = project(&history[..count], prompt, Some(ForeignProvider::Anthropic)).history;
        messages
            .iter()
            .filter(|message| message.content.iter().any(is_picture))
            .map(|message| message.id.0)
            .collect()
    };
    assert_eq!(kept_pictures(6, &[]), [1, 2, 3, 4, 5, 6]);
    assert_eq!(kept_pictures(7, &[]), [5, 6, 7]);
    assert_eq!(kept_pictures(10, &[]), [5, 6, 7, 8, 9, 10]);
    assert_eq!(kept_pictures(11, &[]), [9, 10, 11]);
    // A new request omits the same images as after it is recorded.
    assert_eq!(kept_pictures(6, &[ContentBlock::text("See."), heavy.clone()]), [5, 6]);
}

#[test]
fn server_side_calls_are_kept_with_their_results_or_removed() {
    let server_call = |id: &str| {
        foreign(json!({"type": "server_tool_use", "id": format!("srvtoolu_{id}"), "name": "s", "input": {}}))
    };
    let server_result = |id: &str| {
        let id = format!("srvtoolu_{id}");
        foreign(json!({"type": "web_search_tool_result", "tool_use_id": id, "content": []}))
    };
    let assistant = |content| NewMessage::new(Role::Assistant, content);
    let mcp = foreign(json!({"type": "mcp_tool_result", "tool_use_id": "srvtoolu_a", "content": []}));
    check(
        [
            user("Look."),
            assistant(vec![
                ContentBlock::text("So."),
                server_call("a"),
                server_call("a"),
                mcp,
                server_result("a"),
                server_call("b"),
            ]),
            user("And?"),
            assistant(vec![thinking("x"), server_result("b"), server_call("c")]),
            user("Hm?"),
            assistant(vec![server_call("d")]),
            assistant(vec![server_result("d"), server_result("d")]),
        ],
        &[],
        &expect![[r#"
            1 User: "Look."
            2 Assistant: "So."
            2 Assistant: foreign {"type":"server_tool_use","id":"srvtoolu_a","name":"s","input":{}}
            2 Assistant: foreign {"type":"web_search_tool_result","tool_use_id":"srvtoolu_a","content":[]}
            3 User: "And?"
            5 User: "Hm?"
            6 Assistant: foreign {"type":"server_tool_use","id":"srvtoolu_d","name":"s","input":{}}
            7 Assistant: foreign {"type":"web_search_tool_result","tool_use_id":"srvtoolu_d","content":[]}
        "#]],
    );
}

#[test]
fn server_side_calls_do_not_wait_for_client_results() {
    let server_call = json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "s", "input": {}});
    let server_result = json!({"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []});
    let both = vec![foreign(server_call), calls(&["a"]).content[0].clone()];
    let content = vec![foreign(server_result), ContentBlock::text("So.")];
    check(
        [
            user("Look."),
            NewMessage::new(Role::Assistant, both),
            results(&["a"]),
            NewMessage::new(Role::Assistant, content),
        ],
        &[],
        &expect![[r#"
            1 User: "Look."
            2 Assistant: call a read {}
            3 User: result a Ok "out"
            4 Assistant: "So."
        "#]],
    );
}

#[test]
fn recorded_cache_markers_are_not_sent() {
    let marked = |mut value: serde_json::Value| {
        value["cache_control"] = json!({"type": "ephemeral", "ttl": "1h"});
        value
    };
    let text = marked(json!({"type": "text", "text": "x"}));
    let source = json!({"type": "content", "content": [text]});
    let document = marked(json!({"type": "document", "source": source}));
    let search_result =
        marked(json!({"type": "search_result", "source": "a", "title": "t", "content": [text]}));
    let content =
        vec![ResultPart::Foreign(Foreign { provider: ForeignProvider::Anthropic, value: document.clone() })];
    let read = ContentBlock::ToolResult { call_id: "a".into(), content, outcome: ToolOutcome::Ok };
    // Arguments of a tool may contain the same key.
    let input = marked(json!({"content": {"cache_control": 1}}));
    let server_call =
        marked(json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "s", "input": input}));
    let inside = json!({"type": "web_fetch_result", "content": document});
    let server_result =
        json!({"type": "web_fetch_tool_result", "tool_use_id": "srvtoolu_1", "content": inside});
    let ran = NewMessage::new(Role::Assistant, vec![foreign(server_call), foreign(server_result)]);
    check(
        [user("Look."), calls(&["a"]), NewMessage::new(Role::User, vec![read, foreign(document)]), ran],
        &[foreign(search_result)],
        &expect![[r#"
            1 User: "Look."
            2 Assistant: call a read {}
            3 User: result a Ok foreign {"type":"document","source":{"type":"content","content":[{"type":"text","text":"x"}]}}
            3 User: foreign {"type":"document","source":{"type":"content","content":[{"type":"text","text":"x"}]}}
            4 Assistant: foreign {"type":"server_tool_use","id":"srvtoolu_1","name":"s","input":{"content":{"cache_control":1},"cache_control":{"type":"ephemeral","ttl":"1h"}}}
            4 Assistant: foreign {"type":"web_fetch_tool_result","tool_use_id":"srvtoolu_1","content":{"type":"web_fetch_result","content":{"type":"document","source":{"type":"content","content":[{"type":"text","text":"x"}]}}}}
            new foreign {"type":"search_result","source":"a","title":"t","content":[{"type":"text","text":"x"}]}
        "#]],
    );
}

#[test]
fn invalid_foreign_blocks_are_not_sent_back() {
    let is_accepted =
        |provider, place, value| Foreign { provider, value }.is_accepted_by(Some(provider), place);
    let source = |source: serde_json::Value| json!({"type": "document", "source": source});
    let user = ForeignPosition::Said(Role::User);
    for value in [
        source(json!({"type": "text", "media_type": "text/plain", "data": "x"})),
        source(json!({"type": "content", "content": "x"})),
        source(json!({"type": "file", "file_id": "file_1"})),
        source(json!({"type": "url", "url": "https://example.org/a.pdf"})),
    ] {
        assert!(is_accepted(ForeignProvider::Anthropic, user, value.clone()), "{value}");
    }
    for value in [
        json!({"type": "document", "title": "t"}),
        source(json!("x")),
        source(json!({"type": "base64", "media_type": "application/pdf", "data": ""})),
        source(json!({"type": "text", "data": ["x"]})),
        source(json!({"type": "content", "content": []})),
        json!({"type": "search_result", "source": "a", "title": "t", "content": []}),
    ] {
        assert!(!is_accepted(ForeignProvider::Anthropic, user, value.clone()), "{value}");
        assert!(!is_accepted(ForeignProvider::Anthropic, ForeignPosition::Result, value.clone()), "{value}");
    }
    for value in [
        json!({"type": "server_tool_use", "id": "srv_1", "name": "s", "input": {}}),
        json!({"type": "server_tool_use", "id": "srvtoolu_", "name": "s", "input": {}}),
        json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "s", "input": "x"}),
        json!({"type": "mcp_tool_use", "id": "m", "name": "s", "input": {}}),
        json!({"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1"}),
    ] {
        assert!(
            !is_accepted(ForeignProvider::Anthropic, ForeignPosition::Said(Role::Assistant), value.clone()),
            "{value}"
        );
    }
    for value in [
        json!({"type": "file"}),
        json!({"type": "file", "file": {"filename": "a.pdf"}}),
        json!({"type": "input_audio", "input_audio": {}}),
    ] {
        assert!(!is_accepted(ForeignProvider::OpenAi, user, value.clone()), "{value}");
    }
    assert!(is_accepted(ForeignProvider::OpenAi, user, json!({"type": "file", "file": {"file_id": "f"}})));
}

#[test]
fn too_long_arguments_are_omitted_for_providers_that_want_a_string() {
    let input = |chars: usize| json!({"text": "\u{e9}".repeat(chars)});
    // The rest of the limit is `{"text":""}`.
    let most = 1_048_576 - 11;
    let sent = |input, recipient| {
        let call = ContentBlock::ToolCall { id: "a".into(), name: "write".into(), input };
        let history = numbered([user("Look."), NewMessage::new(Role::Assistant, vec![call])]);
        match project(&history, &[], recipient).history[1].content[0].clone() {
            ContentBlock::ToolCall { input, .. } => input,
            other => panic!("{}", line(&other)),
        }
    };
    let openai = Some(ForeignProvider::OpenAi);
    assert_eq!(sent(input(most), openai), input(most));
    assert_eq!(sent(input(most + 1), openai), json!({"input": ARGUMENTS_LEFT_OUT}));
    assert_eq!(sent(input(most + 1), Some(ForeignProvider::Anthropic)), input(most + 1));
}

#[test]
fn only_results_at_the_end_are_acknowledged() {
    let ends = |messages: Vec<NewMessage>| {
        let history: Vec<Message> =
            (1..).zip(messages).map(|(id, body)| Message { id: MessageId(id), body }).collect();
        let mut projection = project(&history, &[], Some(ForeignProvider::OpenAi));
        projection.add_reply_to_tool_results();
        let last = projection.history.last().unwrap();
        (last.id.0, last.role, line(last.content.last().unwrap()))
    };
    let understood = "\"Understood.\"".to_owned();
    assert_eq!(
        ends(vec![user("Look."), calls(&["a"]), results(&["a"])]),
        (3, Role::Assistant, understood.clone())
    );
    assert_eq!(ends(vec![user("Look."), calls(&["a"])]), (2, Role::Assistant, understood));
    assert_eq!(ends(vec![user("Look."), model("Done.")]), (2, Role::Assistant, "\"Done.\"".into()));
    let followed_up = vec![user("Look."), calls(&["a"]), results(&["a"]), user("Wait.")];
    assert_eq!(ends(followed_up), (4, Role::User, "\"Wait.\"".into()));
}

#[test]
fn foreign_blocks_are_sent_only_to_their_provider() {
    let document = json!({"type": "document", "source": {"type": "url", "url": "https://example.org/a.pdf"}});
    let foreign = |value| Foreign { provider: ForeignProvider::Anthropic, value };
    let part = ResultPart::Foreign(foreign(document.clone()));
    let message = NewMessage::new(
        Role::User,
        vec![
            ContentBlock::ToolResult {
                call_id: "a".into(),
                content: vec![part.clone()],
                outcome: ToolOutcome::Ok,
            },
            ContentBlock::Foreign(foreign(document.clone())),
            ContentBlock::Foreign(foreign(json!({"type": "news", "text": "Hear."}))),
        ],
    );
    check(
        [user("Look."), calls(&["a"]), message.clone()],
        &[],
        &expect![[r#"
            1 User: "Look."
            2 Assistant: call a read {}
            3 User: result a Ok foreign {"type":"document","source":{"type":"url","url":"https://example.org/a.pdf"}}
            3 User: foreign {"type":"document","source":{"type":"url","url":"https://example.org/a.pdf"}}
            3 User: "Hear."
        "#]],
    );
    let history = [user("Look."), calls(&["a"]), message];
    let history: Vec<Message> =
        (1..).zip(history).map(|(id, body)| Message { id: MessageId(id), body }).collect();
    for recipient in [None, Some(ForeignProvider::OpenAi)] {
        let projected = project(&history, &[], recipient).history;
        let lines: Vec<String> = projected.last().unwrap().content.iter().map(line).collect();
        assert_eq!(lines, ["result a Ok ", "\"Hear.\""]);
    }
    assert!(
        !foreign(document)
            .is_accepted_by(Some(ForeignProvider::Anthropic), ForeignPosition::Said(Role::Assistant))
    );
}
