//! The roles of a conversation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Sender of a message.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The user, or a program that acts for the user. Tool results also have this role.
    User,
    /// The model that answers.
    Assistant,
}

impl Role {
    /// Returns the name that most providers use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}
