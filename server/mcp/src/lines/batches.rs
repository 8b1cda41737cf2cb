//! Requests that came in one line, as version 2025-03-26 of the protocol allows. Their replies go out in one line. Does not
//! read or write.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use rmcp::model::RequestId;
use serde_json::Value;

/// The batches that are not completely answered.
#[derive(Default)]
pub(super) struct UnansweredBatches(Mutex<Vec<Batch>>);

#[derive(Default)]
struct Batch {
    unanswered: HashSet<RequestId>,
    replies: Vec<Value>,
}

impl UnansweredBatches {
    /// Opens a batch with these requests, some of which may have been answered. Returns the replies now if no other will
    /// follow.
    pub(super) fn open(&self, unanswered: HashSet<RequestId>, replies: Vec<Value>) -> Option<Value> {
        if unanswered.is_empty() {
            return (!replies.is_empty()).then(|| replies.into());
        }
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(Batch { unanswered, replies });
        None
    }

    pub(super) fn contains(&self, id: &RequestId) -> bool {
        let batches = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        batches.iter().any(|batch| batch.unanswered.contains(id))
    }

    /// Adds a reply to the batch of its request. Returns what to write now: a reply that belongs to no batch, or all
    /// replies of a batch that is complete with this one.
    pub(super) fn add_reply(&self, id: &RequestId, reply: Value) -> Option<Value> {
        let mut batches = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(at) = batches.iter().position(|batch| batch.unanswered.contains(id)) else {
            return Some(reply);
        };
        batches.get_mut(at)?.replies.push(reply);
        finish_request(&mut batches, at, id)
    }

    /// Removes a cancelled request from its batch, since it gets no reply. Returns the replies of a batch that is
    /// complete without it.
    pub(super) fn cancel(&self, id: &RequestId) -> Option<Value> {
        let mut batches = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = batches.iter().position(|batch| batch.unanswered.contains(id))?;
        finish_request(&mut batches, at, id)
    }
}

/// Marks a request of a batch as finished. Removes and returns the replies of the batch if they are complete.
fn finish_request(batches: &mut Vec<Batch>, at: usize, id: &RequestId) -> Option<Value> {
    let batch = batches.get_mut(at)?;
    batch.unanswered.remove(id);
    if !batch.unanswered.is_empty() {
        return None;
    }
    let replies = batches.swap_remove(at).replies;
    (!replies.is_empty()).then(|| replies.into())
}
