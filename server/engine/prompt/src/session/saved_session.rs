//! What is stored of a session in addition to its messages, so that it survives a restart of the server. Layouts of
//! prompts are not part of that: provider caches rarely survive a restart either, and the next prompt is rebuilt.
//! Statistics of the last prompt are stored.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use strata_code::symbols::MapMember;
use strata_conversation::compaction::CompactionRecord;
use strata_conversation::iteration::AgentLoop;
use strata_conversation::selection::Selection;
use strata_conversation::urls::Pages;
use strata_tokens::calibration::Calibrations;
use strata_tokens::cost::{Bill, ComparisonTotals};

use super::last_turn::LastTurn;
use super::step_history::StepHistory;
use crate::excerpts::Excerpts;
use crate::tiers::PolicyName;

/// What is stored of a session in addition to its messages.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct SavedSession {
    /// Selected and excluded files.
    pub selection: Selection,
    /// Web pages in the context.
    pub pages: Pages,
    /// Excerpts that were shown, pinned or dismissed.
    #[serde(skip_serializing_if = "Excerpts::is_empty")]
    pub excerpts: Excerpts,
    /// Token limit for code to add to a question automatically; `None` uses the configured value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto_budget: Option<usize>,
    /// Layout policy for this session; `None` uses the configured one.
    pub policy: Option<PolicyName>,
    /// Maximum input tokens of every request; the model's window applies if this is `None` or larger.
    pub max_input_tokens: Option<usize>,
    /// Files with a block in the symbol map, in map order.
    pub map_members: Vec<MapMember>,
    /// Files that the model has read, and its exploration steps.
    pub trail: StepHistory,
    /// The autonomous loop that is running, if any.
    pub looping: Option<AgentLoop>,
    /// What the session was billed so far.
    pub bill: Bill,
    /// What the billed requests would have cost under other conditions.
    pub comparison: ComparisonTotals,
    /// Branch of the repository when the last prompt was recorded; `None` if it is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Calibrations with a bill of this conversation. The session's `calibrations` also has those of others.
    #[serde(rename = "calibrations")]
    pub(super) own_calibrations: Calibrations,
    /// Compactions that were not undone, oldest first.
    pub(super) compactions: Arc<Vec<CompactionRecord>>,
    /// Summary of the last recorded prompt, which may come from another process or an earlier run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_turn: Option<Arc<LastTurn>>,
}
