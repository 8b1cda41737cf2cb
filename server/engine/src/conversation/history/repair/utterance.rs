//! The messages during a repair, and the fixed texts that repairs insert.

use super::super::{ContentBlock, MessageId, Role};

/// The result of a call that was never answered.
pub(crate) const NO_RESPONSE: &str = "Tool no response";

/// Opens a conversation whose first messages are not shown, because the user must speak first.
pub(crate) const EARLIER_LEFT_OUT: &str = "[earlier messages left out]";

/// The result of a tool that failed and said nothing.
pub(crate) const FAILED_SILENTLY: &str = "Tool failed without output";

/// The assistant's text between tool results and a user text that must not be read as part of them.
pub(crate) const UNDERSTOOD: &str = "Understood.";

/// Replaces a picture that providers would reject.
pub(crate) const PICTURE_LEFT_OUT: &str = "[picture left out]";

/// Replaces arguments of a call that are too long for the provider.
pub(super) const ARGUMENTS_LEFT_OUT: &str = "[arguments left out]";

/// A piece of content and its message; the new request has no number yet.
#[derive(Clone, Debug)]
pub(in crate::conversation::history) struct Utterance {
    pub(super) id: Option<MessageId>,
    pub(super) role: Role,
    pub(super) content: Vec<ContentBlock>,
}
