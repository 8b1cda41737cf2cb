//! The commands behind `workspace/executeCommand`, which are also what the command line runs. A command
//! takes typed arguments, reads a snapshot, may change its session, and returns a typed reply. It decides
//! nothing about context: it converts, calls the engine, converts back.

mod budget;
mod error;
mod files;
mod history;
mod prompt;
mod server;
mod symbols;
mod tiers;
mod url;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use strata_engine::cancel::Cancel;
use strata_engine::session::Session;

use crate::snapshot::Snapshot;

pub use error::CommandError;

/// What a command may use.
pub struct Context<'a> {
    /// The workspace as it was when the command arrived.
    pub snapshot: &'a Snapshot,
    /// The session, as the commands before this one left it.
    pub session: &'a mut Session,
    /// Milliseconds since 1970.
    pub now_ms: u64,
    /// Raised when nobody waits for the answer any more.
    pub cancel: &'a Cancel,
    /// What the command wants done besides.
    pub effects: Vec<Effect>,
}

/// Something a command wants done that is not its session's business.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Walk and index the repository anew.
    Reindex,
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
    "strata.files.clear",
    "strata.files.read",
    "strata.files.has",
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
    "strata.history.set",
    "strata.history.clear",
    "strata.history.count",
    "strata.history.reregister",
    "strata.url.add",
    "strata.url.remove",
    "strata.url.list",
    "strata.budget.report",
    "strata.compaction.status",
    "strata.symbols.map",
    "strata.symbols.file",
    "strata.server.status",
    "strata.server.reindex",
    "strata.server.settings",
    "strata.server.models",
];

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
        "strata.files.clear" => call(arguments, context, files::clear),
        "strata.files.read" => call(arguments, context, files::read),
        "strata.files.has" => call(arguments, context, files::has),
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
        "strata.history.set" => call(arguments, context, history::set),
        "strata.history.clear" => call(arguments, context, history::clear),
        "strata.history.count" => call(arguments, context, history::count),
        "strata.history.reregister" => call(arguments, context, history::reregister),
        "strata.url.add" => call(arguments, context, url::add),
        "strata.url.remove" => call(arguments, context, url::remove),
        "strata.url.list" => call(arguments, context, url::list),
        "strata.budget.report" => call(arguments, context, budget::report),
        "strata.compaction.status" => call(arguments, context, budget::compaction_status),
        "strata.compaction.run" => Err(CommandError::failed(
            "this version of Strata reports when a compaction is due but cannot run one; shorten the \
             conversation with strata.history.set or strata.history.clear",
        )),
        "strata.symbols.map" => call(arguments, context, symbols::map),
        "strata.symbols.file" => call(arguments, context, symbols::file),
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
