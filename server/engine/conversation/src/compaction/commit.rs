//! Installs a compaction draft in its conversation, completely or not at all. Rejects a draft if the
//! conversation has changed since the draft was made, or if a provider would reject the result.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::history::{History, HistoryChange, Message, MessageId};
use crate::providers::{Violation, violations};

use super::profile::Profile;
use super::run::{CompactionDraft, CompactionStrategy, ConversationSize, SummaryAuthor};

/// A committed compaction.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CompactionRecord {
    pub profile: String,
    pub strategy: CompactionStrategy,
    pub before: ConversationSize,
    pub after: ConversationSize,
    /// Author of the summary. Absent if there is no summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summarised_by: Option<SummaryAuthor>,
    /// Time of the commit, in milliseconds since 1970.
    pub time_ms: u64,
    /// Change that the compaction made to the history, needed to undo it.
    pub rebuilt: HistoryChange,
}

/// Reason for rejecting a draft. The conversation is unchanged.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum DraftRefusal {
    /// The conversation or the profile has changed since the draft was made.
    #[error("the conversation changed during the compaction, so nothing was compacted; try again")]
    Changed,
    /// A provider would reject the compacted conversation.
    #[error(
        "the provider would reject the compacted conversation: {}; please report this",
        violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    )]
    Invalid { violations: Vec<Violation> },
}

/// Applies `draft` to a copy of `history`. Returns the copy, and a record of the change for undoing it.
///
/// # Errors
/// [`DraftRefusal`] if the conversation or the profile changed since the draft was made, or if a provider would
/// reject the result.
pub fn commit(
    history: &History,
    draft: CompactionDraft,
    profile: &Profile,
) -> Result<(History, HistoryChange), DraftRefusal> {
    let visible: Vec<_> = history.sent_messages().cloned().collect();
    let existing: HashSet<MessageId> = history.messages().iter().map(|message| message.id).collect();
    let is_complete = draft.basis.covered.iter().all(|id| existing.contains(id));
    if draft.profile != *profile || !is_complete || draft.basis.state_hash(&visible) != draft.epoch {
        return Err(DraftRefusal::Changed);
    }
    let mut compacted = history.clone();
    let rebuilt = compacted.rebuild(&draft.basis.covered, draft.entries);
    let sent: Vec<&Message> = compacted.sent_messages().map(|message| &**message).collect();
    let violations = violations(&sent);
    if violations.is_empty() { Ok((compacted, rebuilt)) } else { Err(DraftRefusal::Invalid { violations }) }
}
