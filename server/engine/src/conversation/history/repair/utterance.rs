//! What is said while a conversation is repaired, and the fixed texts that mending puts in.

use super::super::{ContentBlock, MessageId, Role};

/// The result of a call that was never answered.
pub(crate) const NO_RESPONSE: &str = "Tool no response";

/// Opens a conversation whose first messages are not shown, because the user must speak first.
pub(crate) const EARLIER_LEFT_OUT: &str = "[earlier messages left out]";

/// The result of a tool that failed and said nothing.
pub(crate) const FAILED_SILENTLY: &str = "Tool failed without output";

/// What the assistant says between tool results and a text of the user's that must not be taken for their end.
pub(crate) const UNDERSTOOD: &str = "Understood.";

/// Stands for a picture that providers would refuse.
pub(crate) const PICTURE_LEFT_OUT: &str = "[picture left out]";

/// Stands for the arguments of a call that are too long for the provider.
pub(super) const ARGUMENTS_LEFT_OUT: &str = "[arguments left out]";

/// What is said, and by which message; the new request has no number yet.
#[derive(Clone, Debug)]
pub(in crate::conversation::history) struct Utterance {
    pub(super) id: Option<MessageId>,
    pub(super) role: Role,
    pub(super) content: Vec<ContentBlock>,
}
