//! Tracks the files that the model has read, so that it does not read them again, and its exploration steps. Both are
//! extracted from the messages since the last compaction.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use strata_conversation::conversation_facts::{Step, ToolPatterns, files_read, non_edit_steps};
use strata_conversation::history::{History, Message, MessageId};

/// State that determines, together with the conversation, which files were read and which exploration steps were taken.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct StepHistory {
    /// Files that a client marked as read, most recent last.
    marked: Vec<ReadMark>,
    /// Steps to keep from messages before `since`.
    kept: Vec<Step>,
    /// First message to scan for files and steps.
    since: MessageId,
}

/// A file that a client marked as read.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct ReadMark {
    path: String,
    /// Id of the first message after the mark.
    before: MessageId,
}

impl StepHistory {
    /// Returns the files read, most recent last. A file that a client marked is ordered by the time of its mark.
    pub fn files_read(&self, history: &History, tools: &ToolPatterns) -> Vec<String> {
        // A mark is ordered before the message that followed it.
        let marks = self.marked.iter().map(|mark| {
            let before =
                self.messages_since_start(history).take_while(|message| message.id < mark.before).count();
            (before, 0, mark.path.clone())
        });
        let read = files_read(self.messages_since_start(history), tools);
        let mut files: Vec<(usize, usize, String)> = marks.collect();
        files.extend(read.into_iter().map(|(at, path)| (at, 1, path)));
        files.sort_by_key(|(at, order, _)| (*at, *order));
        let mut later = HashSet::new();
        let mut files: Vec<String> = files
            .into_iter()
            .rev()
            .map(|(.., path)| path)
            .filter(|path| later.insert(path.clone()))
            .collect();
        files.reverse();
        files
    }

    /// Returns the exploration steps, most recent last.
    pub fn exploration_steps(&self, history: &History, tools: &ToolPatterns) -> Vec<Step> {
        let later = non_edit_steps(self.messages_since_start(history), tools);
        self.kept.iter().cloned().chain(later).collect()
    }

    /// Marks a file as read at this point of the conversation.
    pub fn mark_read(&mut self, path: impl Into<String>, history: &History) {
        let mark = ReadMark { path: path.into(), before: history.next_id() };
        self.marked.retain(|known| known.path != mark.path);
        self.marked.push(mark);
    }

    /// Forgets all files, because their texts are no longer in the conversation, and all but the last `kept` steps.
    pub(super) fn keep_last_steps(&mut self, kept: usize, history: &History, tools: &ToolPatterns) {
        let steps = self.exploration_steps(history, tools);
        let old = steps.len().saturating_sub(kept);
        let kept = steps.into_iter().skip(old).collect();
        *self = Self { marked: Vec::new(), kept, since: history.next_id() };
    }

    pub(super) fn clear(&mut self, history: &History) {
        *self = Self { marked: Vec::new(), kept: Vec::new(), since: history.next_id() };
    }

    fn messages_since_start<'a>(&self, history: &'a History) -> impl Iterator<Item = &'a Message> {
        let since = self.since;
        history.messages().iter().map(|message| &**message).filter(move |message| message.id >= since)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use strata_conversation::history::{ContentBlock, NewMessage, Role};

    use super::*;

    #[test]
    fn a_file_marked_as_read_is_ordered_by_the_time_of_its_mark() {
        let tools = ToolPatterns::default();
        let (mut history, mut trail) = (History::default(), StepHistory::default());
        let read = |history: &mut History, path: &str| {
            let input = json!({ "path": path });
            let call = ContentBlock::ToolCall { id: path.to_owned(), name: "read_file".to_owned(), input };
            history.add(NewMessage::new(Role::Assistant, vec![call]));
        };
        read(&mut history, "a.rs");
        trail.mark_read("b.rs", &history);
        trail.mark_read("a.rs", &history);
        read(&mut history, "c.rs");
        assert_eq!(trail.files_read(&history, &tools), ["b.rs", "a.rs", "c.rs"]);
        read(&mut history, "b.rs");
        assert_eq!(trail.files_read(&history, &tools), ["a.rs", "c.rs", "b.rs"]);
        assert_eq!(
            serde_json::from_str::<StepHistory>(&serde_json::to_string(&trail).unwrap()).unwrap(),
            trail
        );
    }
}
