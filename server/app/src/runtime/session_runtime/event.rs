//! What happens to sessions, as data: commands that arrive, and results of work that the host ran.

use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

use serde_json::Value;
use strata_base::cancel::Cancel;
use strata_conversation::compaction::CompactionDraft;
use strata_conversation::tool_result_archival::Archival;
use strata_host::roots::Roots;

use super::progress::ProgressToken;
use crate::commands::{self, CommandDefinition, CommandError, Effect, Invocation, MAIN_SESSION};
use crate::runtime::executor::CommandOutcome;
use crate::services::token_count_client::CountedPrompt;

/// Sends the reply to a command to its caller. If it is dropped without a reply, the caller must not wait forever.
pub struct ReplySender(Box<dyn FnOnce(Result<Value, CommandError>) + Send>);

impl ReplySender {
    pub fn new(send: impl FnOnce(Result<Value, CommandError>) + Send + 'static) -> Self {
        Self(Box::new(send))
    }

    /// Creates a sender to a thread. The receiver gets an error if there will be no reply.
    pub fn channel() -> (Self, Receiver<Result<Value, CommandError>>) {
        let (sender, reply) = channel();
        // Sending fails only if the thread no longer waits.
        (Self::new(move |result| drop(sender.send(result))), reply)
    }

    pub fn send(self, result: Result<Value, CommandError>) {
        (self.0)(result);
    }
}

impl fmt::Debug for ReplySender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplySender").finish_non_exhaustive()
    }
}

/// What waits for the outcome of a command.
#[derive(Debug)]
pub struct Caller {
    /// Raised when the reply is no longer needed.
    pub cancel: Cancel,
    /// Token for reporting the command's progress, if the client gave one.
    pub token: Option<ProgressToken>,
    pub reply: ReplySender,
}

/// A command to run in a session.
#[derive(Debug)]
pub struct CommandCall {
    /// Name of the session.
    pub(super) session: String,
    /// The command, or the reason why there is none.
    pub(super) command: Result<Invocation, CommandError>,
    pub(super) caller: Caller,
}

impl CommandCall {
    /// Creates a call of a command in this session.
    pub fn new(session: &str, command: Invocation, caller: Caller) -> Self {
        Self { session: session.to_owned(), command: Ok(command), caller }
    }

    /// Creates a call from the command's name and its arguments, as received from the client.
    pub fn from_json(name: &str, arguments: Vec<Value>, caller: Caller) -> Self {
        let unknown = || CommandError::Unknown(name.to_owned());
        let (session, command) = match commands::split_arguments(arguments) {
            Ok((session, arguments)) => {
                let command = CommandDefinition::by_name(name).ok_or_else(unknown);
                (session, command.map(|command| Invocation::from_json(command, arguments)))
            }
            Err(error) => (None, Err(error)),
        };
        Self { session: session.unwrap_or_else(|| MAIN_SESSION.to_owned()), command, caller }
    }
}

/// The result of work that the host ran.
#[derive(Debug)]
pub enum SessionEvent {
    /// A task of the session with this id has finished.
    TaskFinished(String, Box<FinishedTask>),
    /// The outcome of a task of the session with this id was lost. Contains its effects, and the number of the
    /// compaction whose draft the task was to install.
    TaskLost(String, Vec<Effect>, Option<u64>),
    /// The draft of a compaction is complete, or failed. Contains the session's id and the compaction's number.
    DraftFinished(String, u64, Result<Box<CompactionDraft>, CommandError>),
    /// A request to a model was answered, or failed. Contains the number of the request.
    ModelAnswered(u64, Result<Value, CommandError>),
    /// A model has summarized tool results of the session with this id; `None` if it failed.
    ToolResultsSummarized(String, Option<Box<Archival>>),
    /// The client has counted the tokens of the next request of the session with this id; `None` if it could not.
    TokensCounted(String, Option<CountedPrompt>),
}

impl SessionEvent {
    /// Name of the event in errors and logs.
    pub fn name(&self) -> &'static str {
        match self {
            Self::TaskFinished(..) | Self::TaskLost(..) => "command done",
            Self::DraftFinished(..) => "drafted",
            Self::ModelAnswered(..) => "sent",
            Self::ToolResultsSummarized(..) => "aged",
            Self::TokensCounted(..) => "measured",
        }
    }

    /// Returns the event to handle if handling this one panics, which releases everything that waits for it.
    pub fn recovery_event(&self) -> Self {
        match self {
            Self::TaskFinished(session, task) => {
                let compaction = match task.waiter {
                    Waiter::Compaction(number) => Some(number),
                    Waiter::Caller(..) | Waiter::None => None,
                };
                Self::TaskLost(session.clone(), task.outcome.effects.clone(), compaction)
            }
            Self::TaskLost(session, effects, compaction) => {
                Self::TaskLost(session.clone(), effects.clone(), *compaction)
            }
            Self::DraftFinished(session, number, _) => {
                Self::DraftFinished(session.clone(), *number, Err(CommandError::Internal))
            }
            Self::ModelAnswered(number, _) => Self::ModelAnswered(*number, Err(CommandError::Internal)),
            Self::ToolResultsSummarized(session, _) => Self::ToolResultsSummarized(session.clone(), None),
            Self::TokensCounted(session, _) => Self::TokensCounted(session.clone(), None),
        }
    }
}

/// A task that has finished on a thread of the host.
#[derive(Debug)]
pub struct FinishedTask {
    /// The workspace folders when the task started.
    pub(super) roots: Arc<Roots>,
    pub(super) outcome: CommandOutcome,
    pub(super) waiter: Waiter,
}

/// The recipient of a task's outcome.
#[derive(Debug)]
pub(super) enum Waiter {
    Caller(Caller),
    /// The compaction with this number.
    Compaction(u64),
    None,
}
