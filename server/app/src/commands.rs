//! The commands of `workspace/executeCommand`, which the command line also runs. A command takes typed arguments, reads
//! a snapshot, may change its session, and returns a typed reply. Commands only convert between the protocol and the
//! engine, which decides what goes into the context.

pub mod budget;
mod changes;
pub mod compaction;
mod connection;
mod context;
pub mod cost;
mod definition;
mod error;
mod expansion;
pub mod files;
pub mod grep;
mod here;
pub mod history;
mod imported;
mod invocation;
pub mod iteration;
pub mod memory;
mod model;
mod model_job;
mod model_reply;
mod named_file;
pub mod pack;
pub mod prompt;
mod provider_error;
pub mod read;
mod redaction;
mod reply;
pub mod rules;
mod selected_question;
pub mod send;
pub mod server;
pub mod session;
pub mod symbols;
pub mod tiers;
mod tool_output;
mod url;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use strata_base::cancel::Cancel;
use strata_base::key::FileKey;
use strata_conversation::tool_result_archival::ArchivalPlan;
use strata_prompt::session::Session;

use crate::model::index::Index;
use crate::model::session_store::SessionStore;
use crate::model::sessions::Sessions;
use crate::model::snapshot::Snapshot;
use crate::services::Services;
use crate::services::compaction::CompactionJob;
use crate::services::compaction_notice::CompactionNotice;
use crate::services::running_compaction::RunningCompaction;

pub use definition::{COMMANDS, CommandDefinition, describe_all};
pub use error::{CommandError, FailureDetails};
pub use invocation::Invocation;
pub(crate) use model_job::{AnswerDocument, ForwardJob, ModelConnection, SendJob};
pub use model_job::{ModelJob, ToolAccess};
pub use model_reply::{ModelReply, SendCost, SendEnd, SendReply, ToolUse};
pub(crate) use named_file::missing_path_message;
pub(crate) use provider_error::describe_send_error as described_send_error;
pub use reply::{DeferredReply, Reply};

pub use crate::model::sessions::MAIN_SESSION;
pub use strata_code::excerpts::ExcerptReason;
pub use strata_conversation::compaction::{CompactionStatus, ConversationSize};
/// Types of the engine and the host in arguments and replies.
pub use strata_conversation::history::{ContentBlock, Image, ImageSource, MessageId, Role, media_type};
pub use strata_conversation::iteration::{FileChange, FileEvent, LoopPromise, LoopStatus, NewIteration};
pub use strata_conversation::providers::Format;
pub use strata_conversation::selection::Choice;
pub use strata_host::config::SettingLayer;
pub use strata_prompt::assembly::{AssembledPrompt, PromptCost};
pub use strata_prompt::budget::BudgetReport;
pub use strata_prompt::layout::{Part, Tier};
pub use strata_prompt::session::{LastTurn, RecoverableRequestError, RequestStatus};
pub use strata_prompt::tiers::PolicyName;
pub use strata_prompt::wire::Body;
pub use strata_tokens::cost::{Amount, ComparedCost, CostComparison, LifetimeCost, Usage};

/// A command: its name, arguments and reply, and what front ends need to know to run it.
///
/// To add a command, write a file like this and add its type to the list in `definition.rs`. The protocol's
/// documentation, its TypeScript types, and the language server's list of commands are derived from this definition.
///
/// ```
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
/// use strata_app::commands::{Access, Command, CommandError, Context};
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Greeting {
///     name: String,
/// }
///
/// #[derive(Serialize, JsonSchema)]
/// struct Greeted {
///     text: String,
/// }
///
/// struct Greet;
///
/// impl Command for Greet {
///     const NAME: &str = "strata.demo.greet";
///     const SUMMARY: &str = "Greets.";
///     const ACCESS: Access = Access::Reads;
///     type Args = Greeting;
///     type Reply = Greeted;
///
///     fn run(greeting: Greeting, _: &mut Context<'_>) -> Result<Greeted, CommandError> {
///         Ok(Greeted { text: format!("Hello, {}!", greeting.name) })
///     }
/// }
/// ```
pub trait Command {
    /// Name, in the form `strata.<area>.<verb>`.
    const NAME: &'static str;
    /// One-sentence summary for the protocol's documentation.
    const SUMMARY: &'static str;
    /// What the command may change.
    const ACCESS: Access = Access::Changes;
    /// What the command needs of the index of the workspace.
    const INDEX: IndexNeed = IndexNeed::Nothing;
    /// Whether to replace secrets in the arguments with placeholders before the command runs. `false` for commands that
    /// screen their arguments themselves.
    const SCREENED: bool = true;
    /// Whether the outcome is shown to the user. The reply must then have a `message`, and may have the `uri` of a
    /// document.
    const SHOWS_OUTCOME: bool = false;
    /// Arguments: a JSON object, without the common field `session`.
    type Args: DeserializeOwned + JsonSchema + Send + 'static;
    /// Reply: a JSON object, without the common field `stateVersion`.
    type Reply: Serialize + JsonSchema + Send + Sync + 'static;

    /// Returns whether the command may wait for a model or for the client under the current settings. Such a command
    /// must not occupy a thread that other commands need.
    fn may_await_reply(_: &Snapshot, _: &Services) -> bool {
        false
    }

    /// Runs the command.
    ///
    /// # Errors
    /// Returns a [`CommandError`] if the command fails. The caller must then discard the session.
    fn run(args: Self::Args, context: &mut Context<'_>) -> Result<Self::Reply, CommandError>;
}

/// What a command needs of the index of the workspace. A command that needs something waits for it, for at most
/// `context.index_wait_ms` milliseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IndexNeed {
    Nothing,
    /// Uses the index as it is, without waiting.
    Glance,
    /// Needs the list of files. Without it, the command fails where it uses the list (see [`Index::listed_entries`]),
    /// because an empty result would mean that there are no such files.
    Files,
    /// Needs the outlines of all files. Without them, the command fails.
    Outlines,
    /// Waits for the outlines of all files. Without them, the reply says what may be missing.
    Prompt,
}

impl IndexNeed {
    /// Returns whether a command with this need has no reason to wait for a more complete index.
    pub fn is_met_by(self, index: &Index) -> bool {
        match self {
            Self::Nothing | Self::Glance => true,
            Self::Files => index.listed_entries().is_ok(),
            Self::Outlines | Self::Prompt => index.check_outlines().is_ok(),
        }
    }
}

/// What a command changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Changes nothing.
    Reads,
    /// Changes its session.
    Changes,
    /// Changes stored data outside its session: notes and other sessions.
    Stores,
}

/// The environment that a command runs in.
pub struct Context<'a> {
    /// The workspace as it was when the command arrived.
    pub snapshot: &'a Snapshot,
    /// The session, including the changes of earlier commands.
    pub session: &'a mut Session,
    /// The sessions that were open when the command started.
    pub sessions: &'a Sessions,
    /// The store and the connection to the client.
    pub services: &'a Services,
    /// The running compaction of the session, if any.
    pub compaction: Option<&'a RunningCompaction>,
    /// Current time, in milliseconds since 1970.
    pub now_ms: u64,
    /// Raised when the caller no longer waits for the reply.
    pub cancel: &'a Cancel,
    /// Effects to apply after the command has succeeded.
    pub effects: Vec<Effect>,
    /// Write to the store that runs at the end of the command. The session itself is saved separately.
    pub(crate) write: Option<StoreWrite>,
    /// Whether `write` has run. Once it has, the command can no longer be cancelled.
    pub has_written: bool,
}

/// A write to the store that runs as the last step of a command, so that nothing is written if the command fails,
/// panics or is cancelled.
pub(crate) struct StoreWrite(Box<WriteFn>);

impl Context<'_> {
    /// Resolves `text`, the value of the argument `field`, to a file.
    fn resolve_file(&self, field: &str, text: &str) -> Result<FileKey, CommandError> {
        self.snapshot.resolve(text).map_err(|error| CommandError::invalid(field, &error.to_string()))
    }

    /// Schedules a write to the store for the end of the command, which provides the reply.
    fn schedule_write_with_reply<R, W>(&mut self, write: W) -> DeferredReply<R>
    where
        R: Send + Sync + 'static,
        W: FnOnce(&SessionStore) -> Result<R, CommandError> + Send + 'static,
    {
        let deferred = DeferredReply::default();
        let reply = deferred.clone();
        let run = move |store: &SessionStore| {
            reply.provide(write(store)?);
            Ok(())
        };
        self.write = Some(StoreWrite(Box::new(run)));
        deferred
    }

    /// Schedules a write to the store for the end of the command.
    fn schedule_write<W>(&mut self, write: W)
    where
        W: FnOnce(&SessionStore) -> Result<(), CommandError> + Send + 'static,
    {
        self.write = Some(StoreWrite(Box::new(write)));
    }
}

type WriteFn = dyn FnOnce(&SessionStore) -> Result<(), CommandError> + Send;

/// An effect of a command beyond its own session, which is applied after the command has succeeded.
#[derive(Clone, Debug)]
pub enum Effect {
    Open(Arc<Session>),
    /// Makes the open session with this id the current one.
    Show(Arc<str>),
    Close(Arc<str>),
    Start(BackgroundJob),
}

/// Work that continues after the command that started it.
#[derive(Clone, Debug)]
pub enum BackgroundJob {
    /// Scans and indexes the repository again.
    Reindex,
    /// Notifies the client that a compaction ended.
    Notify(Box<CompactionNotice>),
    /// Compacts a session. The command replies with the outcome, unless the compaction started automatically.
    Compact(Box<CompactionJob>),
    /// Marks the compaction with this number as adopted: a command has waited for its draft and installed it.
    Adopted(u64),
    /// Sends a request to a model. The command replies with the outcome.
    Send(Box<ModelJob>),
    /// Asks a model to summarize tool results of the session, then archives them.
    Archive(Box<ArchivalPlan>),
}

/// Arguments of a command that takes none.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoArguments {}

/// Reply of a command that has no result.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Empty {}

/// Default maximum number of results of a search for names.
pub fn default_limit() -> usize {
    50
}

/// Splits the arguments of a command into the name of its session, if there is one, and an object with the others.
///
/// # Errors
/// Returns [`CommandError::InvalidParams`] if there are several arguments, or one that is not an object.
pub fn split_arguments(arguments: Vec<Value>) -> Result<(Option<String>, Value), CommandError> {
    let invalid = |path: &str, message: &str| Err(CommandError::invalid(path, message));
    let mut arguments = arguments.into_iter();
    let mut object = match arguments.next() {
        None | Some(Value::Null) => Map::new(),
        // Lua encodes an empty table as an array.
        Some(Value::Array(list)) if list.is_empty() => Map::new(),
        Some(Value::Object(object)) => object,
        Some(_) => return invalid("", "expected one JSON object"),
    };
    if arguments.next().is_some() {
        return invalid("", "expected one JSON object, but got several arguments");
    }
    let session = match object.shift_remove("session") {
        None | Some(Value::Null) => None,
        Some(Value::String(session)) => Some(session),
        Some(_) => return invalid("session", "expected a string"),
    };
    Ok((session, Value::Object(object)))
}

/// Adds `stateVersion` to a reply: the number of changes to its session so far.
pub fn with_state_version(mut reply: Value, session: &Session) -> Value {
    if let Value::Object(reply) = &mut reply {
        reply.insert("stateVersion".to_owned(), session.cache.revision.into());
    }
    reply
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::headless::{HeadlessWorkspace, Settings};

    #[test]
    fn names_are_area_and_verb_and_unique() {
        let mut names: Vec<&str> = COMMANDS.iter().map(|command| command.name).collect();
        assert!(names.iter().all(|name| name.starts_with("strata.") && name.split('.').count() == 3));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), COMMANDS.len());
    }

    #[test]
    fn every_command_refuses_unknown_arguments() {
        let folder = tempfile::tempdir().unwrap();
        let mut workspace = HeadlessWorkspace::open(folder.path(), Settings::default()).unwrap();
        for command in COMMANDS {
            let result = workspace.execute(command, serde_json::json!({"no such field": 1}));
            assert!(
                matches!(result, Err(CommandError::InvalidParams { .. })),
                "{}: {result:?}",
                command.name
            );
        }
    }

    #[test]
    fn arguments_are_one_object() {
        let object = serde_json::json!({"session": "main", "paths": []});
        let (session, rest) = split_arguments(vec![object]).unwrap();
        assert_eq!((session.as_deref(), rest), (Some("main"), serde_json::json!({"paths": []})));
        assert_eq!(split_arguments(vec![]).unwrap(), (None, serde_json::json!({})));
        assert_eq!(split_arguments(vec![serde_json::json!([])]).unwrap(), (None, serde_json::json!({})));
        assert!(split_arguments(vec![1.into()]).is_err());
        assert!(split_arguments(vec![serde_json::json!({}), serde_json::json!({})]).is_err());
        assert!(split_arguments(vec![serde_json::json!({"session": 1})]).is_err());
    }
}
