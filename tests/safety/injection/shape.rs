//! What of a request is structure: who speaks, in how many blocks of which kind; the system message; and the lines of ours that stand
//! outside of all fences.

use serde_json::Value;

/// The speakers of a request and the kinds of their blocks, a line for each message.
pub(crate) fn shape(body: &Value) -> Vec<String> {
    let system = body.get("system").map(|system| line("system", system));
    let messages = body["messages"].as_array().unwrap().iter().map(|message| {
        let mut line = line(message["role"].as_str().unwrap(), &message["content"]);
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            line.push_str(call["type"].as_str().unwrap());
        }
        line
    });
    system.into_iter().chain(messages).collect()
}

/// A text by itself is one block: Anthropic and OpenAI take it as such.
fn line(role: &str, content: &Value) -> String {
    let mut line = format!("{role}:");
    match content {
        Value::Array(blocks) => {
            for block in blocks {
                line.push(' ');
                line.push_str(block["type"].as_str().unwrap());
            }
        }
        Value::Null => {}
        _ => line.push_str(" text"),
    }
    line
}

/// Everything that the system says.
pub(crate) fn system(body: &Value) -> String {
    let mut said = Vec::new();
    texts(&body["system"], &mut said);
    for message in body["messages"].as_array().unwrap() {
        if ["system", "developer"].contains(&message["role"].as_str().unwrap()) {
            texts(&message["content"], &mut said);
        }
    }
    said.join("\n---\n")
}

/// How many lines of each kind of ours stand outside of fences in what is not part of the conversation: headings, tags, and
/// fences. `is_ours` picks the blocks.
pub(crate) fn furniture(body: &Value, is_ours: impl Fn(&str) -> bool) -> Vec<(String, usize)> {
    let mut said = Vec::new();
    texts(&body["system"], &mut said);
    for message in body["messages"].as_array().unwrap() {
        texts(&message["content"], &mut said);
    }
    let mut kinds = std::collections::BTreeMap::new();
    for text in said.iter().filter(|text| is_ours(text)) {
        let mut fence: Option<String> = None;
        for line in text.lines() {
            let ticks: String = line.chars().take_while(|c| *c == '`').collect();
            match &fence {
                Some(open) if *open == line => fence = None,
                Some(_) => continue,
                None if ticks.len() >= 3 => fence = Some(ticks),
                None => {
                    // The map has its heading as often as its weight wants.
                    let is_counted = !line.starts_with("# Repository Structure");
                    let kind = ["## ", "<"].into_iter().find(|kind| line.starts_with(kind));
                    let kind = kind.or_else(|| line.starts_with("# ").then_some(line));
                    if let Some(kind) = kind.filter(|_| is_counted) {
                        *kinds.entry(kind.to_owned()).or_insert(0) += 1;
                    }
                }
            }
        }
        assert_eq!(fence, None, "a fence stays open:\n{text}");
    }
    kinds.into_iter().collect()
}

fn texts(content: &Value, said: &mut Vec<String>) {
    match content {
        Value::String(text) => said.push(text.clone()),
        Value::Array(blocks) => {
            said.extend(blocks.iter().filter_map(|block| Some(block["text"].as_str()?.to_owned())));
        }
        _ => {}
    }
}
