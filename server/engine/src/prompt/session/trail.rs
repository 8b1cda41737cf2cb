//! What was looked at in a session: the files that were read, so that they are not read again, and the steps of the
//! exploration. Both are read off the conversation, from a place on that a compaction moves. Knows nothing about texts.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::conversation::conversation_facts::{Step, ToolPatterns, files_read, steps};
use crate::conversation::history::{History, Message, MessageId};

/// From where on the conversation counts, and what counts besides.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct StepHistory {
    /// Files that a client says were read.
    marked: Vec<String>,
    /// Steps from before `since` that are still told.
    kept: Vec<Step>,
    /// What was said before this message is not looked at.
    since: MessageId,
}

impl StepHistory {
    /// The files that were read, the last one last.
    pub fn files_read(&self, history: &History, tools: &ToolPatterns) -> Vec<String> {
        let marked: HashSet<&String> = self.marked.iter().collect();
        let mut read = files_read(self.looked_at(history), tools);
        read.retain(|path| !marked.contains(path));
        read.extend(self.marked.iter().cloned());
        read
    }

    /// The steps that were taken, the last one last.
    pub fn steps(&self, history: &History, tools: &ToolPatterns) -> Vec<Step> {
        let later = steps(self.looked_at(history), tools);
        self.kept.iter().cloned().chain(later).collect()
    }

    /// Takes note that a file was read.
    pub fn mark_read(&mut self, path: impl Into<String>) {
        let path = path.into();
        self.marked.retain(|known| *known != path);
        self.marked.push(path);
    }

    /// Forgets the files, because their texts are gone, and all but the last `kept` steps.
    pub(super) fn shorten(&mut self, kept: usize, history: &History, tools: &ToolPatterns) {
        let steps = self.steps(history, tools);
        let old = steps.len().saturating_sub(kept);
        let kept = steps.into_iter().skip(old).collect();
        *self = Self { marked: Vec::new(), kept, since: history.next_id() };
    }

    /// Forgets everything.
    pub(super) fn renew(&mut self, history: &History) {
        *self = Self { marked: Vec::new(), kept: Vec::new(), since: history.next_id() };
    }

    fn looked_at<'a>(&self, history: &'a History) -> impl Iterator<Item = &'a Message> {
        let since = self.since;
        history.messages().iter().map(|message| &**message).filter(move |message| message.id >= since)
    }
}
