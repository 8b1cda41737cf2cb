//! The commands behind `workspace/executeCommand`, which are also what the command line runs. A command
//! takes typed arguments, reads a snapshot, may change its session, and returns a typed reply. It decides
//! nothing about context: it converts, calls the engine, converts back.

mod budget;
mod compaction;
mod error;
mod files;
mod here;
mod history;
mod iteration;
mod memory;
mod prompt;
mod redaction;
mod said;
mod server;
mod session;
mod symbols;
mod table;
mod tiers;
mod tool_output;
mod url;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use strata_engine::cancel::Cancel;
use strata_engine::conversation::tool_result_archival::Ageing;
use strata_engine::key::FileKey;
use strata_engine::prompt::session::Session;
use strata_engine::prompt::settings::SummariserKind;

use crate::compaction_job::{Job, News};
use crate::faults::{self, Point};
use crate::services::Services;
use crate::session_store::SessionStore;
use crate::snapshot::Snapshot;

pub use error::CommandError;
pub use table::{NAMES, described};

/// What a client may call the session that is shown, instead of by its own name.
pub const MAIN_SESSION: &str = "main";

/// What a command may use.
pub struct Context<'a> {
    /// The workspace as it was when the command arrived.
    pub snapshot: &'a Snapshot,
    /// The session, as the commands before this one left it.
    pub session: &'a mut Session,
    /// All open sessions, as they were when the command began.
    pub sessions: &'a BTreeMap<Arc<str>, Arc<Session>>,
    /// The one that is shown.
    pub current: &'a str,
    /// The store and the way to the client.
    pub services: &'a Services,
    /// Whether a compaction of the session is under way.
    pub compacting: Compacting,
    /// Milliseconds since 1970.
    pub now_ms: u64,
    /// Raised when nobody waits for the answer any more.
    pub cancel: &'a Cancel,
    /// What the command wants done besides.
    pub effects: Vec<Effect>,
    /// What the command writes to the store, beside its session.
    pub write: Option<Write>,
    /// Whether it has written that.
    pub wrote: Wrote,
}

/// Something that a command writes to the store when it has nothing else left to do, so that nothing is written by one that
/// fails, panics or is cancelled. Returns what the reply says of it.
pub type Write = Box<dyn FnOnce(&SessionStore) -> Result<Value, CommandError> + Send>;

impl Context<'_> {
    /// The file that an argument names.
    fn file(&self, field: &str, text: &str) -> Result<FileKey, CommandError> {
        self.snapshot.resolve(text).map_err(|error| CommandError::invalid(field, &error.to_string()))
    }

    /// Has something written when the command has nothing else left to do.
    fn at_last<R, W>(&mut self, write: W) -> Later<R>
    where
        R: Serialize,
        W: FnOnce(&SessionStore) -> Result<R, CommandError> + Send + 'static,
    {
        self.write = Some(Box::new(|store| written(write(store)?)));
        Later::default()
    }
}

/// Something a command wants done that is not its session's business.
#[derive(Clone, Debug)]
pub enum Effect {
    /// Walk and index the repository anew.
    Reindex,
    /// Open a session.
    Open(Arc<Session>),
    /// Show an open session.
    Show(Arc<str>),
    /// Close a session.
    Close(Arc<str>),
    /// Tell the client how a compaction ended.
    Tell(Box<News>),
    /// Compact a session. What comes of it is the answer of the command, unless it begins by itself.
    Compact(Box<Job>),
    /// Ask a model to sum up tool results of the session, and archive them then.
    Age(Box<Ageing>),
}

/// Whether a compaction of a session is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compacting {
    /// It is.
    Yes,
    /// It is not.
    No,
}

/// Whether a command has written to the store beside its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrote {
    /// It has. Then it has happened, whether somebody still waits for the answer or not.
    Yes,
    /// It has not.
    No,
}

/// The arguments of a command that takes none.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NoArguments {}

/// The reply of a command that only says that it did what it should.
#[derive(Debug, Default, Serialize, JsonSchema)]
struct Empty {}

/// The reply of a command that says what comes of something it only began: an `R`, which is not there yet.
#[derive(Debug, Serialize)]
#[serde(bound = "")]
struct Later<R> {
    #[serde(skip)]
    reply: PhantomData<R>,
}

impl<R> Default for Later<R> {
    fn default() -> Self {
        Self { reply: PhantomData }
    }
}

impl<R: JsonSchema> JsonSchema for Later<R> {
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

/// So many things are found at most unless somebody says how many.
fn most_found() -> usize {
    50
}

/// The command that makes a prompt.
pub const ASSEMBLE: &str = "strata.prompt.assemble";

/// Whether a command may wait long for a model: one that compacts before it assembles, or has old tool results or
/// iterations summed up.
pub fn may_wait(name: &str, snapshot: &Snapshot) -> bool {
    let settings = &snapshot.settings;
    settings.compaction.summariser != SummariserKind::Extractive
        && match name {
            ASSEMBLE => settings.compaction.enabled && settings.compaction.auto,
            "strata.iteration.add" => true,
            _ => false,
        }
}

/// Runs a command. `arguments` is the one JSON object of `workspace/executeCommand`, without its `session`.
///
/// # Errors
/// [`CommandError`]; the session is to be thrown away then.
pub fn run(name: &str, arguments: Value, context: &mut Context<'_>) -> Result<Value, CommandError> {
    context.cancel.check()?;
    faults::reach(name, Point::Before);
    let arguments = without_secrets(name, arguments, context.snapshot);
    let mut reply = table::route(name, arguments, context)?;
    faults::reach(name, Point::After);
    if let Some(write) = context.write.take() {
        context.cancel.check()?;
        let written = write(&context.services.store)?;
        context.wrote = Wrote::Yes;
        if let (Value::Object(reply), Value::Object(written)) = (&mut reply, written) {
            reply.extend(written);
        }
    }
    Ok(reply)
}

/// Commands that look at what they are given themselves: recordings are screened message by message, since reasoning in them
/// is sealed, and text that secrets are put back into is not for a model.
const SCREENED_BY_THEMSELVES: &[&str] =
    &["strata.history.import", "strata.session.import", "strata.redaction.restore"];

/// What a client hands over, with placeholders in the place of secrets: what is never taken in can never be sent, stored or
/// logged.
fn without_secrets(name: &str, mut arguments: Value, snapshot: &Snapshot) -> Value {
    if !SCREENED_BY_THEMSELVES.contains(&name) {
        snapshot.screen.value(&mut arguments);
    }
    arguments
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
        reply.insert("stateVersion".to_owned(), session.revision().into());
    }
    reply
}

fn call<P: DeserializeOwned, R: Serialize>(
    name: &str,
    arguments: Value,
    context: &mut Context<'_>,
    command: fn(P, &mut Context<'_>) -> Result<R, CommandError>,
) -> Result<Value, CommandError> {
    let params: P = serde_path_to_error::deserialize(arguments)
        .map_err(|error| CommandError::invalid(&error.path().to_string(), &error.inner().to_string()))?;
    let reply = command(params, context);
    faults::reach(name, Point::Changed);
    Ok(versioned(written(reply?)?, context.session))
}

fn written(reply: impl Serialize) -> Result<Value, CommandError> {
    serde_json::to_value(reply).map_err(|error| CommandError::failed(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_announced_command_is_routed() {
        let snapshot = Snapshot::empty();
        for name in NAMES {
            let mut session = Session::new("main");
            let cancel = Cancel::new();
            let mut context = Context {
                snapshot: &snapshot,
                session: &mut session,
                sessions: &BTreeMap::new(),
                current: "main",
                services: &Services::default(),
                compacting: Compacting::No,
                now_ms: 0,
                cancel: &cancel,
                effects: vec![],
                write: None,
                wrote: Wrote::No,
            };
            let result = run(name, serde_json::json!({"no such field": 1}), &mut context);
            assert!(matches!(result, Err(CommandError::InvalidParams { .. })), "{name}: {result:?}");
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
