//! Tool calls and the results that belong to them: which result answers which call, and the ids under
//! which both are sent. Knows nothing about the order of messages.

use std::collections::{HashMap, HashSet};

use super::utterance::{NO_RESPONSE, Utterance};
use crate::conversation::history::{ContentBlock, MessageId, OpenCalls, Outcome, ResultPart, Role};
use crate::hash::ContentHash;

/// Characters of a call's id that both providers take (OpenAI: 40; Anthropic: no stated limit).
const ID_CHARS: usize = 40;

/// The calls of the whole conversation so far.
#[derive(Default)]
pub(super) struct Calls {
    /// Ids given out; never iterated.
    used: HashSet<String>,
    /// How often each id was called by before; never iterated.
    seen: HashMap<String, u64>,
    unmatched: Vec<String>,
}

/// The calls of one turn that wait for their results.
#[derive(Default)]
pub(super) struct Pending(OpenCalls<String, Call>);

struct Call {
    sent_as: String,
    caller: Option<MessageId>,
    /// Its place among the blocks of the turn.
    place: usize,
}

impl Calls {
    /// Gives each call of an assistant's turn the id under which it is sent, and waits for the results.
    pub(super) fn open(&mut self, turn: &mut [Utterance]) -> Pending {
        let mut pending = Pending::default();
        let blocks = turn
            .iter_mut()
            .flat_map(|Utterance { id, content, .. }| content.iter_mut().map(move |block| (*id, block)));
        for (place, (caller, block)) in blocks.enumerate() {
            let ContentBlock::ToolCall { id, .. } = block else { continue };
            let sent_as = self.name(id);
            let called_by = std::mem::replace(id, sent_as.clone());
            pending.0.call(called_by, Call { sent_as, caller, place });
        }
        pending
    }

    /// Records that the new request answers an unknown call.
    pub(super) fn note_unmatched(&mut self, call_id: String) {
        self.unmatched.push(call_id);
    }

    /// Call ids of the new request that answer nothing.
    pub(super) fn into_unmatched(self) -> Vec<String> {
        self.unmatched
    }

    /// The id itself when every provider takes it and it is new (some servers count from `call_0` in each
    /// turn), else one made from its hash.
    fn name(&mut self, id: &str) -> String {
        let times = self.seen.entry(id.to_owned()).or_default();
        let fits = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
        let sound = (1..=ID_CHARS).contains(&id.len()) && id.bytes().all(fits);
        if *times == 0 && sound && self.used.insert(id.to_owned()) {
            *times = 1;
            return id.to_owned();
        }
        loop {
            *times += 1;
            let hash = ContentHash::of_parts([id.as_bytes(), &times.to_be_bytes()]);
            let name = format!("call_{hash}");
            if self.used.insert(name.clone()) {
                return name;
            }
        }
    }
}

impl Pending {
    /// The id under which the call was sent that a result for `call_id` answers; `None` when no such call
    /// is open.
    pub(super) fn answer(&mut self, call_id: &str) -> Option<String> {
        self.0.result(call_id).map(|call| call.sent_as)
    }

    /// Made-up results for the calls that are still open.
    pub(super) fn silence(self) -> impl Iterator<Item = Utterance> {
        let mut open = self.0.into_unanswered().waiting;
        open.sort_by_key(|call| call.place);
        open.into_iter().map(|call| {
            let result = ContentBlock::ToolResult {
                call_id: call.sent_as,
                content: vec![ResultPart::Text { text: NO_RESPONSE.into() }],
                outcome: Outcome::Ok,
            };
            Utterance { id: call.caller, role: Role::User, content: vec![result] }
        })
    }
}
