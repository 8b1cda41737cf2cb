//! The unit of repairs, and the fixed texts that repairs insert.

use super::super::{ContentBlock, MessageId, Role};

/// Result of a call that was never answered.
pub(crate) const NO_RESPONSE: &str = "Tool no response";

/// First message of a conversation that would otherwise begin with an assistant message.
pub const EARLIER_LEFT_OUT: &str = "[earlier messages omitted]";

/// Result of a failed tool without output.
pub(crate) const FAILED_SILENTLY: &str = "Tool failed without output";

/// Assistant message between tool results and a user text that must not be read as part of the results.
pub(crate) const UNDERSTOOD: &str = "Understood.";

/// Replacement for an image that providers would reject.
pub const PICTURE_LEFT_OUT: &str = "[image omitted]";

/// Replacement for the arguments of a call that are too long for the provider.
pub(super) const ARGUMENTS_LEFT_OUT: &str = "[arguments omitted]";

/// Content of a message, or of the new request, which has no id yet.
#[derive(Clone, Debug)]
pub(in crate::history) struct Utterance {
    pub(super) id: Option<MessageId>,
    pub(super) role: Role,
    pub(super) content: Vec<ContentBlock>,
}
