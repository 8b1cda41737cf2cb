//! Captures the state of a server as visible to a client, without values that differ between two calls or two servers.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::client::{Answer, Client};

/// Commands that report state without changing it.
const STATE_COMMANDS: [&str; 12] = [
    "strata.history.get",
    "strata.files.list",
    "strata.url.list",
    "strata.memory.list",
    "strata.session.list",
    "strata.session.export",
    "strata.session.steps",
    "strata.iteration.status",
    "strata.compaction.status",
    "strata.tiers.policy",
    "strata.redaction.list",
    "strata.prompt.preview",
];

/// Returns the visible state of a server, and its stored state.
pub(super) fn visible_state(client: &mut Client) -> Value {
    let mut state = Map::new();
    for name in STATE_COMMANDS {
        let arguments = if name == "strata.prompt.preview" { json!({ "prompt": "?" }) } else { json!({}) };
        let mut reply = client.run_ok(name, arguments);
        without_times(&mut reply);
        state.insert(name.to_owned(), reply);
    }
    Value::Object(state)
}

/// Describes the first difference between two states.
pub(super) fn difference(left: &Value, right: &Value) -> String {
    match (left, right) {
        (Value::Object(left), Value::Object(right)) if left.len() == right.len() => {
            let differs = left.iter().find(|(name, value)| right.get(*name) != Some(value));
            differs.map_or_else(String::new, |(name, value)| {
                format!("{name}: {}", difference(value, right.get(name).unwrap_or(&Value::Null)))
            })
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            let differs = left.iter().zip(right).find(|(left, right)| left != right);
            differs.map_or_else(String::new, |(left, right)| difference(left, right))
        }
        _ => format!("{left}\nis now {right}"),
    }
}

/// Removes times, which are not part of the state.
fn without_times(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                if name.ends_with("Ms") || name.ends_with("_ms") {
                    *field = Value::Null;
                }
                without_times(field);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(without_times),
        // A stored session is exported as JSON lines.
        Value::String(text) if text.starts_with("{\"strataSession\"") => {
            let lines = text.lines().filter_map(|line| serde_json::from_str(line).ok());
            let mut lines: Vec<Value> = lines.collect();
            lines.iter_mut().for_each(without_times);
            *value = lines.into();
        }
        _ => {}
    }
}

/// Replaces random names with numbers in order of appearance, so that the answers of two servers can be compared.
#[derive(Default)]
pub(super) struct RandomNameMasks(BTreeMap<String, usize>);

impl RandomNameMasks {
    /// Returns an answer with all random names replaced.
    pub(super) fn apply_to(answer: &Answer) -> Answer {
        let mut masks = Self::default();
        match answer {
            Ok(reply) => {
                let mut reply = reply.clone();
                without_times(&mut reply);
                Ok(masks.masked(&reply))
            }
            Err(error) => Err(masks.text(error)),
        }
    }

    pub(super) fn masked(&mut self, value: &Value) -> Value {
        match value {
            Value::String(text) => self.text(text).into(),
            Value::Array(items) => items.iter().map(|item| self.masked(item)).collect(),
            Value::Object(fields) => {
                fields.iter().map(|(name, field)| (name.clone(), self.masked(field))).collect()
            }
            other => other.clone(),
        }
    }

    fn text(&mut self, text: &str) -> String {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-';
        // The state of all files begins with the time at which the server started.
        let is_state = |word: &str| {
            let start = word.split_once('-').map_or("", |(start, _)| start);
            start.len() == 13 && start.bytes().all(|byte| byte.is_ascii_digit())
        };
        let random = |word: &&str| {
            (word.starts_with("s-") && word.len() == 18)
                || (word.starts_with("tmp") && word.len() > 3)
                || is_state(word)
        };
        let mut masked = text.to_owned();
        let words: Vec<&str> = text.split(|c| !is_word(c)).filter(random).collect();
        for word in words {
            let next = self.0.len();
            let number = *self.0.entry(word.to_owned()).or_insert(next);
            masked = masked.replace(word, &format!("<{number}>"));
        }
        masked
    }
}
