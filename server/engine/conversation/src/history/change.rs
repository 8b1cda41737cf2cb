//! Computes what changed in a conversation, so that only changes are stored.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::list::History;
use super::message::{Message, MessageId};

/// Difference between two states of a conversation.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct HistoryDiff {
    /// New messages, in order.
    pub added: Vec<Arc<Message>>,
    /// Messages whose content changed.
    pub changed: Vec<Arc<Message>>,
    pub removed: Vec<MessageId>,
    /// Ids of all messages in order; `None` if new messages were only appended.
    pub order: Option<Vec<MessageId>>,
}

impl HistoryDiff {
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.changed.is_empty() && self.removed.is_empty() && self.order.is_none()
    }
}

impl History {
    /// Returns the change that turns `before` into this conversation. Does not compare the contents of messages
    /// that both conversations share in memory.
    pub fn diff_since(&self, before: &Self) -> HistoryDiff {
        let (old, new) = (before.messages(), self.messages());
        let same = old.iter().zip(new).take_while(|(one, other)| Arc::ptr_eq(one, other)).count();
        let (old, rest) = (old.get(same..).unwrap_or_default(), new.get(same..).unwrap_or_default());
        let known: HashMap<MessageId, &Arc<Message>> =
            old.iter().map(|message| (message.id, message)).collect();
        let left: HashSet<MessageId> = rest.iter().map(|message| message.id).collect();
        let mut change = HistoryDiff {
            removed: old.iter().map(|message| message.id).filter(|id| !left.contains(id)).collect(),
            ..HistoryDiff::default()
        };
        let mut follows = true;
        let places: HashMap<MessageId, usize> =
            old.iter().enumerate().map(|(place, message)| (message.id, place)).collect();
        let mut last_place = 0;
        for message in rest {
            match known.get(&message.id) {
                Some(stored) => {
                    let place = places.get(&message.id).copied().unwrap_or_default();
                    follows &= change.added.is_empty() && place >= last_place;
                    last_place = place;
                    if !Arc::ptr_eq(stored, message) && stored != &message {
                        change.changed.push(Arc::clone(message));
                    }
                }
                None => change.added.push(Arc::clone(message)),
            }
        }
        change.order = (!follows).then(|| new.iter().map(|message| message.id).collect());
        change
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{NewMessage, RebuildStep, Role, Visibility};

    fn conversation(messages: usize) -> History {
        let mut history = History::default();
        for n in 0..messages {
            history.add(NewMessage::text(Role::User, n.to_string()));
        }
        history
    }

    #[test]
    fn appended_messages_are_the_whole_diff() {
        let before = conversation(3);
        assert!(before.diff_since(&before.clone()).is_empty());
        let mut after = before.clone();
        let id = after.add(NewMessage::text(Role::User, "new"));
        let change = after.diff_since(&before);
        assert_eq!((change.added[0].id, change.added.len()), (id, 1));
        assert_eq!((change.changed.len(), change.removed.len(), change.order), (0, 0, None));
    }

    #[test]
    fn a_diff_separates_inserted_changed_and_removed_messages() {
        let before = conversation(4);
        let mut after = before.clone();
        let covered: Vec<MessageId> = (0..3).map(MessageId).collect();
        after.rebuild(
            &covered,
            vec![
                RebuildStep::Keep(MessageId(0)),
                RebuildStep::Add(NewMessage::text(Role::User, "summary")),
                RebuildStep::Keep(MessageId(2)),
            ],
        );
        after.truncate(MessageId(3)).unwrap();
        let change = after.diff_since(&before);
        let ids = |messages: &[Arc<Message>]| messages.iter().map(|message| message.id.0).collect::<Vec<_>>();
        assert_eq!((ids(&change.added), ids(&change.changed)), (vec![4], vec![1]));
        assert_eq!(change.changed[0].body.agent, Visibility::Hidden);
        assert_eq!(change.removed, [MessageId(3)]);
        assert_eq!(change.order, Some([0, 1, 4, 2].map(MessageId).to_vec()));
    }
}
