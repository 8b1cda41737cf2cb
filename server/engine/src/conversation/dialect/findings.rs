//! Collects violations, and holds the checks that both providers share. Knows no dialect.

use std::collections::HashSet;

use serde_json::Value;

use super::rule::{Rule, Violation};

/// The violations found so far.
#[derive(Default)]
pub(super) struct Findings {
    found: Vec<Violation>,
    tool_names: HashSet<String>,
}

impl Findings {
    /// Notes a breach of `rule` at the JSON pointer `path`.
    pub(super) fn add(&mut self, rule: Rule, path: impl Into<String>, detail: impl Into<String>) {
        self.found.push(Violation { path: path.into(), rule, detail: detail.into() });
    }

    /// The string at `key` of `object`; notes its absence.
    pub(super) fn string<'a>(&mut self, object: &'a Value, key: &str, path: &str) -> Option<&'a str> {
        let text = object.get(key).and_then(Value::as_str);
        if text.is_none() {
            self.add(Rule::Shape, path, format!("`{key}` must be a string"));
        }
        text
    }

    /// `model` and a list of messages, without which nothing else can be checked.
    pub(super) fn messages<'a>(&mut self, body: &'a Value) -> &'a [Value] {
        if body.get("model").and_then(Value::as_str).is_none_or(str::is_empty) {
            self.add(Rule::Shape, "/model", "`model` must name a model");
        }
        let Some(messages) = body.get("messages").and_then(Value::as_array) else {
            self.add(Rule::Shape, "/messages", "`messages` must be a list");
            return &[];
        };
        if messages.is_empty() {
            self.add(Rule::EmptyMessage, "/messages", "at least one message is required");
        }
        messages
    }

    /// The list of declared tools, if any.
    pub(super) fn tools<'a>(&mut self, body: &'a Value) -> &'a [Value] {
        match body.get("tools") {
            None => &[],
            Some(Value::Array(tools)) => tools,
            Some(_) => {
                self.add(Rule::Shape, "/tools", "`tools` must be a list");
                &[]
            }
        }
    }

    /// A declared tool: its name's form and uniqueness, its schema.
    pub(super) fn declaration(&mut self, name: &str, schema: Option<&Value>, path: &str) {
        self.tool_name(name, path);
        if !self.tool_names.insert(name.to_owned()) {
            self.add(Rule::ToolTwice, path, format!("the tool `{name}` is declared twice"));
        }
        if schema.and_then(|schema| schema.get("type")).and_then(Value::as_str) != Some("object") {
            self.add(Rule::ToolSchema, path, "a tool's schema must have the type `object`");
        }
    }

    /// The form of a tool's name, declared or called.
    pub(super) fn tool_name(&mut self, name: &str, path: &str) {
        let fits = (1..=64).contains(&name.len()) && name.bytes().all(is_word);
        if !fits {
            let detail = format!("the tool name {name:?} does not match ^[a-zA-Z0-9_-]{{1,64}}$");
            self.add(Rule::ToolName, path, detail);
        }
    }

    /// All violations, in the order of their discovery.
    pub(super) fn into_vec(self) -> Vec<Violation> {
        self.found
    }
}

/// Whether a byte may appear in a tool's name or a call's id.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// Whether a text is an address that a provider can fetch.
pub(super) fn is_web_address(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://")
}
