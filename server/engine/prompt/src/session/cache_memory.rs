//! The provider's cache as a session knows it, and the prompts that wait for an answer. The cache outlives a process that
//! asks a single question, so the next process needs the layouts of the last and pending prompts. They are stored
//! separately, because they are too large to store with every change.

use std::collections::VecDeque;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use strata_code::symbols::MapMember;
use strata_conversation::history::{MessageId, NewMessage};
use strata_tokens::cost::{CacheAccount, ComparedCaches, RecentPrompts, SentRequest};

use crate::assembly::PromptRequest;
use crate::excerpts::Excerpts;
use crate::layout::Layout;
use crate::tiers::{Breaks, TierState};

/// State of the provider's cache and of pending prompts, as known to the session. Valid for exactly one state of the
/// session.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CacheMemory {
    /// Number of changes to the conversation and the selection. Each pending prompt stores the revision it was
    /// assembled from.
    pub revision: u64,
    pub(super) next_prompt: u64,
    /// State of the layout policy.
    pub(crate) tiers: TierState,
    /// Estimated contents of the provider's cache.
    pub(super) account: Option<Arc<CacheAccount>>,
    /// Simulated caches that compare the cost of the session.
    #[serde(default)]
    pub(super) compared: Option<Arc<ComparedCaches>>,
    /// When prompts were sent, and how much of them was cacheable.
    pub pace: Arc<RecentPrompts>,
    /// Layout of the last recorded prompt.
    pub(super) last: Option<Arc<Layout>>,
    /// Options of the last recorded request.
    #[serde(rename = "asked")]
    pub(super) options: Option<Arc<PromptRequest>>,
    /// Cache breaks that recorded prompts caused.
    pub breaks: Breaks,
    /// Size of the last recorded prompt; `None` if there is none, or if earlier messages have changed since.
    pub(super) anchor: Option<LastPromptSize>,
    pub(super) pending: VecDeque<PendingPrompt>,
}

impl Default for CacheMemory {
    fn default() -> Self {
        Self {
            revision: 0,
            next_prompt: 1,
            tiers: TierState::default(),
            account: None,
            compared: None,
            pace: Arc::default(),
            last: None,
            options: None,
            breaks: Breaks::default(),
            anchor: None,
            pending: VecDeque::new(),
        }
    }
}

impl CacheMemory {
    /// Adapts the memory to a session that has changed since the memory was taken.
    #[must_use]
    pub fn adapt_to_changed_session(self) -> Self {
        Self { revision: self.revision + 1, anchor: None, ..self }
    }
}

/// A prompt that awaits its answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct PendingPrompt {
    pub(super) id: String,
    /// Revision of the session that the prompt was assembled from.
    pub(super) base: u64,
    /// Latest revision that differs from `base` only by automatic changes: a compaction or archived tool results.
    pub(super) same_until: u64,
    pub(super) turn: Arc<PromptToRecord>,
}

/// Data needed to record a prompt. The request body is not kept, because the client has it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct PromptToRecord {
    pub(super) model: String,
    /// Estimated tokens of the prompt.
    pub(super) estimated: usize,
    pub(super) layout: Arc<Layout>,
    pub(super) sent: SentRequest,
    #[serde(rename = "asked")]
    pub(super) options: Arc<PromptRequest>,
    pub(super) message: Option<NewMessage>,
    pub(super) tiers: TierState,
    pub(super) members: Vec<MapMember>,
    pub(super) excerpts: Excerpts,
}

/// Size of the last prompt. If usage was reported, this is the billed size, including the answer. Otherwise, it is the
/// estimate without the answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct LastPromptSize {
    pub(super) tokens: usize,
    /// Id of the first message that `tokens` does not include.
    pub(super) next: MessageId,
}
