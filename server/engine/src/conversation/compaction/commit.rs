//! Putting a draft instead of what it was made of: whole or not at all. Refuses drafts of a conversation that has
//! changed, and conversations that a provider would refuse.

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
    /// What it became.
    pub after: Size,
    /// Who wrote the summary; absent when none was written, and in sessions of versions that did not keep it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summarised_by: Option<SummaryAuthor>,
    /// When, in milliseconds since 1970.
    pub time_ms: u64,
    /// What to undo.
    pub(crate) rebuilt: HistoryChange,
}

/// Why a draft was not put in place. The conversation is as it was.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum DraftRefusal {
    /// What it was made of is not there any more.
    #[error("the conversation changed during the compaction, so nothing was compacted; run it again")]
    Changed,
    /// A provider would not take what would be left.
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
