//! Arranges utterances in alternating turns of user and assistant, starting with the user, and makes the
//! repairs that depend on neighboring messages.

use super::calls::{CallTracker, PendingCalls};
use super::server_calls;
use super::utterance::{EARLIER_LEFT_OUT, Utterance};
use crate::history::{ContentBlock, Role};

/// Turns in order. Adjacent turns have different roles.
#[derive(Default)]
pub(super) struct Turns {
    turns: Vec<Turn>,
}

struct Turn {
    role: Role,
    utterances: Vec<Utterance>,
}

impl Turns {
    /// Joins adjacent utterances of the same role. Removes server-side calls and results without a
    /// counterpart, and assistant turns that only contain reasoning, which no provider accepts.
    pub(super) fn new(utterances: impl Iterator<Item = Utterance>) -> Self {
        let mut turns = Self::default();
        for utterance in utterances {
            if turns.turns.last().is_some_and(|turn| turn.role != utterance.role) {
                turns.finish_last_turn();
            }
            turns.push(utterance);
        }
        turns.finish_last_turn();
        turns
    }

    /// Pairs calls and results, turn by turn, and removes reasoning that providers reject.
    pub(super) fn with_answered_calls(self, calls: &mut CallTracker) -> Self {
        let mut answered = Self::default();
        let mut pending = PendingCalls::default();
        let mut rest = self.turns.into_iter().peekable();
        while let Some(mut turn) = rest.next() {
            match turn.role {
                Role::Assistant => {
                    pending = calls.assign_ids(&mut turn.utterances);
                    answered.extend(turn.utterances);
                    if rest.peek().is_none() {
                        answered.extend(calls.substitute_results(std::mem::take(&mut pending)));
                    }
                }
                Role::User => {
                    let user_turn = user_turn(turn.utterances, std::mem::take(&mut pending), calls);
                    answered.extend(user_turn);
                }
            }
        }
        for turn in &mut answered.turns {
            turn.remove_rejected_reasoning();
        }
        answered.start_with_user();
        answered
    }

    /// Returns all utterances in order, and joins adjacent ones from the same message.
    pub(super) fn into_utterances(self) -> Vec<Utterance> {
        let mut joined: Vec<Utterance> = Vec::new();
        for utterance in self.turns.into_iter().flat_map(|turn| turn.utterances) {
            match joined.last_mut() {
                Some(last) if last.id == utterance.id && last.role == utterance.role => {
                    last.content.extend(utterance.content);
                }
                _ => joined.push(utterance),
            }
        }
        joined
    }

    fn extend(&mut self, utterances: impl IntoIterator<Item = Utterance>) {
        for utterance in utterances {
            self.push(utterance);
        }
    }

    fn push(&mut self, utterance: Utterance) {
        if utterance.content.is_empty() {
            return;
        }
        match self.turns.last_mut() {
            Some(last) if last.role == utterance.role => last.utterances.push(utterance),
            _ => self.turns.push(Turn { role: utterance.role, utterances: vec![utterance] }),
        }
    }

    /// Completes the last turn: pairs its server-side calls, and removes the turn if it only contains
    /// reasoning.
    fn finish_last_turn(&mut self) {
        let Some(turn) = self.turns.last_mut() else { return };
        server_calls::remove_unpaired(&mut turn.utterances);
        if turn.blocks().all(|block| block.is_reasoning() || is_encrypted_reasoning(block)) {
            self.turns.pop();
        }
    }

    fn start_with_user(&mut self) {
        let Some(first) = self.turns.first().filter(|turn| turn.role == Role::Assistant) else { return };
        let opening = Utterance {
            id: first.utterances.first().and_then(|utterance| utterance.id),
            role: Role::User,
            content: vec![ContentBlock::text(EARLIER_LEFT_OUT)],
        };
        self.turns.insert(0, Turn { role: Role::User, utterances: vec![opening] });
    }
}

impl Turn {
    fn blocks(&self) -> impl DoubleEndedIterator<Item = &ContentBlock> {
        self.utterances.iter().flat_map(|utterance| &utterance.content)
    }

    /// Keeps reasoning if the turn starts with it and ends with something else, and otherwise removes all of
    /// it. Always removes encrypted reasoning at the end of the turn.
    fn remove_rejected_reasoning(&mut self) {
        while let Some(last) = self.utterances.last_mut()
            && last.content.last().is_some_and(is_encrypted_reasoning)
        {
            last.content.pop();
            if last.content.is_empty() {
                self.utterances.pop();
            }
        }
        let starts = self.blocks().next().is_some_and(ContentBlock::is_reasoning);
        let ends = self.blocks().next_back().is_some_and(ContentBlock::is_reasoning);
        if starts && !ends {
            return;
        }
        for utterance in &mut self.utterances {
            utterance.content.retain(|block| !block.is_reasoning());
        }
        self.utterances.retain(|utterance| !utterance.content.is_empty());
    }
}

fn is_encrypted_reasoning(block: &ContentBlock) -> bool {
    matches!(block, ContentBlock::Foreign(foreign) if foreign.is_encrypted_reasoning())
}

/// Builds the user turn after `pending` calls: results for unanswered calls, then the turn's own results,
/// then its other content, including late results of earlier calls. Drops results that answer no call.
fn user_turn(
    utterances: Vec<Utterance>,
    mut pending: PendingCalls,
    calls: &mut CallTracker,
) -> Vec<Utterance> {
    let mut results = Vec::new();
    let mut rest = Vec::new();
    for Utterance { id, role, content } in utterances {
        let mut answers = Vec::new();
        let mut others = Vec::new();
        for block in content {
            match block {
                ContentBlock::ToolResult { call_id, content, outcome } => {
                    if let Some(call_id) = pending.close_call(&call_id) {
                        answers.push(ContentBlock::ToolResult { call_id, content, outcome });
                    } else if let Some(call) = calls.take_substituted_call(&call_id) {
                        others.extend(call.late_result(content, outcome));
                    } else if id.is_none() {
                        calls.add_orphan_result_id(call_id);
                    }
                }
                other => others.push(other),
            }
        }
        results.push(Utterance { id, role, content: answers });
        rest.push(Utterance { id, role, content: others });
    }
    let substitutes = calls.substitute_results(pending).into_iter();
    substitutes.chain(results).chain(rest).filter(|utterance| !utterance.content.is_empty()).collect()
}
