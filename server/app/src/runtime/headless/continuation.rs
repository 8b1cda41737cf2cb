//! The conversation to continue if the user names none.

use super::HeadlessWorkspace;
use crate::clock::now_ms;
use crate::commands::CommandError;
use crate::model::workspace_context::current_branch;

/// Age after which a conversation is not continued unless the user asks for it, in milliseconds.
const MAX_CONTINUED_AGE_MS: u64 = 24 * 60 * 60 * 1_000;

/// The conversation to continue.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SessionToContinue {
    /// There is none yet.
    Nothing,
    /// The most recently used conversation, by its id.
    Session(String),
    /// The most recently used conversation is too old. Contains the time of its last use, in milliseconds since 1970.
    TooOld(u64),
    /// The most recently used conversation was on this branch.
    OtherBranch(String),
}

impl HeadlessWorkspace {
    /// Returns the conversation to continue if the user names none: the most recently used one, unless it is older than a
    /// day or was on another branch.
    ///
    /// # Errors
    /// Returns a [`CommandError`] if the store cannot be read.
    pub fn session_to_continue(&self) -> Result<SessionToContinue, CommandError> {
        let store = &self.services.store;
        let Some(newest) = store.list()?.into_iter().next() else { return Ok(SessionToContinue::Nothing) };
        if now_ms().saturating_sub(newest.updated_ms) > MAX_CONTINUED_AGE_MS {
            return Ok(SessionToContinue::TooOld(newest.updated_ms));
        }
        let id = newest.id.as_str().to_owned();
        match (store.branch_of(&id)?, current_branch(&self.snapshot)) {
            (Some(old_branch), Some(current_branch)) if old_branch != current_branch => {
                Ok(SessionToContinue::OtherBranch(old_branch))
            }
            _ => Ok(SessionToContinue::Session(id)),
        }
    }
}
