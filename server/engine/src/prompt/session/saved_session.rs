//! The state that is stored in addition to a session's messages, so that the session survives a restart of the server.
//! Its layouts are not part of that: provider caches rarely survive a restart either, and the next prompt is rebuilt.
//! Statistics of the last prompt are stored.
//!
//! The provider's cache outlives a process that asks a single question, so the next process needs the layouts of the
//! last and pending prompts. They are stored separately, because they are too large to store with every change.

use std::collections::VecDeque;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::code::symbols::MapMember;
use crate::conversation::compaction::Record;
use crate::conversation::history::{History, Message, MessageId};
use crate::conversation::iteration::Loop;
use crate::conversation::selection::Selection;
use crate::conversation::urls::Pages;
use crate::prompt::assembly::PromptRequest;
use crate::prompt::excerpts::Excerpts;
use crate::prompt::layout::Layout;
use crate::prompt::tiers::{Breaks, PolicyName, TierState};
use crate::tokens::calibration::Calibrations;

use super::{Anchor, LastTurn, Pending, Session, StepHistory};
use crate::tokens::cost::{Account, Bill, Pace};

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
    bill: Bill,
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<String>,
    calibrations: Calibrations,
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
            bill: self.bill.clone(),
            branch: self.branch.clone(),
            calibrations: self.calibrations.own(),
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
            bill,
            branch,
            calibrations,
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
            bill,
            branch,
            calibrations,
            compactions,
            last_turn,
            ..Self::new(id)
        }
    }
}

/// State of the provider's cache and of pending prompts, as known to the session. Valid for exactly one state of the
/// session.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CacheMemory {
    revision: u64,
    next_prompt: u64,
    tiers: TierState,
    account: Option<Arc<Account>>,
    pace: Arc<Pace>,
    last: Option<Arc<Layout>>,
    asked: Option<Arc<PromptRequest>>,
    breaks: Breaks,
    anchor: Option<Anchor>,
    pending: VecDeque<Pending>,
}

impl CacheMemory {
    /// Adapts the memory to a session that has changed since the memory was taken.
    #[must_use]
    pub fn outdated(self) -> Self {
        Self { revision: self.revision + 1, anchor: None, ..self }
    }
}

impl Session {
    /// Returns the cache state that another process needs to continue this session.
    pub fn cache_memory(&self) -> CacheMemory {
        CacheMemory {
            revision: self.revision,
            next_prompt: self.next_prompt,
            tiers: self.tiers.clone(),
            account: self.account.clone(),
            pace: Arc::clone(&self.pace),
            last: self.last.clone(),
            asked: self.asked.clone(),
            breaks: self.breaks.clone(),
            anchor: self.anchor,
            pending: self.pending.clone(),
        }
    }

    /// Restores the cache state that [`Self::cache_memory`] returned in another process.
    pub fn remember_cache(&mut self, memory: CacheMemory) {
        let CacheMemory { revision, next_prompt, tiers, account, pace, last, asked, breaks, anchor, pending } =
            memory;
        self.revision = revision;
        self.next_prompt = next_prompt;
        self.tiers = tiers;
        self.account = account;
        self.pace = pace;
        self.last = last;
        self.asked = asked;
        self.breaks = breaks;
        self.anchor = anchor;
        self.pending = pending;
    }
}
