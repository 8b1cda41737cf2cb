//! Identifiers of sessions and memory fragments.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Identifier of a session: 1 to 64 lowercase letters, digits, `-` or `_`, starting with a letter or digit. Valid as a
/// file name on every system, including case-insensitive ones.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(transparent)]
pub struct SessionId(pub(super) Box<str>);

/// Identifier of a memory fragment, unique within the workspace and never reused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NoteId(pub i64);

impl SessionId {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the identifier is `main`, which always means the current session, so a stored session cannot have it.
    pub fn is_reserved(&self) -> bool {
        &*self.0 == "main"
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for NoteId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "m{}", self.0)
    }
}
