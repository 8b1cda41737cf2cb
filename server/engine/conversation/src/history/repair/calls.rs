//! Pairs tool calls with their results, and assigns the ids under which both are sent.

use std::collections::{HashMap, HashSet, VecDeque};

use strata_base::hash::ContentHash;

use super::late_result::SubstitutedCall;
use super::utterance::{NO_RESPONSE, Utterance};
use crate::history::{ContentBlock, MessageId, OpenCalls, ResultPart, Role, ToolOutcome};

/// Maximum characters of a call id that every provider accepts (OpenAI: 40; Anthropic documents no limit).
const MAX_CALL_ID_CHARS: usize = 40;

/// Ids of the calls in the conversation so far.
#[derive(Default)]
pub(super) struct CallTracker {
    /// Ids already assigned; never iterated.
    used: HashSet<String>,
    /// Number of earlier calls with each original id; never iterated.
    times_used: HashMap<String, u64>,
    /// Calls with a substitute result, by their original ids, oldest first; never iterated.
    substituted: HashMap<String, VecDeque<SubstitutedCall>>,
    unmatched: Vec<String>,
}

/// Calls of one assistant turn that still wait for their results.
#[derive(Default)]
pub(super) struct PendingCalls(OpenCalls<String, PendingCall>);

struct PendingCall {
    /// Original id.
    id: String,
    sent_as: String,
    tool: String,
    caller: Option<MessageId>,
    /// Index of the call among the blocks of the turn.
    place: usize,
}

impl CallTracker {
    /// Sets the id under which each call of an assistant turn is sent, and returns the calls as pending.
    pub(super) fn assign_ids(&mut self, turn: &mut [Utterance]) -> PendingCalls {
        let mut pending = PendingCalls::default();
        let blocks = turn
            .iter_mut()
            .flat_map(|Utterance { id, content, .. }| content.iter_mut().map(move |block| (*id, block)));
        for (place, (caller, block)) in blocks.enumerate() {
            let ContentBlock::ToolCall { id, name: tool, .. } = block else { continue };
            let sent_as = self.assign_id(id);
            let id = std::mem::replace(id, sent_as.clone());
            self.substituted.remove(&id);
            pending.0.add_call(id.clone(), PendingCall { id, sent_as, tool: tool.clone(), caller, place });
        }
        pending
    }

    /// Returns substitute results for the calls that are still pending. From now on, their own results are late.
    pub(super) fn substitute_results(&mut self, pending: PendingCalls) -> Vec<Utterance> {
        let mut open = pending.0.into_unanswered().waiting;
        open.sort_by_key(|call| call.place);
        let mut substitutes = Vec::new();
        for PendingCall { id, sent_as, tool, caller, .. } in open {
            let call = SubstitutedCall { sent_as: sent_as.clone(), tool };
            self.substituted.entry(id).or_default().push_back(call);
            let content = vec![ResultPart::Text { text: NO_RESPONSE.into() }];
            let result = ContentBlock::ToolResult { call_id: sent_as, content, outcome: ToolOutcome::Ok };
            substitutes.push(Utterance { id: caller, role: Role::User, content: vec![result] });
        }
        substitutes
    }

    /// Removes and returns the call that a late result for `call_id` answers, if any.
    pub(super) fn take_substituted_call(&mut self, call_id: &str) -> Option<SubstitutedCall> {
        self.substituted.get_mut(call_id)?.pop_front()
    }

    pub(super) fn add_orphan_result_id(&mut self, call_id: String) {
        self.unmatched.push(call_id);
    }

    /// Returns the call ids of results in the new request that do not answer a known call.
    pub(super) fn into_orphan_result_ids(self) -> Vec<String> {
        self.unmatched
    }

    /// Returns the id under which a call is sent: `id` itself if every provider accepts it and no earlier call
    /// has it, or else an id derived from its hash. Ids repeat because some servers count from `call_0` in each
    /// turn.
    fn assign_id(&mut self, id: &str) -> String {
        let count = self.times_used.entry(id.to_owned()).or_default();
        let is_allowed = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
        let is_valid = (1..=MAX_CALL_ID_CHARS).contains(&id.len()) && id.bytes().all(is_allowed);
        if *count == 0 && is_valid && self.used.insert(id.to_owned()) {
            *count = 1;
            return id.to_owned();
        }
        loop {
            *count += 1;
            let hash = ContentHash::from_parts([id.as_bytes(), &count.to_be_bytes()]);
            let name = format!("call_{hash}");
            if self.used.insert(name.clone()) {
                return name;
            }
        }
    }
}

impl PendingCalls {
    /// Removes the pending call that a result for `call_id` answers, and returns the id assigned to the call.
    pub(super) fn close_call(&mut self, call_id: &str) -> Option<String> {
        self.0.close_call(call_id).map(|call| call.sent_as)
    }
}
