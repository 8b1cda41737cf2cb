//! How a session's last prompts were laid out, and those that wait for their answers, as a value that another process can continue with:
//! what a provider's cache holds outlives a process that asks one question. Too large to be stored with every change of a session,
//! so it stands apart from [`SavedSession`](super::SavedSession). Stores nothing.

use std::collections::VecDeque;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Anchor, Pending, Session};
use crate::prompt::assembly::PromptRequest;
use crate::prompt::layout::Layout;
use crate::prompt::tiers::{Breaks, TierState};
use crate::tokens::cost::{Account, Pace};

/// What is known about the provider's cache, and of prompts under way. Exact for the session as it was when it was made.
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
    /// The same for a session that was changed since.
    #[must_use]
    pub fn outdated(self) -> Self {
        Self { revision: self.revision + 1, anchor: None, ..self }
    }
}

impl Session {
    /// What another process needs to go on where this one stops.
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

    /// Goes on where another process stopped.
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
