//! Conversations in and out of the project: message lists in the providers' forms, and recorded transcripts.
//! Reading and writing again gives back what was read, up to what is listed at each form; nothing is repaired
//! here (`history::project` does) and nothing is laid out for a request (`wire` does).
//!
//! What a form says beyond the model is kept beside the message ([`NewMessage::extra`]) and written again in
//! that form as long as the message still says the same. What a form cannot express is left out when written:
//! visibility, kinds, pins, times, files, the sides of pictures, foreign blocks of others that say nothing in
//! plain text.

mod anthropic;
mod check;
mod extra;
mod fields;
mod openai;
mod record;
mod responses;
mod sniff;
#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::conversation::history::NewMessage;

pub(crate) use anthropic::read_anthropic;
#[cfg(test)]
pub(crate) use anthropic::write_anthropic;

pub use check::{Purpose, violations};
pub(crate) use openai::read_openai;
#[cfg(test)]
pub(crate) use openai::write_openai;
pub(crate) use responses::read_responses;
#[cfg(test)]
pub(crate) use responses::write_responses;
#[cfg(test)]
pub(crate) use sniff::sniff;
pub use sniff::{Form, ImportedConversation, read_any};

/// A conversation as it was read.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct ReadList {
    /// What stands before the conversation, told to the model as its instructions.
    pub system: Vec<NewMessage>,
    /// The conversation.
    pub messages: Vec<NewMessage>,
}

/// A value is not in the form it was taken for.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}: {problem}", if path.is_empty() { "the whole value" } else { path })]
pub struct ReadError {
    /// A JSON pointer (RFC 6901) to the offending value; empty for the whole.
    pub path: String,
    /// What is wrong, as a clause.
    pub problem: String,
}

impl ReadError {
    fn new(problem: impl Into<String>) -> Self {
        Self { path: String::new(), problem: problem.into() }
    }

    /// The same error, seen from outside of `step`.
    fn inside(mut self, step: impl std::fmt::Display) -> Self {
        self.path = format!("/{step}{}", self.path);
        self
    }
}

/// The list in `value`: itself, the field `name` of a body, or one message that stands alone. With it, the path
/// to it.
fn list_in<'a>(value: &'a Value, name: &str) -> Result<(&'a [Value], String), ReadError> {
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

/// Reads each of a list; an error names its place.
fn each<'a, T>(
    (list, path): (&'a [Value], String),
    read: impl Fn(&'a Value) -> Result<T, ReadError>,
) -> Result<Vec<T>, ReadError> {
    let place = |index, error: ReadError| ReadError {
        path: format!("{path}/{index}{}", error.path),
        problem: error.problem,
    };
    list.iter().enumerate().map(|(index, value)| read(value).map_err(|error| place(index, error))).collect()
}
