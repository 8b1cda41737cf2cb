//! Collects violations, and contains checks that several dialects share.

use std::collections::HashSet;

use serde_json::Value;

use super::rule::{Rule, Violation};

/// Violations found so far.
#[derive(Default)]
pub(super) struct Findings {
    found: Vec<Violation>,
    tool_names: HashSet<String>,
}

impl Findings {
    /// Adds a violation of `rule` at the JSON pointer `path`.
    pub(super) fn add(&mut self, rule: Rule, path: impl Into<String>, detail: impl Into<String>) {
        self.found.push(Violation { path: path.into(), rule, detail: detail.into() });
    }

    /// Returns the string at `key` of `object`, or adds a violation if there is none.
    pub(super) fn string<'a>(&mut self, object: &'a Value, key: &str, path: &str) -> Option<&'a str> {
        let text = object.get(key).and_then(Value::as_str);
        if text.is_none() {
            self.add(Rule::Shape, path, format!("`{key}` must be a string"));
        }
        text
    }

    /// Returns the messages of `body`, after checking that it has a model and a non-empty list of messages.
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

    /// Checks a declared tool: the form and uniqueness of its name, and the type of its schema.
    pub(super) fn declaration(&mut self, name: &str, schema: Option<&Value>, path: &str) {
        self.tool_name(name, path);
        if !self.tool_names.insert(name.to_owned()) {
            self.add(Rule::ToolTwice, path, format!("the tool `{name}` is declared twice"));
        }
        if schema.and_then(|schema| schema.get("type")).and_then(Value::as_str) != Some("object") {
            self.add(Rule::ToolSchema, path, "a tool's schema must have the type `object`");
        }
    }

    /// Checks the form of a tool name, declared or called.
    pub(super) fn tool_name(&mut self, name: &str, path: &str) {
        let fits = (1..=64).contains(&name.len()) && name.bytes().all(is_word);
        if !fits {
            let detail = format!("the tool name {name:?} does not match ^[a-zA-Z0-9_-]{{1,64}}$");
            self.add(Rule::ToolName, path, detail);
        }
    }

    /// Returns all violations in the order in which they were added.
    pub(super) fn into_vec(self) -> Vec<Violation> {
        self.found
    }
}

/// Whether a byte may appear in a tool name or a call id.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// Whether `url` is a URL that a provider can fetch.
pub(super) fn is_web_address(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://")
}
