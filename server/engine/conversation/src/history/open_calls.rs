//! Pairs tool results with calls, identically for every reader of a conversation. `repair` later assigns each
//! call a unique id.

use std::borrow::Borrow;
use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

use serde_json::Value;

use super::{ContentBlock, History, Message, MessageId, Role};

/// Calls without results, each with data of type `T`.
///
/// A result answers the oldest open call with its id. Some servers reuse the same ids in every assistant
/// turn, so earlier turns' open calls with the id of a new call no longer wait for a result.
pub(crate) struct OpenCalls<Id, T> {
    /// For each call id, the turn and the open calls, oldest first. The map is only iterated where the order does
    /// not matter.
    waiting: HashMap<Id, (usize, VecDeque<T>)>,
    given_up: Vec<T>,
    turn: usize,
    speaker: Role,
}

/// Calls without results, in no particular order.
pub(crate) struct UnansweredCalls<T> {
    /// Calls of the assistant's last turn, whose results may still arrive.
    pub(crate) waiting: Vec<T>,
    /// Calls of earlier turns, after which the assistant continued without their results.
    pub(crate) given_up: Vec<T>,
}

impl<Id, T> Default for OpenCalls<Id, T> {
    fn default() -> Self {
        Self { waiting: HashMap::new(), given_up: Vec::new(), turn: 0, speaker: Role::User }
    }
}

impl<Id: Borrow<str> + Eq + Hash, T> OpenCalls<Id, T> {
    /// Starts the next message. The calls and results of the message must follow.
    pub(crate) fn begin_message(&mut self, message: &Message) {
        if !has_content(message) {
            return;
        }
        if message.body.role == Role::Assistant && self.speaker == Role::User {
            self.turn += 1;
        }
        self.speaker = message.body.role;
    }

    /// Adds a tool call of the current message.
    pub(crate) fn add_call(&mut self, id: Id, call: T) {
        let (turn, calls) = self.waiting.entry(id).or_default();
        if *turn != self.turn {
            *turn = self.turn;
            self.given_up.extend(calls.drain(..));
        }
        calls.push_back(call);
    }

    /// Removes and returns the call that a result with this call id answers, if any.
    pub(crate) fn close_call(&mut self, id: &str) -> Option<T> {
        self.waiting.get_mut(id)?.1.pop_front()
    }

    pub(crate) fn into_unanswered(self) -> UnansweredCalls<T> {
        let mut unanswered = UnansweredCalls { waiting: Vec::new(), given_up: self.given_up };
        for (turn, calls) in self.waiting.into_values() {
            let list = if turn == self.turn { &mut unanswered.waiting } else { &mut unanswered.given_up };
            list.extend(calls);
        }
        unanswered
    }
}

/// Returns the tool and arguments of every answered call, keyed by the message and block index of the result.
pub(crate) fn answered_calls<'a>(
    messages: impl IntoIterator<Item = &'a Message>,
) -> HashMap<(MessageId, usize), (&'a str, &'a Value)> {
    let (mut open, mut answered) = (OpenCalls::default(), HashMap::new());
    for message in messages {
        open.begin_message(message);
        for (place, block) in message.body.content.iter().enumerate() {
            match block {
                ContentBlock::ToolCall { id, name, input } => {
                    open.add_call(id.as_str(), (name.as_str(), input));
                }
                ContentBlock::ToolResult { call_id, .. } => {
                    answered.extend(open.close_call(call_id).map(|call| ((message.id, place), call)));
                }
                _ => {}
            }
        }
    }
    answered
}

impl History {
    /// Returns the calls among the first `end` messages whose results come later, as message id and call id.
    pub fn calls_answered_after(&self, end: usize) -> Vec<(MessageId, String)> {
        let (mut open, mut answered) = (OpenCalls::default(), Vec::new());
        for (at, message) in self.messages().iter().enumerate() {
            open.begin_message(message);
            for block in &message.body.content {
                match block {
                    ContentBlock::ToolCall { id, .. } => open.add_call(id.as_str(), (at, message.id)),
                    ContentBlock::ToolResult { call_id, .. } => {
                        let call = open.close_call(call_id).filter(|(call, _)| *call < end && end <= at);
                        answered.extend(call.map(|(_, message)| (message, call_id.clone())));
                    }
                    _ => {}
                }
            }
        }
        answered
    }
}

/// Whether a message has content other than empty text.
fn has_content(message: &Message) -> bool {
    let is_blank =
        |block: &ContentBlock| matches!(block, ContentBlock::Text { text } if text.trim().is_empty());
    !message.body.content.iter().all(is_blank)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::history::{NewMessage, ResultPart, ToolOutcome, project};

    fn call(id: &str) -> ContentBlock {
        ContentBlock::ToolCall { id: id.into(), name: "read".into(), input: json!({}) }
    }

    fn result(id: &str) -> ContentBlock {
        ContentBlock::ToolResult { call_id: id.into(), content: Vec::new(), outcome: ToolOutcome::Ok }
    }

    fn pairs(messages: &[Message]) -> (Vec<(usize, usize)>, UnansweredCalls<usize>) {
        let (mut open, mut pairs, mut number) = (OpenCalls::default(), Vec::new(), 0);
        for message in messages {
            open.begin_message(message);
            for block in &message.body.content {
                match block {
                    ContentBlock::ToolCall { id, .. } => open.add_call(id.as_str(), number),
                    ContentBlock::ToolResult { call_id, .. } => {
                        pairs.extend(open.close_call(call_id).map(|call| (call, number)));
                    }
                    _ => {}
                }
                number += 1;
            }
        }
        (pairs, open.into_unanswered())
    }

    fn conversation(turns: impl IntoIterator<Item = (Role, Vec<ContentBlock>)>) -> Vec<Message> {
        let message =
            |(id, (role, content))| Message { id: MessageId(id), body: NewMessage::new(role, content) };
        (0..).zip(turns).map(message).collect()
    }

    #[test]
    fn calls_with_the_same_id_are_answered_in_order_within_a_turn() {
        let twice = [
            (Role::Assistant, vec![call("a")]),
            (Role::User, vec![ContentBlock::text("  ")]),
            (Role::Assistant, vec![call("a")]),
            (Role::User, vec![result("a")]),
            (Role::Assistant, vec![call("a")]),
        ];
        let (pairs, unanswered) = pairs(&conversation(twice));
        assert_eq!(pairs, [(0, 3)]);
        assert_eq!((unanswered.given_up, unanswered.waiting), (vec![2], vec![4]));
    }

    fn blocks(role: Role) -> BoxedStrategy<Vec<ContentBlock>> {
        let tool = match role {
            Role::Assistant => prop_oneof![Just(call("a")), Just(call("b"))].boxed(),
            Role::User => prop_oneof![Just(result("a")), Just(result("b"))].boxed(),
        };
        let block = prop_oneof![
            3 => tool,
            1 => Just(ContentBlock::text(" ")),
            1 => Just(ContentBlock::text("word")),
        ];
        prop::collection::vec(block, 0..4).boxed()
    }

    proptest! {
        /// Pairs are the same as in a prompt.
        #[test]
        fn calls_are_paired_as_prompts_show_them(
            turns in prop::collection::vec(
                prop_oneof![Just(Role::User), Just(Role::Assistant)]
                    .prop_flat_map(|role| (Just(role), blocks(role))),
                0..12,
            ),
        ) {
            let mut messages = conversation(turns);
            // Each call and result contains its position.
            for (number, block) in messages.iter_mut().flat_map(|message| &mut message.body.content).enumerate() {
                match block {
                    ContentBlock::ToolCall { input, .. } => *input = json!({ "at": number }),
                    ContentBlock::ToolResult { content, .. } => {
                        *content = vec![ResultPart::Text { text: number.to_string() }];
                    }
                    _ => {}
                }
            }
            let (pairs, _) = pairs(&messages);
            let projection = project(&messages, &[ContentBlock::text("go on")], None);
            let mut sent = BTreeMap::new();
            for block in projection.history.iter().flat_map(|message| &message.content) {
                match block {
                    ContentBlock::ToolCall { id, input, .. } => drop(sent.insert(id.clone(), input["at"].clone())),
                    ContentBlock::ToolResult { call_id, content, .. } => {
                        let [ResultPart::Text { text }] = content.as_slice() else { continue };
                        let Ok(at) = text.parse::<usize>() else { continue };
                        let call = sent[call_id].as_u64().map(|call| usize::try_from(call).unwrap_or_default());
                        prop_assert!(pairs.contains(&(call.unwrap_or_default(), at)), "{call:?} {at} {pairs:?}");
                    }
                    _ => {}
                }
            }
        }
    }
}
