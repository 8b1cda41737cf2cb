//! The state that is stored in addition to a session's messages, so that the session survives a restart of the server.
//! Layouts are not stored: provider caches rarely survive a restart either, and the next prompt is rebuilt. Statistics
//! of the last prompt are stored.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::code::symbols::MapMember;
use crate::conversation::compaction::Record;
use crate::conversation::history::{History, Message, MessageId};
use crate::conversation::iteration::Loop;
use crate::conversation::selection::Selection;
use crate::conversation::urls::Pages;
use crate::prompt::excerpts::Excerpts;
use crate::prompt::tiers::PolicyName;
use crate::tokens::calibration::Calibrations;

use super::{LastTurn, Session, StepHistory};
use crate::tokens::cost::Usage;

/// The stored state of a session, without its messages.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct SavedSession {
    selection: Selection,
    pages: Pages,
    #[serde(skip_serializing_if = "Excerpts::is_empty")]
    excerpts: Excerpts,
    #[serde(skip_serializing_if = "Option::is_none")]
    auto_budget: Option<usize>,
    policy: Option<PolicyName>,
    max_input_tokens: Option<usize>,
    map_members: Vec<MapMember>,
    trail: StepHistory,
    looping: Option<Loop>,
    totals: Usage,
    calibrations: Calibrations,
    spent: Option<f64>,
    compactions: Arc<Vec<Record>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_turn: Option<Arc<LastTurn>>,
}

impl Session {
    /// Returns the state to store in addition to the messages.
    pub fn saved(&self) -> SavedSession {
        SavedSession {
            selection: self.selection.clone(),
            pages: self.pages.clone(),
            excerpts: self.excerpts.clone(),
            auto_budget: self.auto_budget,
            policy: self.policy,
            max_input_tokens: self.max_input_tokens,
            map_members: self.map_members.clone(),
            trail: self.trail.clone(),
            looping: self.looping.clone(),
            totals: self.totals,
            calibrations: self.calibrations.own(),
            spent: self.spent,
            compactions: Arc::clone(&self.compactions),
            last_turn: self.last_turn.clone(),
        }
    }

    /// Restores a stored session. `next` is the first message id that was never used.
    pub fn restored(
        id: impl Into<Arc<str>>,
        messages: impl IntoIterator<Item = Message>,
        next: MessageId,
        saved: SavedSession,
    ) -> Self {
        let SavedSession {
            selection,
            pages,
            excerpts,
            auto_budget,
            policy,
            max_input_tokens,
            map_members,
            trail,
            looping,
            totals,
            calibrations,
            spent,
            compactions,
            last_turn,
        } = saved;
        Self {
            history: History::restored(messages, next),
            selection,
            pages,
            excerpts,
            auto_budget,
            policy,
            max_input_tokens,
            map_members,
            trail,
            looping,
            totals,
            calibrations,
            spent,
            compactions,
            last_turn,
            ..Self::new(id)
        }
    }
}
