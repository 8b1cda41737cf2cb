//! How the answer to one request ended.

use strata_base::cancel::Cancel;
use strata_conversation::history::ContentBlock;
use strata_conversation::providers::reply::{Reply, ReplyEnd};
use strata_host::provider::SendError;

use crate::commands::{SendEnd, described_send_error};

/// Returns how the answer to one request ended, and the error that interrupted it, unless the user cancelled it.
pub(super) fn end_of_answer(
    answer: &Reply,
    broken: Option<SendError>,
    cancel: &Cancel,
) -> (SendEnd, Option<String>) {
    if let Some(error) = broken {
        return match cancel.is_cancelled() {
            true => (SendEnd::Cancelled, None),
            false => (SendEnd::Cut, Some(described_send_error(&error))),
        };
    }
    let has_called = answer.content.iter().any(|block| matches!(block, ContentBlock::ToolCall { .. }));
    let end = match answer.end {
        _ if has_called => SendEnd::ToolCalls,
        ReplyEnd::OutputLimit => SendEnd::OutputLimit,
        _ => SendEnd::Complete,
    };
    (end, None)
}
