//! The stored record of an excerpt that a prompt has shown.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use strata_code::excerpts::ExcerptReason;

use super::anchor::Anchor;

/// An excerpt in the last recorded prompt.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ShownExcerpt {
    /// Why the excerpt was chosen for a question; `None` if the user pinned it and it was not chosen for any question.
    pub(super) reason: Option<ExcerptReason>,
    /// One-based number of the last question for which the excerpt was chosen.
    pub(super) question: u64,
    /// Zero-based rank of the excerpt among those chosen for `question`.
    pub(super) rank: u32,
    /// Lines of the excerpt, zero-based, end exclusive.
    pub(super) lines: Range<u32>,
    #[serde(default)]
    pub(super) anchor: Anchor,
}
