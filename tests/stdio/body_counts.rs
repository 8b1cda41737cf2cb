//! The reply against its own body: tokens are those of the text that is sent, and the same state gives the same bytes.

use e2e::{Editor, Prompt, Repo};
use serde_json::{Value, json};
use strata_tokens::counting::TokenCounter;
use strata_tokens::models::Models;

use crate::small;

const CASES: [(&str, &str, &str); 6] = [
    ("claude-sonnet-4-5", "anthropic", "ledger"),
    ("gpt-4o", "openai", "ledger"),
    ("claude-sonnet-4-5", "anthropic", "flat"),
    ("claude-sonnet-4-5", "anthropic", "ripple"),
    ("gpt-4o", "openai", "flat"),
    ("gpt-4o", "openai", "ripple"),
];

fn tools() -> Value {
    json!([
        { "name": "look", "description": "Looks at é things.", "input_schema": { "type": "object", "properties": {} } },
        { "name": "listen", "description": "", "input_schema": { "type": "object" } },
    ])
}

/// What the body weighs, counted from the body alone.
fn recount(prompt: &Prompt, tools: &Value) -> usize {
    let body = &prompt.0["body"];
    let model = Models::builtin().resolve(prompt.0["model"].as_str().unwrap()).model;
    let counter = TokenCounter::default();
    let count = |text: &str| counter.count(model.tokenizer, text);

    let said = body["messages"].as_array().unwrap().iter();
    let texts = texts(&body["system"]).into_iter().chain(said.flat_map(|message| {
        let calls = message["tool_calls"].as_array().into_iter().flatten().map(|call| &call["function"]);
        let called = calls.flat_map(|call| [&call["name"], &call["arguments"]]);
        called.flat_map(texts).chain(texts(&message["content"])).collect::<Vec<_>>()
    }));
    let texts = texts.map(|text| count(&text));
    let tools = tools.as_array().unwrap();
    let declared = tools.iter().map(|tool| {
        let text = |name: &str| count(tool[name].as_str().unwrap());
        text("name") + text("description") + count(&tool["input_schema"].to_string())
    });
    // Anthropic's system prompt is next to the messages, OpenAI's among them.
    let system = usize::from(!body["system"].is_null());
    let results = body.to_string().matches("\"tool_result\"").count()
        + body.to_string().matches("\"role\":\"tool\"").count();
    let messages = body["messages"].as_array().unwrap().len() + system;
    let each = model.overheads;
    let structure = each.message * messages
        + each.reply
        + if tools.is_empty() { 0 } else { each.tool_prompt + each.tool * tools.len() }
        + each.tool_round_trip * results;
    texts.sum::<usize>() + declared.sum::<usize>() + structure
}

/// Returns the texts of a message's content, and of the calls and results in it.
fn texts(content: &Value) -> Vec<String> {
    let own = content.as_str().map(str::to_owned);
    let blocks = content.as_array().into_iter().flatten().flat_map(|block| {
        assert!(!block["type"].as_str().unwrap().contains("image"), "there are no pictures in this test");
        let called = [block["name"].as_str().map(str::to_owned), block.get("input").map(Value::to_string)];
        let said = block["text"].as_str().map(str::to_owned);
        said.into_iter().chain(called.into_iter().flatten()).chain(texts(&block["content"]))
    });
    own.into_iter().chain(blocks).collect()
}

fn session(repo: &Repo) -> Editor {
    let mut editor = Editor::start(repo);
    editor.open("src/greet.rs");
    editor.type_behind("src/greet.rs", "String {\n", "    // naïve 🦀\r\n");
    editor.select(&["src/greet.rs", "tool.py"]);
    editor.run("history.addExchange", json!({ "user": "Who é?", "assistant": "Nobody." }));
    editor
}

#[test]
fn the_tokens_of_a_prompt_are_those_of_its_body() {
    let repo = small();
    for (model, format, policy) in CASES {
        let mut editor = session(&repo);
        let mut turn = |argument: Value, answer: Value| {
            let prompt = editor.assemble_with(argument.clone());
            let parts: u64 = prompt.0["tokens"]["parts"]
                .as_object()
                .unwrap()
                .values()
                .map(|part| part.as_u64().unwrap())
                .sum();
            let tiers: u64 = prompt.0["tiers"]
                .as_array()
                .unwrap()
                .iter()
                .map(|tier| tier["tokens"].as_u64().unwrap())
                .sum();
            let part = |name: &str| prompt.0["tokens"]["parts"][name].as_u64().unwrap_or_default();
            assert_eq!(prompt.tokens(), parts, "{model} {policy}: the parts add up");
            assert_eq!(tiers + part("structure") + part("tools"), parts, "{model} {policy}: so do the tiers");
            let tools = if argument["tools"].is_null() { json!([]) } else { argument["tools"].clone() };
            let expected = recount(&prompt, &tools);
            assert_eq!(prompt.tokens(), expected as u64, "{model} {policy}: {}", prompt.0["tokens"]);
            assert_eq!(prompt.0["policy"], policy);
            editor.run("prompt.record", json!({ "id": prompt.id(), "response": answer }));
        };
        let ask = json!({ "prompt": "What é?", "model": model, "format": format, "policy": policy });
        let with = |extra: Value| {
            let mut ask = ask.clone();
            ask.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
            ask
        };
        turn(ask.clone(), json!("An answer 🦀."));
        let call = json!([
            { "type": "text", "text": "I look." },
            { "type": "tool_call", "id": "c1", "name": "look", "input": { "at": "é" } },
        ]);
        turn(with(json!({ "tools": tools() })), call);
        let results = json!([{ "callId": "c1", "content": [{ "type": "text", "text": "a 🦀" }] }]);
        turn(with(json!({ "prompt": null, "toolResults": results, "tools": tools() })), json!("Seen."));
        turn(ask.clone(), json!("Done."));
    }
}

#[test]
fn the_same_state_gives_the_same_bytes_in_another_process() {
    let repo = small();
    for (model, format, policy) in CASES {
        let ask = json!({ "model": model, "format": format, "policy": policy, "tools": tools() });
        let bodies = [(); 2].map(|()| {
            let mut editor = session(&repo);
            let first = editor.assemble_with(ask.clone());
            let again = editor.assemble_with(ask.clone());
            assert_eq!(first.bytes(), again.bytes(), "{model} {policy}: and in the same one");
            editor.run("prompt.record", json!({ "id": again.id(), "response": "Yes." }));
            (first.bytes(), editor.assemble_with(ask.clone()).bytes())
        });
        assert_eq!(bodies[0], bodies[1], "{model} {policy}");
    }
}

#[test]
fn a_markdown_prompt_is_a_text() {
    let mut editor = session(&small());
    let prompt = editor.assemble_with(json!({ "format": "markdown" }));
    assert!(prompt.0["body"].is_string());
    assert_eq!((prompt.count("naïve 🦀"), prompt.count("Who é?")), (1, 1));
}
