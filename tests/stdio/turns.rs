//! A turn: a prompt is assembled, sent by the client, and the outcome of it is recorded.

use e2e::{Editor, Rng, Setup};
use serde_json::{Value, json};

use crate::small;

fn messages(editor: &mut Editor) -> u64 {
    editor.run("history.count", json!({}))["messages"].as_u64().unwrap()
}

#[test]
fn recording_a_turn_makes_it_part_of_the_next_prompt() {
    let mut editor = Editor::start(&small());
    let prompt = editor.assemble_with(json!({ "prompt": "What does é add?" }));
    assert_eq!(messages(&mut editor), 0, "assembling changes nothing");
    let usage = json!({ "input": 90, "output": 8, "cacheRead": 10 });
    let argument = json!({ "id": prompt.id(), "response": "It adds 🦀 numbers.", "usage": usage });
    let recorded = editor.run("prompt.record", argument.clone());
    assert_eq!((&recorded["messages"], &recorded["warnings"]), (&json!(2), &json!([])));
    assert_eq!(recorded["totals"]["input"], 90);

    let again = editor.run("prompt.record", argument);
    assert_eq!(again, recorded, "a repeat gets the same reply and changes nothing");
    assert_eq!(messages(&mut editor), 2);

    let next = editor.assemble_with(json!({ "prompt": "And then?" }));
    assert_eq!((next.count("What does é add?"), next.count("It adds 🦀 numbers.")), (1, 1));
    let roles: Vec<&Value> =
        next.0["body"]["messages"].as_array().unwrap().iter().map(|message| &message["role"]).collect();
    assert_eq!((roles.first(), roles.last()), (Some(&&json!("user")), Some(&&json!("user"))));
    assert!(roles.windows(2).all(|pair| pair[0] != pair[1]), "roles alternate: {roles:?}");
}

#[test]
fn a_discarded_prompt_cannot_be_recorded() {
    let mut editor = Editor::start(&small());
    let prompt = editor.assemble();
    editor.run("prompt.discard", json!({ "id": prompt.id() }));
    for command in ["prompt.record", "prompt.discard"] {
        let refused = editor.refused(command, json!({ "id": prompt.id() }));
        assert!(refused.message.contains(prompt.id()), "{refused}");
    }
    assert_eq!(messages(&mut editor), 0);
}

#[test]
fn a_dry_run_keeps_nothing() {
    let mut editor = Editor::start(&small());
    let dry = editor.assemble_with(json!({ "dryRun": true }));
    assert_eq!(dry.0["id"], Value::Null);
    assert_eq!(dry.bytes(), editor.assemble().bytes());
}

#[test]
fn a_turn_on_a_session_that_has_moved_on_keeps_its_words_and_says_so() {
    let mut editor = Editor::start(&small());
    let prompt = editor.assemble();
    editor.run("history.addExchange", json!({ "user": "Meanwhile?", "assistant": "Meanwhile." }));
    let recorded = editor.run("prompt.record", json!({ "id": prompt.id(), "response": "Late." }));
    assert_eq!(recorded["messages"], 4);
    assert!(recorded["warnings"][0].as_str().unwrap().contains("changed after this prompt"), "{recorded}");
    let next = editor.assemble_with(json!({ "prompt": "next" }));
    assert_eq!((next.count("Meanwhile."), next.count("Late.")), (1, 1));
}

#[test]
fn a_failed_turn_was_never_sent_and_a_stopped_one_counts_as_far_as_it_came() {
    let mut editor = Editor::start(&small());
    let prompt = editor.assemble();
    editor.run("prompt.record", json!({ "id": prompt.id(), "status": "error" }));
    assert_eq!(messages(&mut editor), 0);
    let prompt = editor.assemble();
    editor.run("prompt.record", json!({ "id": prompt.id(), "status": "aborted", "partial": "It is a" }));
    assert_eq!(messages(&mut editor), 2);
    assert_eq!(editor.assemble().count("It is a"), 1);
}

#[test]
fn the_results_of_tools_are_a_turn_of_their_own() {
    let mut editor = Editor::start(&small());
    let tools = json!([{ "name": "look", "description": "Looks.", "input_schema": { "type": "object" } }]);
    let prompt = editor.assemble_with(json!({ "tools": tools }));
    let call = json!([{ "type": "tool_call", "id": "c1", "name": "look", "input": { "at": "é" } }]);
    editor.run("prompt.record", json!({ "id": prompt.id(), "response": call }));
    let results = json!([{ "callId": "c1", "content": [{ "type": "text", "text": "saw 🦀" }] }]);
    for format in ["anthropic", "openai"] {
        let argument = json!({ "toolResults": results, "tools": tools, "format": format });
        let prompt = editor.assemble_with(argument);
        assert_eq!(prompt.count("saw 🦀"), 1, "{format}");
        assert!(prompt.bytes().contains("look"), "{format}");
    }
}

#[test]
fn tool_results_arrive_as_clients_send_them() {
    let text = json!([{ "type": "text", "text": "found" }]);
    let result = |call: &str, content: &Value| json!([{ "callId": call, "content": content }]);
    let late = "<late_tool_result tool=\\\"look\\\" call=\\\"c1\\\">\\nfound\\n</late_tool_result>";
    // (whether the model continued without the result, results, text in the prompt, stored content or error)
    for (is_late, results, in_prompt, outcome) in [
        (false, result("c1", &text), "found", Ok(&text)),
        (false, result("c1", &json!("found")), "found", Ok(&text)),
        (false, result("c1", &json!("")), "\"tool_result\"", Ok(&json!([]))),
        (true, result("c1", &json!("found")), late, Ok(&text)),
        (false, result("c2", &text), "", Err("no tool call without a result has the id `c2`")),
        (false, result("c1", &json!(7)), "", Err("expected a string or a list")),
        (false, result("c1", &json!([{ "type": "txt" }])), "", Err("unknown variant `txt`")),
    ] {
        let mut editor = Editor::start(&small());
        let prompt = editor.assemble();
        let call = json!([{ "type": "tool_call", "id": "c1", "name": "look", "input": {} }]);
        editor.run("prompt.record", json!({ "id": prompt.id(), "response": call }));
        if is_late {
            let prompt = editor.assemble();
            editor.run("prompt.record", json!({ "id": prompt.id(), "response": "As you like." }));
        }
        let arguments = json!({ "toolResults": results });
        match outcome {
            Ok(stored) => {
                let prompt = editor.assemble_with(arguments);
                assert_eq!(prompt.bytes().matches(in_prompt).count(), 1, "{results}: {}", prompt.bytes());
                let usage = json!({ "input": 700, "output": 3, "cacheRead": 0, "cacheWrite": 0 });
                let answer = json!({ "id": prompt.id(), "response": "Good.", "usage": usage });
                editor.run("prompt.record", answer);
                let history = editor.run("history.get", json!({}));
                let [.., message, _] = &history["messages"].as_array().unwrap()[..] else { panic!() };
                assert_eq!(&message["content"][0]["content"], stored, "{results}");
            }
            Err(expected) => {
                let refused = editor.refused("prompt.assemble", arguments);
                assert!(refused.message.contains(expected), "{results}: {refused}");
            }
        }
    }
}

#[test]
fn history_can_be_set_read_and_cleared() {
    let mut editor = Editor::start(&small());
    let messages_set = json!([
        { "role": "user", "content": "Who?" },
        { "role": "assistant", "content": [{ "type": "text", "text": "Me." }] },
    ]);
    assert_eq!(editor.run("history.set", json!({ "messages": messages_set }))["messages"], 2);
    editor.run("history.add", json!({ "role": "user", "content": "Why?" }));
    let history = editor.run("history.get", json!({}));
    let texts: Vec<&Value> =
        history["messages"].as_array().unwrap().iter().map(|m| &m["content"][0]["text"]).collect();
    assert_eq!(texts, ["Who?", "Me.", "Why?"]);
    editor.run("history.clear", json!({}));
    assert_eq!(messages(&mut editor), 0);
}

#[test]
fn the_budget_and_the_compaction_are_reported() {
    let mut editor = Setup::new(&small())
        .settings(json!({ "compaction": { "profiles": { "topic": { "history_over": 24_000 } } } }))
        .start();
    editor.select(&["tool.py"]);
    editor
        .run("history.addExchange", json!({ "user": "x ".repeat(20_000), "assistant": "y ".repeat(20_000) }));
    let report = editor.run("budget.report", json!({}));
    for key in [
        "historyTokens",
        "maxHistoryTokens",
        "maxInputTokens",
        "outputReserve",
        "used",
        "remaining",
        "percent",
        "needsSummary",
        "parts",
        "files",
        "totals",
        "model",
    ] {
        assert!(!report[key].is_null(), "{key}: {report}");
    }
    let number = |key: &str| report[key].as_u64().unwrap();
    assert_eq!(number("maxHistoryTokens"), number("maxInputTokens") / 16);
    let parts: u64 = report["parts"].as_object().unwrap().values().map(|part| part.as_u64().unwrap()).sum();
    assert_eq!(parts, number("used"));
    assert_eq!(report["files"][0]["path"], "tool.py");

    let status = editor.run("compaction.status", json!({}));
    assert_eq!(
        (&status["enabled"], &status["profile"], &status["running"]),
        (&json!(true), &json!("topic"), &json!(false))
    );
    assert_eq!((&status["threshold"], &status["tokens"]), (&json!(24_000), &report["historyTokens"]));
    assert_eq!(status["due"], report["needsSummary"]);
    assert_eq!(status["distance"], 0, "{status}");
    assert_eq!(status["why"], "tokens of the conversation: 60,812 of 24,000");
    let of_small = editor.run("compaction.status", json!({ "model": "gpt-4o", "maxInputTokens": 50_000 }));
    assert!(of_small["limit"].as_u64().unwrap() < 50_000, "{of_small}");
    let set = editor.run("budget.set", json!({ "maxInputTokens": 90_000 }));
    assert!(set["limit"].as_u64().unwrap() < 90_000, "{set}");
    assert_eq!(editor.run("budget.report", json!({}))["maxInputTokens"], 90_000);
    assert_eq!(status["due"], number("historyTokens") > 24_000);
}

#[test]
fn what_is_read_of_a_conversation_can_be_set_again() {
    let mut editor = Editor::start(&small());
    let mut rng = Rng::new(26);
    for turn in 0..60 {
        let call = format!("c{turn}");
        let lines = rng.below(4_000);
        let content = match rng.below(4) {
            0 => json!(format!("question {turn}")),
            1 => json!([{ "type": "tool_call", "id": call, "name": "read", "input": { "path": "tool.py" } }]),
            2 => {
                json!([{ "type": "tool_result", "callId": call, "content": [{ "type": "text", "text": "line\n".repeat(lines + 1) }] }])
            }
            _ => json!([{ "type": "text", "text": "so" }, { "type": "text", "text": "be it" }]),
        };
        let seen = ["shown", "hidden"];
        let kinds = ["normal", "tool_result", "tool_summary", "summary", "system_event", "iteration"];
        let message = json!({
            "role": rng.one_of(&["user", "assistant"]), "content": content, "agent": rng.one_of(&seen), "user": rng.one_of(&seen),
            "kind": rng.one_of(&kinds), "pin": rng.one_of(&["free", "kept"]), "timeMs": turn,
        });
        editor.run("history.add", message);
    }
    let bodies = |editor: &mut Editor| {
        let mut messages = editor.run("history.get", json!({}))["messages"].as_array().unwrap().clone();
        messages.iter_mut().for_each(|message| drop(message.as_object_mut().unwrap().remove("id")));
        messages
    };
    let before = bodies(&mut editor);
    let hidden = before.iter().filter(|message| message["agent"] == "hidden").count();
    assert!((10..50).contains(&hidden), "{hidden}");
    let told = before.iter().filter(|message| message.to_string().contains("[output truncated: ")).count();
    assert!(told > 2, "long outputs are cut when they are added: {told}");
    let messages = editor.run("history.get", json!({}))["messages"].clone();
    editor.run("history.set", json!({ "messages": messages }));
    assert_eq!(bodies(&mut editor), before);
}

#[test]
fn a_question_that_is_recorded_twice_is_asked_once() {
    let mut editor = Editor::start(&small());
    let ask = |editor: &mut Editor| editor.assemble_with(json!({ "prompt": "why?" })).0["id"].clone();
    let (first, second) = (ask(&mut editor), ask(&mut editor));
    editor.run("prompt.record", json!({ "id": first, "response": "Because." }));
    let again = editor.run("prompt.record", json!({ "id": second, "response": "Because of that." }));
    assert_eq!(again["messages"], 3, "{again}");
    let messages = editor.run("history.get", json!({}))["messages"].clone();
    assert_eq!(messages[1]["agent"], "hidden", "the first answer stays for you to read: {messages}");
    assert_eq!(messages[2]["content"][0]["text"], "Because of that.", "{messages}");
    let later = ask(&mut editor);
    let asked = editor.run("prompt.record", json!({ "id": later, "response": "As I said." }));
    assert_eq!(asked["messages"], 5, "asked again after the answer, it is another question");
}

#[test]
fn a_prompt_can_be_read_before_it_is_sent() {
    let mut editor = Editor::start(&small());
    editor.select(&["tool.py"]);
    let preview = editor.run("prompt.preview", json!({ "prompt": "Read é me" }));
    let text = preview["text"].as_str().unwrap();
    assert!(text.contains("Read é me") && text.contains("class Tool:"), "{text}");
    assert!(preview["tokens"].as_u64().unwrap() > 50);
    let nothing = editor.run("prompt.preview", json!({}));
    assert!(nothing["text"].as_str().unwrap().contains("class Tool:"), "{nothing}");
    let titles = |preview: &Value| -> Vec<Value> {
        preview["parts"].as_array().unwrap().iter().map(|part| part["title"].clone()).collect()
    };
    assert!(titles(&preview).contains(&json!("Prompt")) && !titles(&nothing).contains(&json!("Prompt")));
}

#[test]
fn a_preview_is_compared_with_an_earlier_one() {
    let mut editor = Editor::start(&small());
    editor.select(&["src/lib.rs", "src/greet.rs"]);
    let earlier = editor.run("prompt.preview", json!({ "policy": "flat" }));
    let since = |editor: &mut Editor, text: &Value| {
        editor.run("prompt.changes", json!({ "since": text, "policy": "flat" }))
    };
    let same = since(&mut editor, &earlier["text"]);
    assert_eq!((&same["changes"], &same["text"]), (&json!(""), &earlier["text"]));

    let file = json!({ "path": "src/greet.rs", "content": "pub fn greet(name: &str) -> String {\n    format!(\"typed {name}\")\n}\n" });
    editor.run("files.add", file);
    let now = since(&mut editor, &earlier["text"]);
    let changes = now["changes"].as_str().unwrap();
    assert!(changes.contains("+    format!(\"typed {name}\")\n"), "{changes}");
    assert!(changes.contains("-    format!(\"on disk {name}\")\n"), "{changes}");
    assert!(
        changes.lines().any(|line| line.starts_with("@@ -") && line.contains("src/greet.rs")),
        "{changes}"
    );
    assert!(!changes.contains("pub fn add"), "what is as it was is not repeated: {changes}");
    assert_eq!(since(&mut editor, &now["text"])["changes"], "");
}

/// A tool whose fields stand in no order but their own.
fn odd_tool() -> Value {
    let schema = json!({
        "type": "object",
        "properties": { "zeta": { "type": "string", "default": null }, "alpha": { "type": "number", "minimum": 1.0 } },
    });
    json!({ "name": "look", "description": "Looks \u{e9} 🦀.", "input_schema": schema })
}

#[test]
fn a_body_as_text_is_the_body_to_the_byte_every_time() {
    let mut editor = Editor::start(&small());
    editor.select(&["tool.py"]);
    for format in ["anthropic", "openai"] {
        let asked = json!({ "tools": [odd_tool()], "format": format, "dryRun": true });
        let object = editor.assemble_with(asked.clone());
        let mut as_text = asked.clone();
        as_text["bodyAs"] = "text".into();
        let text = editor.assemble_with(as_text.clone());
        assert_eq!(text.0["body"].as_str().unwrap(), object.bytes(), "{format}");
        assert!(object.bytes().find("zeta") < object.bytes().find("alpha"), "{format}");
        assert_eq!(editor.assemble_with(as_text.clone()).0, text.0, "{format}");
        assert_eq!(text.0["tokens"], object.0["tokens"]);
        let mut plain = as_text;
        plain["format"] = "markdown".into();
        assert!(editor.assemble_with(plain).text().starts_with("# [1] System"));
    }
}

#[test]
fn a_client_adds_fields_to_the_body_behind_those_that_are_there() {
    let mut editor = Editor::start(&small());
    let extra = json!({ "stream": true, "max_tokens": 1024, "metadata": { "user_id": "u" } });
    let plain = editor.assemble().bytes();
    let expected =
        format!("{},{}", plain.strip_suffix('}').unwrap(), extra.to_string().strip_prefix('{').unwrap());
    assert_eq!(editor.assemble_with(json!({ "extra": extra })).bytes(), expected);
    let text = editor.assemble_with(json!({ "extra": extra, "bodyAs": "text" }));
    assert_eq!(text.0["body"].as_str().unwrap(), expected);
    let recorded = editor.run("prompt.record", json!({ "id": text.id(), "response": "Yes." }));
    assert_eq!(recorded["messages"], 2);
}

#[test]
fn a_field_that_is_stratas_cannot_be_added() {
    let mut editor = Editor::start(&small());
    for (format, field) in [
        ("anthropic", "system"),
        ("anthropic", "tools"),
        ("anthropic", "cache_control"),
        ("openai", "messages"),
        ("openai", "prompt_cache_key"),
        ("openai", "prompt_cache_options"),
    ] {
        let asked = json!({ "prompt": "x", "format": format, "extra": { "stream": true, field: [] } });
        let refused = editor.refused("prompt.assemble", asked);
        assert_eq!(refused.data["path"], format!("extra.{field}"), "{refused}");
    }
    let asked = json!({ "prompt": "x", "format": "markdown", "extra": { "stream": true } });
    assert_eq!(editor.refused("prompt.assemble", asked).data["path"], "extra");
}
