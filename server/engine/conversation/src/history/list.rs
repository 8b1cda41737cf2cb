//! The messages of a conversation, cheap to clone. A session that clears or replaces them must also purge its
//! tiers (`session`).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::message::{ContentBlock, Message, MessageId, MessageKind, NewMessage, Visibility};
use super::role::Role;

/// Messages of a conversation, in order. Ids are unique within a session and never reused.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    messages: Arc<Vec<Arc<Message>>>,
    next: u64,
}

/// Error for an id that no message of the conversation has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("no message {}; history.get lists the messages", .0.0)]
pub struct NoSuchMessage(pub MessageId);

/// An entry of a rebuilt conversation.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum RebuildStep {
    /// Keeps the message with this id unchanged.
    Keep(MessageId),
    /// Replaces the tool results of this message with stubs (`Kind::ToolResultArchived`).
    Archive(MessageId),
    /// Inserts a new message.
    Add(NewMessage),
}

impl RebuildStep {
    /// Returns the id of the message that the entry keeps unchanged, if any.
    pub(crate) fn kept_message(&self) -> Option<MessageId> {
        match self {
            Self::Keep(id) => Some(*id),
            Self::Archive(_) | Self::Add(_) => None,
        }
    }
}

/// Changes made by rebuilding a conversation, recorded so that they can be undone.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HistoryChange {
    pub added: Vec<MessageId>,
    /// Ids of messages that were hidden or archived, with the kinds that they had before. All of them were sent
    /// to the model until then, in full or as stubs.
    pub changed: Vec<(MessageId, MessageKind)>,
}

impl History {
    /// Returns whether both are the same value, shared. Equal messages that were made separately do not count.
    pub fn ptr_eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.messages, &other.messages) && self.next == other.next
    }

    /// Appends a message and returns its id.
    pub fn add(&mut self, message: NewMessage) -> MessageId {
        let id = MessageId(self.next);
        self.next = self.next.saturating_add(1);
        Arc::make_mut(&mut self.messages).push(Arc::new(Message { id, body: message }));
        id
    }

    /// Replaces all messages. Ids are not reused, so that data cached for an old message never applies to a
    /// new one.
    pub fn replace_messages(&mut self, messages: impl IntoIterator<Item = NewMessage>) {
        self.messages = Arc::default();
        for message in messages {
            self.add(message);
        }
    }

    /// Restores a stored conversation. `next` is the first unused id.
    pub fn restore(messages: impl IntoIterator<Item = Message>, next: MessageId) -> Self {
        let messages: Vec<Arc<Message>> = messages.into_iter().map(Arc::new).collect();
        let used = messages.iter().map(|message| message.id.0.saturating_add(1)).max().unwrap_or_default();
        Self { messages: Arc::new(messages), next: next.0.max(used) }
    }

    pub fn next_id(&self) -> MessageId {
        MessageId(self.next)
    }

    pub fn get(&self, id: MessageId) -> Option<&Arc<Message>> {
        self.messages.iter().find(|message| message.id == id)
    }

    /// Changes a message in place and keeps its id.
    ///
    /// # Errors
    /// [`NoSuchMessage`] if there is no message with this id.
    pub fn change(
        &mut self,
        id: MessageId,
        change: impl FnOnce(&mut NewMessage),
    ) -> Result<(), NoSuchMessage> {
        let at = self.messages.iter().position(|message| message.id == id).ok_or(NoSuchMessage(id))?;
        if let Some(message) = Arc::make_mut(&mut self.messages).get_mut(at) {
            change(&mut Arc::make_mut(message).body);
        }
        Ok(())
    }

    /// Removes a message and all later ones, and returns their number.
    ///
    /// # Errors
    /// [`NoSuchMessage`] if there is no message with this id.
    pub fn truncate(&mut self, from: MessageId) -> Result<usize, NoSuchMessage> {
        let at = self.messages.iter().position(|message| message.id == from).ok_or(NoSuchMessage(from))?;
        let removed = self.messages.len() - at;
        Arc::make_mut(&mut self.messages).truncate(at);
        Ok(removed)
    }

    /// Replaces the `covered` messages, as the model sees them, with `entries`. Covered messages that
    /// `entries` does not keep are hidden in place. Inserted messages come before the next kept one, or after
    /// all covered messages. Kept messages must be in their original order.
    pub(crate) fn rebuild(&mut self, covered: &[MessageId], entries: Vec<RebuildStep>) -> HistoryChange {
        let covered: HashSet<MessageId> = covered.iter().copied().collect();
        let mut left = self.messages.iter().filter(|message| covered.contains(&message.id)).count();
        let mut rebuild = RebuildWriter::new(self.next, entries);
        for message in &*std::mem::take(&mut self.messages) {
            if covered.contains(&message.id) {
                rebuild.push_replaced_message(message);
                left -= 1;
            } else {
                rebuild.messages.push(Arc::clone(message));
            }
            if left == 0 {
                rebuild.insert_additions_before(usize::MAX);
            }
        }
        rebuild.insert_additions_before(usize::MAX);
        self.next = rebuild.next;
        self.messages = Arc::new(rebuild.messages);
        rebuild.rebuilt
    }

    /// Undoes [`rebuild`](Self::rebuild), but not the addition or removal of messages since then.
    pub fn undo_rebuild(&mut self, rebuilt: &HistoryChange) {
        let added: HashSet<MessageId> = rebuilt.added.iter().copied().collect();
        let changed: HashMap<MessageId, MessageKind> = rebuilt.changed.iter().copied().collect();
        let messages = Arc::make_mut(&mut self.messages);
        messages.retain(|message| !added.contains(&message.id));
        for message in messages {
            if let Some(kind) = changed.get(&message.id) {
                let body = &mut Arc::make_mut(message).body;
                body.kind = *kind;
                if *kind != MessageKind::ToolResultArchived {
                    body.agent = Visibility::Shown;
                }
            }
        }
    }

    /// Includes hidden messages.
    pub fn messages(&self) -> &[Arc<Message>] {
        &self.messages
    }

    /// Returns the messages that are visible to the model.
    pub fn visible_messages(&self) -> impl DoubleEndedIterator<Item = &Arc<Message>> {
        self.messages.iter().filter(|message| message.body.agent == Visibility::Shown)
    }

    /// Returns the messages that are sent to the model: visible ones, and archived results as stubs.
    pub fn sent_messages(&self) -> impl DoubleEndedIterator<Item = &Arc<Message>> {
        self.messages.iter().filter(|message| message.body.is_sent())
    }

    /// Whether an exchange begins with this message: a user message that is not a tool result, summary or
    /// event. A cut before such a message never separates a call from its result, or an answer from its
    /// question.
    pub fn begins_exchange(message: &Message) -> bool {
        message.body.role == Role::User
            && !matches!(
                message.body.kind,
                MessageKind::ToolResult
                    | MessageKind::ToolResultArchived
                    | MessageKind::ToolSummary
                    | MessageKind::Summary
                    | MessageKind::SystemEvent
            )
            && !message.body.content.iter().any(ContentBlock::is_tool_result)
    }
}

/// Writes a rebuilt conversation message by message.
struct RebuildWriter {
    messages: Vec<Arc<Message>>,
    next: u64,
    /// Entries of the rebuilt conversation; `None` once written.
    entries: Vec<Option<RebuildStep>>,
    /// Index of the next entry to process.
    cursor: usize,
    /// Index in `entries` of each kept message.
    places: HashMap<MessageId, usize>,
    rebuilt: HistoryChange,
}

impl RebuildWriter {
    fn new(next: u64, entries: Vec<RebuildStep>) -> Self {
        let place = |(at, entry): (usize, &RebuildStep)| match entry {
            RebuildStep::Keep(id) | RebuildStep::Archive(id) => Some((*id, at)),
            RebuildStep::Add(_) => None,
        };
        let places = entries.iter().enumerate().filter_map(place).collect();
        let entries = entries.into_iter().map(Some).collect();
        Self { messages: Vec::new(), next, entries, cursor: 0, places, rebuilt: HistoryChange::default() }
    }

    fn push_replaced_message(&mut self, message: &Arc<Message>) {
        let place = self.places.get(&message.id).copied();
        if let Some(place) = place {
            self.insert_additions_before(place);
        }
        let entry = place.and_then(|place| self.entries.get_mut(place)).and_then(Option::take);
        let mut rewritten = Arc::clone(message);
        match entry {
            Some(RebuildStep::Keep(_)) => {}
            Some(RebuildStep::Archive(id)) => {
                let body = &mut Arc::make_mut(&mut rewritten).body;
                self.rebuilt.changed.push((id, body.kind));
                body.agent = Visibility::Hidden;
                body.kind = MessageKind::ToolResultArchived;
            }
            Some(RebuildStep::Add(_)) | None => {
                let body = &mut Arc::make_mut(&mut rewritten).body;
                self.rebuilt.changed.push((message.id, body.kind));
                body.agent = Visibility::Hidden;
                // An archived result would still be sent as a stub. Restore the ordinary kind, so that the
                // message is hidden entirely.
                if body.kind == MessageKind::ToolResultArchived {
                    body.kind = MessageKind::ToolResult;
                }
            }
        }
        self.messages.push(rewritten);
    }

    /// Inserts the new messages that come before the entry at `place`.
    fn insert_additions_before(&mut self, place: usize) {
        let end = place.min(self.entries.len());
        while self.cursor < end {
            let entry = self.entries.get_mut(self.cursor);
            if let Some(entry @ Some(RebuildStep::Add(_))) = entry
                && let Some(RebuildStep::Add(body)) = entry.take()
            {
                let id = MessageId(self.next);
                self.next = self.next.saturating_add(1);
                self.rebuilt.added.push(id);
                self.messages.push(Arc::new(Message { id, body }));
            }
            self.cursor += 1;
        }
    }
}

/// Drops the oldest exchanges until the sum of `count_tokens` over the remaining messages is at most `limit`. Always
/// keeps the newest exchange. Last resort for a history that far exceeds its limit and cannot be summarized.
pub fn emergency_truncate(
    messages: &[Arc<Message>],
    limit: usize,
    count_tokens: impl Fn(&Message) -> usize,
) -> &[Arc<Message>] {
    let mut left: usize = messages.iter().map(|message| count_tokens(message)).sum();
    let mut start = 0;
    while left > limit {
        let later = messages.iter().skip(start + 1).position(|message| History::begins_exchange(message));
        let Some(next) = later.map(|at| start + 1 + at) else { break };
        left -= messages[start..next].iter().map(|message| count_tokens(message)).sum::<usize>();
        start = next;
    }
    &messages[start..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{ResultPart, ToolOutcome};

    fn conversation(exchanges: usize) -> History {
        let mut history = History::default();
        for n in 0..exchanges {
            history.add(NewMessage::text(Role::User, format!("question {n}")));
            history.add(NewMessage::text(Role::Assistant, format!("answer {n}")));
        }
        history
    }

    #[test]
    fn message_ids_are_never_reused() {
        let mut history = conversation(1);
        history.replace_messages([]);
        assert_eq!(history.add(NewMessage::text(Role::User, "again")), MessageId(2));
        history.replace_messages([NewMessage::text(Role::User, "anew")]);
        assert_eq!(history.messages()[0].id, MessageId(3));
    }

    #[test]
    fn the_highest_message_id_does_not_overflow() {
        let last = Message { id: MessageId(u64::MAX), body: NewMessage::text(Role::User, "last") };
        let mut history = History::restore([last], MessageId(0));
        assert_eq!(history.next_id(), MessageId(u64::MAX));
        history.add(NewMessage::text(Role::Assistant, "one more"));
        let summary = RebuildStep::Add(NewMessage::text(Role::User, "in short"));
        history.rebuild(&[MessageId(u64::MAX)], vec![summary]);
        assert_eq!(history.messages().len(), 3);
    }

    #[test]
    fn emergency_truncation_keeps_whole_exchanges_and_the_newest_one() {
        let history = conversation(10);
        let remaining = emergency_truncate(history.messages(), 7, |_| 1);
        assert_eq!(remaining.len(), 6);
        assert_eq!(remaining[0].text(), "question 7");
        assert_eq!(emergency_truncate(history.messages(), 0, |_| 1).len(), 2);
        assert_eq!(emergency_truncate(history.messages(), 20, |_| 1).len(), 20);
        assert_eq!(emergency_truncate(&[], 0, |_| 1).len(), 0);
    }

    #[test]
    fn emergency_truncation_never_parts_a_call_from_its_result() {
        let mut history = History::default();
        history.add(NewMessage::text(Role::User, "look"));
        let call = ContentBlock::ToolCall { id: "1".into(), name: "read".into(), input: 1.into() };
        history.add(NewMessage::new(Role::Assistant, vec![call]));
        let content = vec![ResultPart::Text { text: "found".into() }];
        let result = ContentBlock::ToolResult { call_id: "1".into(), content, outcome: ToolOutcome::Ok };
        history.add(NewMessage::new(Role::User, vec![result]));
        history.add(NewMessage::text(Role::Assistant, "done"));
        history.add(NewMessage::text(Role::User, "thanks"));
        for limit in 0..4 {
            assert_eq!(emergency_truncate(history.messages(), limit, |_| 1)[0].text(), "thanks");
        }
    }
}
