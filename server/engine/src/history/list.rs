//! The conversation as a value: cheap to clone, changed only as a whole. Knows nothing about tiers; who
//! clears or replaces it purges them (`session`).

use std::sync::Arc;

use super::message::{ContentBlock, Kind, Message, MessageId, NewMessage, Role, Visibility};

/// Messages in order, each with a number that is never used twice in a session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    messages: Arc<Vec<Arc<Message>>>,
    next: u64,
}

impl History {
    /// An empty conversation.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a message at the end and says its number.
    pub fn add(&mut self, message: NewMessage) -> MessageId {
        let id = MessageId(self.next);
        self.next += 1;
        Arc::make_mut(&mut self.messages).push(Arc::new(Message { id, body: message }));
        id
    }

    /// Replaces all messages. Numbers go on from where they were, so that nothing cached for an old
    /// message is ever taken for a new one.
    pub fn set(&mut self, messages: impl IntoIterator<Item = NewMessage>) {
        self.clear();
        for message in messages {
            self.add(message);
        }
    }

    /// Forgets all messages.
    pub fn clear(&mut self) {
        self.messages = Arc::default();
    }

    /// All messages, hidden ones included.
    pub fn messages(&self) -> &[Arc<Message>] {
        &self.messages
    }

    /// The messages that the model sees.
    pub fn visible(&self) -> impl DoubleEndedIterator<Item = &Arc<Message>> {
        self.messages.iter().filter(|message| message.body.agent == Visibility::Shown)
    }

    /// How many messages there are, hidden ones included.
    pub fn len(&self) -> usize {
        self.messages.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Where an exchange begins at or after the `from`th message: a user message that is not a tool's
    /// result. Cutting there separates no call from its result and no answer from its question.
    pub fn next_exchange(messages: &[Arc<Message>], from: usize) -> usize {
        let begins = |message: &Arc<Message>| {
            message.body.role == Role::User
                && !matches!(message.body.kind, Kind::ToolResult | Kind::ToolResultArchived)
                && !message.body.content.iter().any(ContentBlock::is_tool_result)
        };
        let rest = messages.get(from..).unwrap_or_default();
        from.min(messages.len()) + rest.iter().position(begins).unwrap_or(rest.len())
    }
}

/// The last resort when a history is far over its limit and no summary can be had: drops the oldest whole
/// exchanges until `weigh` of what is left is at most `limit`. The newest exchange always stays.
pub fn emergency_truncate(
    messages: &[Arc<Message>],
    limit: usize,
    weigh: impl Fn(&Message) -> usize,
) -> &[Arc<Message>] {
    let mut left: usize = messages.iter().map(|message| weigh(message)).sum();
    let mut start = 0;
    while left > limit {
        let next = History::next_exchange(messages, start + 1);
        if next >= messages.len() {
            break;
        }
        left -= messages[start..next].iter().map(|message| weigh(message)).sum::<usize>();
        start = next;
    }
    &messages[start..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{Outcome, ResultPart};

    fn talk(exchanges: usize) -> History {
        let mut history = History::new();
        for n in 0..exchanges {
            history.add(NewMessage::text(Role::User, format!("question {n}")));
            history.add(NewMessage::text(Role::Assistant, format!("answer {n}")));
        }
        history
    }

    #[test]
    fn numbers_are_never_used_twice() {
        let mut history = talk(1);
        history.clear();
        assert_eq!(history.add(NewMessage::text(Role::User, "again")), MessageId(2));
        history.set([NewMessage::text(Role::User, "anew")]);
        assert_eq!(history.messages()[0].id, MessageId(3));
    }

    #[test]
    fn emergency_truncation_keeps_whole_exchanges_and_the_newest_one() {
        let history = talk(10);
        let kept = emergency_truncate(history.messages(), 7, |_| 1);
        assert_eq!(kept.len(), 6);
        assert_eq!(kept[0].text(), "question 7");
        assert_eq!(emergency_truncate(history.messages(), 0, |_| 1).len(), 2);
        assert_eq!(emergency_truncate(history.messages(), 20, |_| 1).len(), 20);
        assert_eq!(emergency_truncate(&[], 0, |_| 1).len(), 0);
    }

    #[test]
    fn emergency_truncation_never_parts_a_call_from_its_result() {
        let mut history = History::new();
        history.add(NewMessage::text(Role::User, "look"));
        let call = ContentBlock::ToolCall { id: "1".into(), name: "read".into(), input: 1.into() };
        history.add(NewMessage::new(Role::Assistant, vec![call]));
        let content = vec![ResultPart::Text { text: "found".into() }];
        let result = ContentBlock::ToolResult { call_id: "1".into(), content, outcome: Outcome::Ok };
        history.add(NewMessage::new(Role::User, vec![result]));
        history.add(NewMessage::text(Role::Assistant, "done"));
        history.add(NewMessage::text(Role::User, "thanks"));
        for limit in 0..4 {
            assert_eq!(emergency_truncate(history.messages(), limit, |_| 1)[0].text(), "thanks");
        }
    }
}
