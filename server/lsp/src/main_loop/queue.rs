//! Queued tasks of sessions. One at a time runs in each, in order of arrival.

use std::collections::{BTreeMap, VecDeque};
use std::time::Instant;

use serde_json::Value;
use strata_engine::conversation::compaction::Draft;
use strata_engine::conversation::tool_result_archival::Archival;

use crate::event::Call;
use strata_app::snapshot::Snapshot;
use strata_app::token_count_client::CountedPrompt;

/// A queued task, with the workspace on its arrival.
pub(super) struct QueuedTask {
    pub(super) task: Task,
    pub(super) snapshot: Snapshot,
    pub(super) whose: SessionTarget,
    /// Until when it waits for the index, if it does.
    pub(super) awaits_index: Option<Instant>,
}

/// Which session something is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SessionTarget {
    Named,
    /// The one that is shown when its turn comes: a command before it may show another one.
    UserMessage,
}

/// Something that may change a session.
pub(super) enum Task {
    Command(Call, Value),
    /// A compaction of this number is to be put in place.
    Compact(u64, Box<Draft>),
    /// Tool results are to be archived.
    Age(Box<Archival>),
    /// The client has counted a request.
    Measure(CountedPrompt),
    /// The client wants to resume this session, which someone else still writes to.
    Resume(String),
}

impl Task {
    /// The compaction that it is to put in place, if any.
    pub(super) fn compaction(&self) -> Option<u64> {
        match self {
            Self::Compact(number, _) => Some(*number),
            Self::Command(..) | Self::Age(_) | Self::Measure(_) | Self::Resume(_) => None,
        }
    }

    /// Whether someone still waits for it.
    fn is_wanted(&self) -> bool {
        match self {
            Self::Command(call, _) => !call.cancel.is_cancelled(),
            Self::Compact(..) | Self::Age(_) | Self::Measure(_) | Self::Resume(_) => true,
        }
    }
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<QueuedTask>,
    state: State,
}

#[derive(Default, PartialEq, Eq)]
enum State {
    #[default]
    Idle,
    Running,
    /// A running task waits for the session to be resumed.
    Resuming,
}

/// The queues of all sessions.
#[derive(Default)]
pub(super) struct Queues {
    sessions: BTreeMap<String, Queue>,
    /// The session that was current last.
    current: String,
}

impl Queues {
    /// Puts a command at the end of its session's queue.
    pub(super) fn push(&mut self, session: &str, waiting: QueuedTask) {
        self.sessions.entry(session.to_owned()).or_default().waiting.push_back(waiting);
    }

    /// The next command to run, if none is running in its session. Drops cancelled ones.
    pub(super) fn next(&mut self, session: &str) -> Option<QueuedTask> {
        let queue = self.sessions.get_mut(session)?;
        if queue.state != State::Idle {
            return None;
        }
        queue.waiting.retain(|waiting| waiting.task.is_wanted());
        let next = queue.waiting.pop_front();
        match &next {
            Some(QueuedTask { task: Task::Resume(_), .. }) => queue.state = State::Resuming,
            Some(_) => queue.state = State::Running,
            None => {
                self.sessions.remove(session);
            }
        }
        next
    }

    /// Until when the next task of a session waits for the index.
    pub(super) fn awaits_index(&self, session: &str) -> Option<Instant> {
        let queue = self.sessions.get(session).filter(|queue| queue.state == State::Idle)?;
        queue.waiting.iter().find(|waiting| waiting.task.is_wanted())?.awaits_index
    }

    /// The sessions in which something waits.
    pub(super) fn sessions(&self) -> impl Iterator<Item = &str> {
        self.sessions.keys().map(String::as_str)
    }

    /// This session is current from now on: what waits for the current one goes there, in its order. Whether it is another one
    /// than before.
    pub(super) fn follow(&mut self, now: &str) -> bool {
        if self.current == now {
            return false;
        }
        let before = std::mem::replace(&mut self.current, now.to_owned());
        if let Some(queue) = self.sessions.get_mut(&before) {
            let (follow, stay) = queue
                .waiting
                .drain(..)
                .partition::<VecDeque<_>, _>(|waiting| waiting.whose == SessionTarget::UserMessage);
            queue.waiting = stay;
            self.sessions.entry(now.to_owned()).or_default().waiting.extend(follow);
        }
        true
    }

    /// Whether a session has its place only until another one can be continued.
    pub(super) fn is_resuming(&self, session: &str) -> bool {
        self.sessions.get(session).is_some_and(|queue| {
            let is_to_come = |waiting: &QueuedTask| matches!(waiting.task, Task::Resume(_));
            queue.state == State::Resuming || queue.waiting.iter().any(is_to_come)
        })
    }

    /// The running command of a session has ended.
    pub(super) fn finished(&mut self, session: &str) {
        if let Some(queue) = self.sessions.get_mut(session) {
            queue.state = State::Idle;
        }
    }
}
