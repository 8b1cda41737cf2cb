//! Imports and exports conversations: recorded transcripts, and the message lists of providers, whose folders read them. Reading
//! drops fields that models do not see. Does not repair conversations (`history::project` does) or build requests
//! (`wire` does).

mod agent_files;
mod agents;
pub(crate) mod fields;
mod record;
mod sniff;
#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::history::NewMessage;

pub use agent_files::{ExportOrigin, write_conversation};

#[cfg(test)]
pub(crate) use sniff::detect_format;
pub use sniff::{ConversationFormat, ImportedConversation, import_conversation};
#[cfg(test)]
pub(crate) use tests::check::{Purpose, violations};

/// A conversation read from a message list.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct ReadList {
    /// Instructions to the model that precede the conversation.
    pub system: Vec<NewMessage>,
    pub messages: Vec<NewMessage>,
}

/// Error for a value that does not match the expected format.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}: {problem}", if path.is_empty() { "the whole value" } else { path })]
pub struct ReadError {
    /// JSON pointer (RFC 6901) to the offending value; empty for the whole value.
    pub path: String,
    /// Description of the problem, as a clause.
    pub problem: String,
}

impl ReadError {
    pub(crate) fn new(problem: impl Into<String>) -> Self {
        Self { path: String::new(), problem: problem.into() }
    }

    /// Prefixes the path of the error with `step`.
    pub(crate) fn inside(mut self, step: impl std::fmt::Display) -> Self {
        self.path = format!("/{step}{}", self.path);
        self
    }
}

/// Returns the list of messages in `value` and its JSON pointer. `value` is the list itself, an object with
/// the list in the field `name`, or a single message.
pub(crate) fn message_list_in<'a>(value: &'a Value, name: &str) -> Result<(&'a [Value], String), ReadError> {
    let one_message = |value: &Value| value.get("role").is_some() || value.get("type").is_some();
    match (value, value.get(name)) {
        (Value::Array(list), _) => Ok((list, String::new())),
        (_, Some(Value::Array(list))) => Ok((list, format!("/{name}"))),
        (_, Some(_)) => Err(ReadError::new("must be a list of messages").inside(name)),
        (Value::Object(_), None) if one_message(value) => Ok((std::slice::from_ref(value), String::new())),
        _ => {
            Err(ReadError::new(format!("must be a list of messages, an object with `{name}`, or a message")))
        }
    }
}

/// Applies `read` to each item of a list. Errors contain the path of the item.
pub(crate) fn read_each_item<'a, T>(
    (list, path): (&'a [Value], String),
    read: impl Fn(&'a Value) -> Result<T, ReadError>,
) -> Result<Vec<T>, ReadError> {
    let place = |index, error: ReadError| ReadError {
        path: format!("{path}/{index}{}", error.path),
        problem: error.problem,
    };
    list.iter().enumerate().map(|(index, value)| read(value).map_err(|error| place(index, error))).collect()
}
