//! The two sides of a conversation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The speaker of a message.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The user, or the program that acts for them; tool results come under this role too.
    User,
    /// The model.
    Assistant,
}
