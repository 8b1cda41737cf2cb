//! Access to the stored state of a session and its cache state, and restoring both.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use strata_conversation::history::{History, Message, MessageId};

use super::Session;
use super::cache_memory::CacheMemory;
use super::saved_session::SavedSession;

/// Stored state is read like a field of the session. Any change of it makes a new value, which
/// [`Session::shares_all_state_with`] notices.
impl Deref for Session {
    type Target = SavedSession;

    fn deref(&self) -> &SavedSession {
        &self.saved
    }
}

impl DerefMut for Session {
    fn deref_mut(&mut self) -> &mut SavedSession {
        Arc::make_mut(&mut self.saved)
    }
}

impl Session {
    /// Returns the state to store in addition to the messages.
    pub fn saved_session(&self) -> &Arc<SavedSession> {
        &self.saved
    }

    /// Restores a stored session. `next` is the first message id that was never used.
    pub fn restore(
        id: impl Into<Arc<str>>,
        messages: impl IntoIterator<Item = Message>,
        next: MessageId,
        saved: SavedSession,
    ) -> Self {
        Self {
            history: History::restore(messages, next),
            calibrations: saved.own_calibrations.clone(),
            saved: Arc::new(saved),
            ..Self::new(id)
        }
    }

    /// Returns the cache state that another process needs to continue this session.
    pub fn cache_memory(&self) -> &CacheMemory {
        &self.cache
    }

    /// Restores the cache state that [`Self::cache_memory`] returned in another process.
    pub fn restore_cache_memory(&mut self, memory: CacheMemory) {
        self.cache = Arc::new(memory);
    }
}

#[cfg(test)]
mod tests {
    use strata_conversation::history::{NewMessage, Role};

    use super::*;

    #[test]
    fn every_change_is_detected() {
        let before = Session::new("s-1");
        assert!(before.clone().shares_all_state_with(&before));
        let changes: [fn(&mut Session); 8] = [
            |session| session.branch = Some("main".to_owned()),
            |session| session.selection.select("a.rs".into()),
            |session| session.auto_budget = Some(0),
            |session| session.record_token_counts("claude", 100, 120),
            |session| {
                session.history.add(NewMessage::text(Role::User, "one"));
            },
            |session| session.mark_changed(),
            |session| session.reset_history_tiers(),
            |session| session.record_recovery(),
        ];
        for (number, change) in changes.iter().enumerate() {
            let mut after = before.clone();
            change(&mut after);
            assert!(!after.shares_all_state_with(&before), "change {number}");
        }
    }
}
