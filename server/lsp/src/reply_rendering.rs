//! What the user is shown of a command because the editor may drop replies and log errors. Decides what to show, not how.

use serde_json::Value;
use tower_lsp::ls_types::{MessageType, Uri};

use strata_app::commands::{CommandError, Definition};

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct UserMessage {
    pub kind: MessageType,
    pub message: String,
    /// A document that says more; where the client can show it, it takes the place of the message.
    pub document: Option<Uri>,
}

impl UserMessage {
    /// What to show of a command's outcome.
    pub(crate) fn of(command: &str, outcome: &Result<Value, CommandError>) -> Option<Self> {
        Definition::named(command).filter(|command| command.shown)?;
        match outcome {
            Ok(reply) => {
                let text = |field: &str| reply.get(field).and_then(Value::as_str);
                let document = text("uri").and_then(|uri| uri.parse().ok());
                Some(Self { kind: MessageType::INFO, message: text("message")?.to_owned(), document })
            }
            // Whoever cancelled it knows.
            Err(CommandError::Cancelled) => None,
            Err(error) => Some(Self { kind: MessageType::ERROR, message: error.to_string(), document: None }),
        }
    }
}
