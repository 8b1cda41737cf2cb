//! One call of a tool: its arguments as the command takes them, the command, and as much of the reply as its budget holds. Knows
//! neither the protocol of agents nor who waits.

use serde_json::{Map, Value};
use strata_app::commands::CommandError;
use strata_app::headless::{Cancel, Progress};

use crate::pages::{self, BadCursor, Shape};
use crate::tools::Tool;
use crate::view::View;

/// The argument that says what a result may weigh.
pub(crate) const MAX_TOKENS: &str = "max_tokens";
/// The argument that says where a result begins.
pub(crate) const CURSOR: &str = "cursor";
/// What a result may weigh when nobody says, in tokens. Clients warn of results that are more than twice as heavy.
pub(crate) const DEFAULT_TOKENS: usize = 4_000;
/// Fields of replies that are an editor's business.
pub(crate) const NOT_SAID: &[&str] = &["stateVersion"];
/// The same for fields of what a reply lists.
const NOT_SAID_INSIDE: &[&str] = &["uri"];
/// A command that keeps to a budget of its own weighs less than the whole reply: so often a smaller one is tried.
const TRIES: usize = 4;

#[derive(Debug)]
pub(crate) struct Reply {
    /// As a model reads it.
    pub(crate) text: String,
    /// As a program reads it.
    pub(crate) structured: Value,
}

/// What a call says about its result rather than about what it asks.
struct CallRequest {
    max_tokens: usize,
    cursor: Option<String>,
}

///
/// # Errors
/// [`CommandError`], in words that say what to do.
pub(crate) fn call(
    tool: &Tool,
    arguments: Map<String, Value>,
    view: &mut View,
    cancel: &Cancel,
    progress: impl FnMut(Progress),
) -> Result<Reply, CommandError> {
    let (wanted, arguments) = taken_apart(tool, arguments)?;
    view.look(tool.needs(), cancel, progress, |view| match tool.shape {
        Shape::Budget { argument } => within_budget(tool, argument, &arguments, wanted.max_tokens, view),
        shape => {
            let reply = run(tool, arguments, view)?;
            let fits = |page: &Value| weight(tool, page, view) <= wanted.max_tokens;
            let page = pages::page(reply, shape, wanted.cursor.as_deref(), fits).map_err(|BadCursor| {
                let problem = "this is not where a result of this call ended; begin anew without it";
                CommandError::invalid(CURSOR, problem)
            })?;
            Ok(Reply { text: (tool.text)(&page), structured: page })
        }
    })
}

fn taken_apart(
    tool: &Tool,
    mut arguments: Map<String, Value>,
) -> Result<(CallRequest, Map<String, Value>), CommandError> {
    if let Some(hidden) = tool.hidden().find(|name| arguments.contains_key(*name)) {
        return Err(CommandError::invalid(hidden, "this tool takes no such argument"));
    }
    let max_tokens = match arguments.get(MAX_TOKENS).filter(|_| tool.shape.has_budget()) {
        None | Some(Value::Null) => DEFAULT_TOKENS,
        Some(value) => {
            let number =
                value.as_u64().and_then(|number| usize::try_from(number).ok()).filter(|number| *number > 0);
            number.ok_or_else(|| CommandError::invalid(MAX_TOKENS, "expected a whole number above 0"))?
        }
    };
    let cursor = match arguments.get(CURSOR).filter(|_| tool.shape.has_cursor()) {
        None | Some(Value::Null) => None,
        Some(Value::String(cursor)) => Some(cursor.clone()),
        Some(_) => return Err(CommandError::invalid(CURSOR, "expected a string")),
    };
    if tool.shape.has_budget() {
        arguments.shift_remove(MAX_TOKENS);
    }
    if tool.shape.has_cursor() {
        arguments.shift_remove(CURSOR);
    }
    Ok((CallRequest { max_tokens, cursor }, arguments))
}

fn run(tool: &Tool, arguments: Map<String, Value>, view: &mut View) -> Result<Value, CommandError> {
    let mut reply = view.run(tool.command, arguments.into())?;
    remove(&mut reply, NOT_SAID);
    for value in reply.as_object_mut().into_iter().flat_map(Map::values_mut) {
        for entry in value.as_array_mut().into_iter().flatten() {
            remove(entry, NOT_SAID_INSIDE);
        }
    }
    Ok(reply)
}

fn remove(value: &mut Value, names: &[&str]) {
    if let Value::Object(fields) = value {
        names.iter().for_each(|name| drop(fields.shift_remove(*name)));
    }
}

/// The reply under the largest budget of the command that lets the whole of it weigh no more than is wanted, or close to it.
fn within_budget(
    tool: &Tool,
    argument: &str,
    arguments: &Map<String, Value>,
    max_tokens: usize,
    view: &mut View,
) -> Result<Reply, CommandError> {
    let mut budget = max_tokens;
    let mut tries = 0;
    loop {
        tries += 1;
        let mut arguments = arguments.clone();
        arguments.insert(argument.to_owned(), budget.into());
        let structured = run(tool, arguments, view)?;
        let over = weight(tool, &structured, view).saturating_sub(max_tokens);
        if over == 0 || budget == 0 || tries == TRIES {
            return Ok(Reply { text: (tool.text)(&structured), structured });
        }
        budget = budget.saturating_sub(over.max(budget / 16));
    }
}

/// What a page weighs for a client that shows the model the heavier one of its two forms.
fn weight(tool: &Tool, page: &Value, view: &View) -> usize {
    view.weigh(&(tool.text)(page)).max(view.weigh(&page.to_string()))
}
