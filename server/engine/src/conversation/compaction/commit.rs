//! Installs a draft in place of the conversation it was made from, completely or not at all. Rejects drafts of a conversation
//! that has changed, and results that a provider would reject.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::conversation::dialect::{Violation, violations};
use crate::conversation::history::{History, HistoryChange, Message, MessageId};

use super::author::SummaryAuthor;
use super::profile::Profile;
use super::run::{Draft, Size, Strategy};

/// A compaction that was committed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Record {
    /// The profile that made it.
    pub profile: String,
    /// How the conversation was made shorter.
    pub strategy: Strategy,
    pub before: Size,
    /// The size afterwards.
    pub after: Size,
    /// Who wrote the summary. Absent if there is none, and in sessions of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summarised_by: Option<SummaryAuthor>,
    /// When, in milliseconds since 1970.
    pub time_ms: u64,
    /// The change to undo.
    pub(crate) rebuilt: HistoryChange,
}

/// Why a draft was rejected. The conversation is unchanged.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum DraftRefusal {
    /// The conversation has changed since the draft.
    #[error("the conversation changed during the compaction, so nothing was compacted; run it again")]
    Changed,
    /// A provider would reject the result.
    #[error(
        "the provider would reject the compacted conversation: {}; please report this",
        violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    )]
    Invalid {
        /// The broken rules.
        violations: Vec<Violation>,
    },
}

/// The conversation with `draft` in it.
///
/// # Errors
/// [`DraftRefusal`].
pub(crate) fn commit(
    history: &History,
    draft: Draft,
    profile: &Profile,
) -> Result<(History, HistoryChange), DraftRefusal> {
    let visible: Vec<_> = history.sent().cloned().collect();
    let there: HashSet<MessageId> = history.messages().iter().map(|message| message.id).collect();
    let is_whole = draft.basis.covered.iter().all(|id| there.contains(id));
    if draft.profile != *profile || !is_whole || draft.basis.epoch(&visible) != draft.epoch {
        return Err(DraftRefusal::Changed);
    }
    let mut compacted = history.clone();
    let rebuilt = compacted.rebuild(&draft.basis.covered, draft.entries);
    let seen: Vec<&Message> = compacted.sent().map(|message| &**message).collect();
    let violations = violations(&seen);
    if violations.is_empty() { Ok((compacted, rebuilt)) } else { Err(DraftRefusal::Invalid { violations }) }
}
