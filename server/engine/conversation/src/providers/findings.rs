//! Collects violations, and contains checks that several dialects share. The `check` of a dialect reports each broken
//! rule, in time linear in the size of the body. It shares no code with the writer, so that mistakes of the writer are
//! found.

use std::collections::HashSet;

use serde_json::Value;

use super::json_fields::{list, text};
use super::rule::{Rule, Violation};

/// Violations found so far.
#[derive(Default)]
pub(crate) struct Findings {
    violations: Vec<Violation>,
    tool_names: HashSet<String>,
}

impl Findings {
    /// Adds a violation of `rule` at the JSON pointer `path`.
    pub(super) fn add(&mut self, rule: Rule, path: impl Into<String>, detail: impl Into<String>) {
        self.violations.push(Violation { path: path.into(), rule, detail: detail.into() });
    }

    /// Returns the string at `key` of `object`, or adds a violation if there is none.
    pub(super) fn require_string<'a>(&mut self, object: &'a Value, key: &str, path: &str) -> Option<&'a str> {
        let text = object.get(key).and_then(Value::as_str);
        if text.is_none() {
            self.add(Rule::Shape, path, format!("`{key}` must be a string"));
        }
        text
    }

    /// Checks that the field `key` of `object` is an object.
    pub(super) fn check_object(&mut self, object: &Value, key: &str, rule: Rule, path: &str, detail: &str) {
        if !object.get(key).is_some_and(Value::is_object) {
            self.add(rule, path, detail);
        }
    }

    /// Checks that the field `key` of `body` names a model.
    pub(super) fn check_model(&mut self, body: &Value, key: &str) {
        if text(body, key).is_empty() {
            self.add(Rule::Shape, format!("/{key}"), format!("`{key}` must name a model"));
        }
    }

    /// Returns the messages of `body`, after checking that it has a model and a non-empty list of messages.
    pub(super) fn require_messages<'a>(&mut self, body: &'a Value) -> &'a [Value] {
        self.check_model(body, "model");
        let details = ["`messages` must be a list", "at least one message is required"];
        self.require_non_empty_list(body, "messages", "/messages", details)
    }

    /// Returns the list at `key` of `object`. Adds a violation at `path` if there is none, or if it is empty, with the
    /// first or the second of the `details`.
    pub(super) fn require_non_empty_list<'a>(
        &mut self,
        object: &'a Value,
        key: &str,
        path: &str,
        [missing, empty]: [&str; 2],
    ) -> &'a [Value] {
        match object.get(key).and_then(Value::as_array) {
            None => self.add(Rule::Shape, path, missing),
            Some(list) if list.is_empty() => self.add(Rule::EmptyMessage, path, empty),
            Some(_) => {}
        }
        list(object, key)
    }

    pub(super) fn declared_tools<'a>(&mut self, body: &'a Value) -> &'a [Value] {
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
    pub(super) fn check_declaration(&mut self, tool: &Value, schema: Option<&Value>, path: &str) {
        let Some(name) = self.check_tool_name(tool, path) else { return };
        if !self.tool_names.insert(name.to_owned()) {
            self.add(Rule::ToolTwice, path, format!("the tool `{name}` is declared twice"));
        }
        if schema.and_then(|schema| schema.get("type")).and_then(Value::as_str) != Some("object") {
            self.add(Rule::ToolSchema, path, "a tool's schema must have the type `object`");
        }
    }

    /// Returns the name of a declared or called tool, after checking its form.
    pub(super) fn check_tool_name<'a>(&mut self, tool: &'a Value, path: &str) -> Option<&'a str> {
        let name = self.require_string(tool, "name", path)?;
        let fits = (1..=64).contains(&name.len()) && name.bytes().all(is_word_byte);
        if !fits {
            let detail = format!("the tool name {name:?} does not match ^[a-zA-Z0-9_-]{{1,64}}$");
            self.add(Rule::ToolName, path, detail);
        }
        Some(name)
    }

    /// Returns the id of a call, after checking that it has at most `max` characters.
    pub(super) fn check_call_id<'a>(
        &mut self,
        call: &'a Value,
        key: &str,
        max: usize,
        path: &str,
    ) -> Option<&'a str> {
        let id = self.require_string(call, key, path)?;
        if !(1..=max).contains(&id.chars().count()) {
            self.add(Rule::CallId, path, format!("a call's id must have 1 to {max} characters"));
        }
        Some(id)
    }

    /// Adds a violation for each call, by id and path, whose result is missing in the next message.
    pub(super) fn report_unanswered<'a>(&mut self, calls: impl IntoIterator<Item = (&'a str, String)>) {
        for (id, path) in calls {
            let detail = format!("the call `{id}` has no result in the next message");
            self.add(Rule::CallAnswered, path, detail);
        }
    }

    /// Checks the URL of an image in OpenAI's formats, and that its message is from the user.
    pub(super) fn check_image_url(&mut self, url: &str, role: &str, path: &str) {
        if role != "user" {
            self.add(Rule::BlockPlace, path, "only user messages can contain images");
        }
        if !url.starts_with("data:image/") && !is_web_address(url) {
            self.add(Rule::ImageForm, path, "an image must be a `data:`, `http:` or `https:` URL");
        }
    }

    /// Returns all violations in the order in which they were added.
    pub(super) fn into_vec(self) -> Vec<Violation> {
        self.violations
    }
}

/// Whether a byte may appear in a tool name or a call id.
pub(crate) fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// Whether `url` is a URL that a provider can fetch.
pub(crate) fn is_web_address(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://")
}
