//! The layouts of a session's last and pending prompts, in a form that another process can restore. The provider's
//! cache outlives a process that asks a single question, so the next process needs the layouts. They are stored
//! separately from [`SavedSession`](super::SavedSession), because they are too large to store with every change.

use std::collections::VecDeque;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Anchor, Pending, Session};
use crate::prompt::assembly::PromptRequest;
use crate::prompt::layout::Layout;
use crate::prompt::tiers::{Breaks, TierState};
use crate::tokens::cost::{Account, Pace};

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
