//! The commands of `workspace/executeCommand`, which the command line runs too. A command takes typed arguments, reads a
//! snapshot, may change its session, and returns a typed reply. It decides nothing about context: it converts, calls the engine,
//! and converts back.

mod answer_content;
mod budget;
mod compaction;
mod context;
mod definition;
mod error;
mod files;
mod grep;
mod here;
mod history;
mod iteration;
mod memory;
mod model;
mod named_file;
mod prompt;
mod read;
mod redaction;
mod selected_question;
mod send;
mod server;
mod session;
mod symbols;
mod tiers;
mod tool_output;
mod url;

use std::borrow::Cow;
use std::marker::PhantomData;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use strata_engine::cancel::Cancel;
use strata_engine::conversation::tool_result_archival::ArchivalPlan;
use strata_engine::key::FileKey;
use strata_engine::prompt::session::Session;

use crate::compaction_job::{CompactionJob, CompactionNotice};
use crate::running_compaction::RunningCompaction;
use crate::send::ModelJob;
use crate::services::Services;
use crate::session_store::SessionStore;
use crate::sessions::Sessions;
use crate::snapshot::Snapshot;

pub use definition::{COMMANDS, Definition, described};
pub use error::CommandError;
pub(crate) use named_file::does_not_exist;

/// Alias for the current session in requests.
pub const MAIN_SESSION: &str = "main";

/// A command: its name, arguments and reply, and what front ends need to know to run it.
///
/// To add one, write a file like this and add its line, `Definition::of::<Greet>()`, to [`COMMANDS`]. The protocol's
/// documentation, its TypeScript types, the language server's list of commands and access by the command line and agents
/// follow.
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
    /// Its name: `strata.` area `.` verb.
    const NAME: &'static str;
    /// Summary in one sentence, for the protocol's documentation.
    const SUMMARY: &'static str;
    /// What it changes.
    const ACCESS: Access = Access::Changes;
    /// Whether its answer depends on which files exist and on their content.
    const NEEDS_INDEX: bool = false;
    /// Whether it waits for the index for a while when that is being made (`context.index_wait_ms`).
    const AWAITS_INDEX: bool = false;
    /// Whether secrets in its arguments become placeholders before it runs. A command that screens them itself says no.
    const SCREENED: bool = true;
    /// Whether the user is shown the outcome of it: its reply has a `message`, and may have the `uri` of a document.
    const SHOWN: bool = false;
    /// The one JSON object that it takes, without its `session`.
    type Args: DeserializeOwned + JsonSchema;
    /// The JSON object that it replies, without its `stateVersion`.
    type Reply: Serialize + JsonSchema;

    /// Whether it may wait for a model or for the client, with these settings. Then it must not hold a thread that others need.
    fn may_wait(_: &Snapshot, _: &Services) -> bool {
        false
    }

    /// Runs it.
    ///
    /// # Errors
    /// [`CommandError`]; the session is to be thrown away then.
    fn run(args: Self::Args, context: &mut Context<'_>) -> Result<Self::Reply, CommandError>;
}

/// What a command changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Nothing.
    Reads,
    /// Its session.
    Changes,
    /// Stored data besides its session: notes and other sessions.
    Stores,
}

/// What a command may use.
pub struct Context<'a> {
    /// The workspace when the command arrived.
    pub snapshot: &'a Snapshot,
    /// The session, as the commands before this one left it.
    pub session: &'a mut Session,
    /// The open sessions when the command started.
    pub sessions: &'a Sessions,
    /// The store and the way to the client.
    pub services: &'a Services,
    /// The compaction of the session that is under way.
    pub compaction: Option<&'a RunningCompaction>,
    /// Milliseconds since 1970.
    pub now_ms: u64,
    /// Raised when no one waits for the answer any more.
    pub cancel: &'a Cancel,
    /// Further effects of the command.
    pub effects: Vec<Effect>,
    /// What the command writes to the store, besides its session.
    pub write: Option<Write>,
    /// Whether it has been written. Then it has happened, whether or not anybody waits for the answer.
    pub has_written: bool,
}

/// A write to the store at the very end of a command, so that a command that fails, panics or is cancelled writes nothing.
/// Returns its part of the reply.
pub type Write = Box<dyn FnOnce(&SessionStore) -> Result<Value, CommandError> + Send>;

impl Context<'_> {
    /// The file that an argument names.
    fn file(&self, field: &str, text: &str) -> Result<FileKey, CommandError> {
        self.snapshot.resolve(text).map_err(|error| CommandError::invalid(field, &error.to_string()))
    }

    /// Has something written when the command has nothing else left to do.
    fn write_last<R, W>(&mut self, write: W) -> Deferred<R>
    where
        R: Serialize,
        W: FnOnce(&SessionStore) -> Result<R, CommandError> + Send + 'static,
    {
        self.write = Some(Box::new(|store| written(write(store)?)));
        Deferred::default()
    }
}

/// An effect of a command on the open sessions, besides changes of its own, or a job that it starts.
#[derive(Clone, Debug)]
pub enum Effect {
    Open(Arc<Session>),
    /// Make an open session the current one.
    Show(Arc<str>),
    Close(Arc<str>),
    Start(Job),
}

/// Work that outlives the command that starts it.
#[derive(Clone, Debug)]
pub enum Job {
    /// Walk and index the repository again.
    Reindex,
    /// Notifies the client that a compaction ended.
    Notify(Box<CompactionNotice>),
    /// Compact a session. Its outcome is the reply of the command, unless the compaction starts automatically.
    Compact(Box<CompactionJob>),
    /// Take note that the draft of the compaction of this number is in place: the command that starts this has waited for it.
    Adopted(u64),
    /// Ask the model. What results from it is the reply of the command.
    Send(Arc<dyn ModelJob>),
    /// Ask a model to summarize tool results of the session, then archive them.
    Archive(Box<ArchivalPlan>),
}

/// The arguments of a command that takes none.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NoArguments {}

/// The reply of a command without a result.
#[derive(Debug, Default, Serialize, JsonSchema)]
struct Empty {}

/// The reply of a command that says the outcome of something it only began: an `R`, which is not there yet.
#[derive(Debug, Serialize)]
#[serde(bound = "")]
struct Deferred<R> {
    #[serde(skip)]
    reply: PhantomData<R>,
}

impl<R> Default for Deferred<R> {
    fn default() -> Self {
        Self { reply: PhantomData }
    }
}

impl<R: JsonSchema> JsonSchema for Deferred<R> {
    fn schema_name() -> Cow<'static, str> {
        R::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        R::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        R::json_schema(generator)
    }
}

/// Default result limit.
fn default_limit() -> usize {
    50
}

/// Takes the one argument object of a command and the session it names apart.
///
/// # Errors
/// [`CommandError::InvalidParams`] when there is more than one argument, or something else than an object.
pub fn split_arguments(arguments: Vec<Value>) -> Result<(Option<String>, Value), CommandError> {
    let invalid = |path: &str, message: &str| Err(CommandError::invalid(path, message));
    let mut arguments = arguments.into_iter();
    let mut object = match arguments.next() {
        None | Some(Value::Null) => Map::new(),
        // How Lua writes an empty table.
        Some(Value::Array(list)) if list.is_empty() => Map::new(),
        Some(Value::Object(object)) => object,
        Some(_) => return invalid("", "expected one JSON object"),
    };
    if arguments.next().is_some() {
        return invalid("", "expected one JSON object, got several arguments");
    }
    let session = match object.shift_remove("session") {
        None | Some(Value::Null) => None,
        Some(Value::String(session)) => Some(session),
        Some(_) => return invalid("session", "expected a string"),
    };
    Ok((session, Value::Object(object)))
}

/// A reply with how often its session was changed so far, which every reply says.
pub fn versioned(mut reply: Value, session: &Session) -> Value {
    if let Value::Object(reply) = &mut reply {
        reply.insert("stateVersion".to_owned(), session.revision.into());
    }
    reply
}

fn written(reply: impl Serialize) -> Result<Value, CommandError> {
    serde_json::to_value(reply).map_err(|error| CommandError::failed(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::headless::{HeadlessWorkspace, Settings};

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
