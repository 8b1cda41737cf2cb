//! Queues the tasks of sessions. Each session runs one task at a time, in order of arrival.

use std::collections::{BTreeMap, VecDeque};
use std::time::Instant;

use strata_conversation::compaction::CompactionDraft;
use strata_conversation::tool_result_archival::Archival;

use super::event::Caller;
use crate::commands::{IndexNeed, Invocation};
use crate::model::snapshot::Snapshot;
use crate::services::token_count_client::CountedPrompt;

/// A queued task, with a snapshot of the workspace from the time of its arrival.
pub(super) struct QueuedTask {
    pub(super) task: SessionTask,
    pub(super) snapshot: Snapshot,
    pub(super) target: SessionTarget,
    /// What the task needs of the index.
    pub(super) awaited_index: AwaitedIndex,
}

impl QueuedTask {
    /// Creates a task that installs a result in its session, for which it needs no index.
    pub(super) fn for_result_installation(task: SessionTask, snapshot: Snapshot) -> Self {
        let awaited_index = AwaitedIndex { need: IndexNeed::Nothing, since: None };
        Self { task, snapshot, target: SessionTarget::Named, awaited_index }
    }
}

/// What a task needs of the index, and when it began to wait for that.
#[derive(Clone, Copy)]
pub(super) struct AwaitedIndex {
    pub(super) need: IndexNeed,
    pub(super) since: Option<Instant>,
}

/// The session that a task belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SessionTarget {
    Named,
    /// The session that is current when the task starts, since an earlier command may switch to another session.
    Current,
}

/// A task that may change a session.
pub(super) enum SessionTask {
    Command(Invocation, Caller),
    /// Installs the draft of the compaction with this number.
    Compact(u64, Box<CompactionDraft>),
    /// Archives tool results.
    Archive(Box<Archival>),
    /// Records a token count that the client provided.
    Measure(CountedPrompt),
    /// Resumes this session once no other process is writing to it.
    Resume(String),
}

impl SessionTask {
    /// Returns the number of the compaction whose draft the task installs.
    pub(super) fn compaction_number(&self) -> Option<u64> {
        match self {
            Self::Compact(number, _) => Some(*number),
            Self::Command(..) | Self::Archive(_) | Self::Measure(_) | Self::Resume(_) => None,
        }
    }

    /// Whether the result of the task is still needed.
    fn is_result_needed(&self) -> bool {
        match self {
            Self::Command(_, caller) => !caller.cancel.is_cancelled(),
            Self::Compact(..) | Self::Archive(_) | Self::Measure(_) | Self::Resume(_) => true,
        }
    }
}

#[derive(Default)]
struct TaskQueue {
    tasks: VecDeque<QueuedTask>,
    state: QueueState,
}

#[derive(Default, PartialEq, Eq)]
enum QueueState {
    #[default]
    Idle,
    Running,
    /// The running task is resuming another session.
    Resuming,
}

#[derive(Default)]
pub(super) struct TaskQueues {
    sessions: BTreeMap<String, TaskQueue>,
    /// The session that was current at the last call of `set_current`.
    current: String,
}

impl TaskQueues {
    pub(super) fn push(&mut self, session: &str, task: QueuedTask) {
        self.sessions.entry(session.to_owned()).or_default().tasks.push_back(task);
    }

    /// Removes and returns the next task of a session, unless a task is running. Drops cancelled tasks.
    pub(super) fn next(&mut self, session: &str) -> Option<QueuedTask> {
        let queue = self.sessions.get_mut(session)?;
        if queue.state != QueueState::Idle {
            return None;
        }
        queue.tasks.retain(|queued| queued.task.is_result_needed());
        let next = queue.tasks.pop_front();
        match &next {
            Some(QueuedTask { task: SessionTask::Resume(_), .. }) => queue.state = QueueState::Resuming,
            Some(_) => queue.state = QueueState::Running,
            None => {
                self.sessions.remove(session);
            }
        }
        next
    }

    /// Returns what the next task of a session needs of the index.
    pub(super) fn awaited_index(&self, session: &str) -> Option<AwaitedIndex> {
        let queue = self.sessions.get(session).filter(|queue| queue.state == QueueState::Idle)?;
        queue.tasks.iter().find(|queued| queued.task.is_result_needed()).map(|queued| queued.awaited_index)
    }

    pub(super) fn session_ids(&self) -> impl Iterator<Item = &str> {
        self.sessions.keys().map(String::as_str)
    }

    /// Makes a session current and moves the tasks for the current session to its queue, in order. Returns whether
    /// another session was current before.
    pub(super) fn set_current(&mut self, session: &str) -> bool {
        if self.current == session {
            return false;
        }
        let before = std::mem::replace(&mut self.current, session.to_owned());
        if let Some(queue) = self.sessions.get_mut(&before) {
            let (moved, remaining) = queue
                .tasks
                .drain(..)
                .partition::<VecDeque<_>, _>(|queued| queued.target == SessionTarget::Current);
            queue.tasks = remaining;
            self.sessions.entry(session.to_owned()).or_default().tasks.extend(moved);
        }
        true
    }

    /// Whether a session is only a placeholder until another session is resumed.
    pub(super) fn is_resume_placeholder(&self, session: &str) -> bool {
        self.sessions.get(session).is_some_and(|queue| {
            let is_resumption = |queued: &QueuedTask| matches!(queued.task, SessionTask::Resume(_));
            queue.state == QueueState::Resuming || queue.tasks.iter().any(is_resumption)
        })
    }

    /// Records that the running task of a session has ended.
    pub(super) fn finish_task(&mut self, session: &str) {
        if let Some(queue) = self.sessions.get_mut(session) {
            queue.state = QueueState::Idle;
        }
    }
}
