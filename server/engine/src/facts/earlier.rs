//! The facts in the text of an earlier summary.

use crate::history::MessageId;

use super::Facts;

/// Adds what a summary says to `facts`.
pub(super) fn read(_text: &str, _message: MessageId, _index: usize, _facts: &mut Facts) {}
