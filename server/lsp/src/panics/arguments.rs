//! Arguments with which each command has an effect. For a command that is not listed here, they are derived from its
//! schema.

use serde_json::{Map, Value, json};

use super::client::Client;
use crate::protocol;

/// Builds valid arguments for every command, using the ids of one test server.
pub(super) struct CommandArguments {
    schema: Value,
    document: String,
    /// Id of a stored session that is not the current one.
    session: Value,
    /// Id of a prompt that has been assembled but not sent.
    prompt: Value,
    /// Id of a message with a tool result.
    output: Value,
}

impl CommandArguments {
    pub(super) fn new(client: &Client, [session, prompt, output]: [&Value; 3]) -> Self {
        Self {
            schema: protocol::schema(),
            document: client.uri("src/week.rs"),
            session: session.clone(),
            prompt: prompt.clone(),
            output: output.clone(),
        }
    }

    pub(super) fn for_command(&self, name: &str) -> Value {
        let messages =
            r#"[{"role": "user", "content": "And lunch?"}, {"role": "assistant", "content": "At noon."}]"#;
        let session_log =
            "{\"strataSession\":1,\"id\":\"s-0123456789abcdef\",\"name\":\"\",\"createdMs\":1}\n";
        match name.trim_start_matches("strata.") {
            "prompt.record" => json!({ "id": self.prompt, "response": "It is done." }),
            "prompt.discard" => json!({ "id": self.prompt }),
            "prompt.assemble" => json!({ "toolResults": [
                { "callId": "call-1", "content": [{ "type": "text", "text": "fine" }] },
            ] }),
            "session.load" => json!({ "id": self.session }),
            "session.import" => json!({ "text": session_log }),
            "history.import" => json!({ "text": messages }),
            "history.set" => json!({ "messages": [{ "role": "user", "content": "Plan soups." }] }),
            "history.edit" => json!({ "id": 1, "content": "Plan no soups." }),
            "history.hide" => json!({ "id": 1, "agent": "hidden" }),
            "toolOutput.add" => json!({ "content": "running 2 tests", "callId": "call-1" }),
            "files.rename" => json!({ "files": [{ "from": "src/lib.rs", "to": "src/planner.rs" }] }),
            "files.include" => json!({ "paths": ["notes.txt"] }),
            "files.add" => json!({ "path": "plan.md", "content": "Lunch." }),
            "files.select" | "files.set" | "files.exclude" | "files.markRead" => {
                json!({ "paths": ["src/week.rs"] })
            }
            "here.select" | "here.deselect" | "here.toggle" | "here.exclude" | "here.include"
            | "here.ask" => {
                json!({ "uri": self.document })
            }
            "toolOutput.read" => json!({ "id": self.output }),
            "iteration.add" => json!({ "iteration": { "prompt": "Go on.", "output": "Half done." } }),
            "tiers.policy" => json!({ "policy": "flat" }),
            "context.pin" | "context.unpin" | "context.dismiss" => {
                json!({ "excerpts": ["src/week.rs#Week"] })
            }
            "url.add" => json!({ "url": "https://example.org/tea", "content": "Boil more water." }),
            "url.remove" => json!({ "url": "https://example.org/soup" }),
            "compaction.run" => json!({ "profile": "handoff" }),
            _ => self.minimal_value(&self.schema["commands"][name]["params"], ""),
        }
    }

    /// Returns a minimal value that `schema` accepts. `field` is the name of the field that the value is for.
    fn minimal_value(&self, schema: &Value, field: &str) -> Value {
        if let Some(reference) = schema["$ref"].as_str() {
            let definition = reference.trim_start_matches("#/$defs/");
            return self.minimal_value(&self.schema["$defs"][definition], field);
        }
        for choice in ["anyOf", "oneOf", "allOf", "enum"] {
            if let Some(first) = schema[choice].get(0) {
                return if choice == "enum" { first.clone() } else { self.minimal_value(first, field) };
            }
        }
        if let Some(only) = schema.get("const") {
            return only.clone();
        }
        let kind = schema["type"].as_str().or_else(|| schema["type"][0].as_str()).unwrap_or("object");
        match kind {
            "string" if field == "uri" => self.document.clone().into(),
            "string" => "src/lib.rs".into(),
            "integer" | "number" => 1.into(),
            "boolean" => true.into(),
            "null" => Value::Null,
            "array" => json!([self.minimal_value(&schema["items"], field)]),
            _ => {
                let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
                let field =
                    |name: &str| (name.to_owned(), self.minimal_value(&schema["properties"][name], name));
                Value::Object(required.map(field).collect::<Map<String, Value>>())
            }
        }
    }
}
