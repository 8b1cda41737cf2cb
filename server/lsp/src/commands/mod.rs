//! The commands behind `workspace/executeCommand`, which are also what the command line runs. A command
//! takes typed arguments, reads a snapshot, may change its session, and returns a typed reply. It decides
//! nothing about context: it converts, calls the engine, converts back.

mod budget;
mod compaction;
mod error;
mod files;
mod history;
mod iteration;
mod memory;
mod prompt;
mod said;
mod server;
mod session;
mod symbols;
mod tiers;
mod tool_output;
mod url;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use strata_engine::ageing::Ageing;
use strata_engine::cancel::Cancel;
use strata_engine::compaction::Moment;
use strata_engine::session::Session;
use strata_engine::settings::SummariserKind;

use crate::compacting::Job;
use crate::services::Services;
use crate::snapshot::Snapshot;

pub use error::CommandError;

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
    Tell(Value),
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

/// The arguments of a command that takes none.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct NoArguments {}

/// The reply of a command that only says that it did what it should.
#[derive(Debug, Default, Serialize)]
struct Empty {}

/// All commands, in the order of the documentation.
pub const NAMES: &[&str] = &[
    "strata.files.select",
    "strata.files.deselect",
    "strata.files.set",
    "strata.files.exclude",
    "strata.files.include",
    "strata.files.list",
    "strata.files.add",
    "strata.files.remove",
    "strata.files.rename",
    "strata.files.clear",
    "strata.files.read",
    "strata.files.has",
    "strata.files.markRead",
    "strata.prompt.assemble",
    "strata.prompt.record",
    "strata.prompt.discard",
    "strata.prompt.preview",
    "strata.prompt.estimate",
    "strata.tiers.report",
    "strata.tiers.rebuild",
    "strata.tiers.policy",
    "strata.tiers.explainBreak",
    "strata.tiers.forecast",
    "strata.history.add",
    "strata.history.addExchange",
    "strata.history.get",
    "strata.history.count",
    "strata.history.set",
    "strata.history.clear",
    "strata.history.truncate",
    "strata.history.edit",
    "strata.history.pin",
    "strata.history.hide",
    "strata.history.reregister",
    "strata.history.import",
    "strata.toolOutput.add",
    "strata.toolOutput.read",
    "strata.iteration.add",
    "strata.iteration.prompt",
    "strata.iteration.status",
    "strata.memory.add",
    "strata.memory.search",
    "strata.memory.list",
    "strata.memory.remove",
    "strata.session.new",
    "strata.session.reset",
    "strata.session.list",
    "strata.session.load",
    "strata.session.steps",
    "strata.session.fork",
    "strata.session.rename",
    "strata.session.delete",
    "strata.session.export",
    "strata.session.import",
    "strata.session.search",
    "strata.url.add",
    "strata.url.remove",
    "strata.url.list",
    "strata.budget.report",
    "strata.compaction.status",
    "strata.compaction.run",
    "strata.compaction.undo",
    "strata.compaction.contextLimitExceeded",
    "strata.symbols.map",
    "strata.symbols.file",
    "strata.symbols.references",
    "strata.symbols.dependents",
    "strata.symbols.find",
    "strata.symbols.relevant",
    "strata.server.status",
    "strata.server.reindex",
    "strata.server.settings",
    "strata.server.models",
];

/// The command that makes a prompt.
pub const ASSEMBLE: &str = "strata.prompt.assemble";

/// Whether a command may wait long for a model: one that compacts before it assembles, or has old tool results or
/// iterations summed up.
pub fn may_wait(name: &str, snapshot: &Snapshot) -> bool {
    let settings = &snapshot.settings;
    settings.compaction.summariser != SummariserKind::Extractive
        && match name {
            ASSEMBLE => settings.compaction.profile().moment == Moment::BeforeAssembling,
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
    match name {
        "strata.files.select" => call(arguments, context, files::select),
        "strata.files.deselect" => call(arguments, context, files::deselect),
        "strata.files.set" => call(arguments, context, files::set),
        "strata.files.exclude" => call(arguments, context, files::exclude),
        "strata.files.include" => call(arguments, context, files::include),
        "strata.files.list" => call(arguments, context, files::list),
        "strata.files.add" => call(arguments, context, files::add),
        // Removing a file from the context is deselecting it (`docs/commands.md`, "Files").
        "strata.files.remove" => call(arguments, context, files::deselect),
        "strata.files.rename" => call(arguments, context, files::rename),
        "strata.files.clear" => call(arguments, context, files::clear),
        "strata.files.read" => call(arguments, context, files::read),
        "strata.files.has" => call(arguments, context, files::has),
        "strata.files.markRead" => call(arguments, context, files::mark_read),
        "strata.prompt.assemble" => call(arguments, context, prompt::assemble),
        "strata.prompt.record" => call(arguments, context, prompt::record),
        "strata.prompt.discard" => call(arguments, context, prompt::discard),
        "strata.prompt.preview" => call(arguments, context, prompt::preview),
        "strata.prompt.estimate" => call(arguments, context, prompt::estimate),
        "strata.tiers.report" => call(arguments, context, tiers::report),
        "strata.tiers.rebuild" => call(arguments, context, tiers::rebuild),
        "strata.tiers.policy" => call(arguments, context, tiers::policy),
        "strata.tiers.explainBreak" => call(arguments, context, tiers::explain_break),
        "strata.tiers.forecast" => call(arguments, context, tiers::forecast),
        "strata.history.add" => call(arguments, context, history::add),
        "strata.history.addExchange" => call(arguments, context, history::add_exchange),
        "strata.history.get" => call(arguments, context, history::get),
        "strata.history.truncate" => call(arguments, context, history::truncate),
        "strata.history.edit" => call(arguments, context, history::edit),
        "strata.history.pin" => call(arguments, context, history::pin),
        "strata.history.hide" => call(arguments, context, history::hide),
        "strata.history.import" => call(arguments, context, history::import),
        "strata.toolOutput.add" => call(arguments, context, tool_output::add),
        "strata.toolOutput.read" => call(arguments, context, tool_output::read),
        "strata.iteration.add" => call(arguments, context, iteration::add),
        "strata.iteration.prompt" => call(arguments, context, iteration::prompt),
        "strata.iteration.status" => call(arguments, context, iteration::status),
        "strata.memory.add" => call(arguments, context, memory::add),
        "strata.memory.search" => call(arguments, context, memory::search),
        "strata.memory.list" => call(arguments, context, memory::list),
        "strata.memory.remove" => call(arguments, context, memory::remove),
        "strata.session.new" => call(arguments, context, session::new),
        "strata.session.reset" => call(arguments, context, session::reset),
        "strata.session.list" => call(arguments, context, session::list),
        "strata.session.load" => call(arguments, context, session::load),
        "strata.session.steps" => call(arguments, context, session::steps),
        "strata.session.fork" => call(arguments, context, session::fork),
        "strata.session.rename" => call(arguments, context, session::rename),
        "strata.session.delete" => call(arguments, context, session::delete),
        "strata.session.export" => call(arguments, context, session::export),
        "strata.session.import" => call(arguments, context, session::import),
        "strata.session.search" => call(arguments, context, session::search),
        "strata.history.set" => call(arguments, context, history::set),
        "strata.history.clear" => call(arguments, context, history::clear),
        "strata.history.count" => call(arguments, context, history::count),
        "strata.history.reregister" => call(arguments, context, history::reregister),
        "strata.url.add" => call(arguments, context, url::add),
        "strata.url.remove" => call(arguments, context, url::remove),
        "strata.url.list" => call(arguments, context, url::list),
        "strata.budget.report" => call(arguments, context, budget::report),
        "strata.compaction.status" => call(arguments, context, compaction::status),
        "strata.compaction.run" => call(arguments, context, compaction::run),
        "strata.compaction.undo" => call(arguments, context, compaction::undo),
        "strata.compaction.contextLimitExceeded" => {
            call(arguments, context, compaction::context_limit_exceeded)
        }
        "strata.symbols.map" => call(arguments, context, symbols::map),
        "strata.symbols.file" => call(arguments, context, symbols::file),
        "strata.symbols.references" => call(arguments, context, symbols::references),
        "strata.symbols.dependents" => call(arguments, context, symbols::dependents),
        "strata.symbols.find" => call(arguments, context, symbols::find),
        "strata.symbols.relevant" => call(arguments, context, symbols::relevant),
        "strata.server.status" => call(arguments, context, server::status),
        "strata.server.reindex" => call(arguments, context, server::reindex),
        "strata.server.settings" => call(arguments, context, server::settings),
        "strata.server.models" => call(arguments, context, server::models),
        _ => Err(CommandError::Unknown(name.to_owned())),
    }
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

fn call<P: DeserializeOwned, R: Serialize>(
    arguments: Value,
    context: &mut Context<'_>,
    command: fn(P, &mut Context<'_>) -> Result<R, CommandError>,
) -> Result<Value, CommandError> {
    let params: P = serde_path_to_error::deserialize(arguments)
        .map_err(|error| CommandError::invalid(&error.path().to_string(), &error.inner().to_string()))?;
    let reply = command(params, context)?;
    let mut reply = serde_json::to_value(reply).map_err(|error| CommandError::failed(error.to_string()))?;
    if let Value::Object(reply) = &mut reply {
        reply.insert("stateVersion".to_owned(), context.session.revision().into());
    }
    Ok(reply)
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
