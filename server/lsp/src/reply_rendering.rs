//! Decides which outcomes of commands to show to the user, because editors may drop replies and only log errors.

use serde_json::Value;
use tower_lsp::ls_types::{MessageType, Uri};

use strata_app::commands::{CommandDefinition, CommandError};

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct UserMessage {
    pub kind: MessageType,
    pub message: String,
    /// A document with the details. Clients that can open it show it instead of the message.
    pub document: Option<Uri>,
}

impl UserMessage {
    /// Returns the message that shows the outcome of a command to the user. Returns `None` for a command whose outcome
    /// is not shown, and for a cancelled command.
    pub(crate) fn for_outcome(command: &str, outcome: &Result<Value, CommandError>) -> Option<Self> {
        CommandDefinition::by_name(command).filter(|command| command.shown)?;
        match outcome {
            Ok(reply) => {
                let text = |field: &str| reply.get(field).and_then(Value::as_str);
                let document = text("uri").and_then(|uri| uri.parse().ok());
                Some(Self { kind: MessageType::INFO, message: text("message")?.to_owned(), document })
            }
            // The user who cancelled the command needs no message.
            Err(CommandError::Cancelled) => None,
            Err(error) => Some(Self { kind: MessageType::ERROR, message: error.to_string(), document: None }),
        }
    }
}
