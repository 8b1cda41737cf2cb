//! The memory of one excerpt between two prompts.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::anchor::Anchor;
use crate::code::excerpts::ExcerptReason;

/// An excerpt that the last prompt showed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ShownExcerpt {
    /// Why it was chosen.
    pub(super) reason: Option<ExcerptReason>,
    /// The last question that it was chosen for.
    pub(super) question: u64,
    /// Its place among those chosen for that question, from 0.
    pub(super) rank: u32,
    /// Its lines, from 0, end exclusive, and their fingerprint.
    pub(super) lines: Range<u32>,
    #[serde(default)]
    pub(super) anchor: Anchor,
}
