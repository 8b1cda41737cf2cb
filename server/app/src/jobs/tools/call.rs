//! Runs one tool call: converts its arguments for the command, runs the command, and fits the reply into the token
//! budget. Does not depend on whether an agent, a chat or a shell makes the call.

use std::collections::BTreeSet;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::pages::{self, BadCursor, NEXT_CURSOR, Pagination};
use super::{FILES_LIST_COMMAND, TOOLS, Tool, text};
use crate::commands::{Command, CommandError};
use crate::model::freshness::Freshness;

/// Name of the argument that limits the tokens of a result.
pub(super) const MAX_TOKENS_ARGUMENT: &str = "max_tokens";
/// Name of the argument for the position at which a result continues.
pub(super) const CURSOR_ARGUMENT: &str = "cursor";
/// Field of a result with what its reader must know about the texts in it.
pub(super) const FRESHNESS: &str = "freshness";
/// Default token limit for a result. Clients warn about results that are more than twice as large.
pub(super) const DEFAULT_MAX_RESULT_TOKENS: usize = 4_000;
/// Top-level fields of replies that tools omit, because only editors need them.
pub(super) const OMITTED_FIELDS: &[&str] = &["stateVersion"];
/// Fields of list entries that tools omit, because only editors need them.
const OMITTED_ENTRY_FIELDS: &[&str] = &["uri"];
/// Maximum number of attempts with decreasing budgets. Several are needed because a command's own budget covers only
/// part of the reply.
const MAX_BUDGET_ATTEMPTS: usize = 4;

/// A host that runs the commands that implement tools.
pub trait ToolHost {
    /// Runs a command in the host's session.
    ///
    /// # Errors
    /// Returns a [`CommandError`] if the command fails.
    fn run(&mut self, command: &str, arguments: Value) -> Result<Value, CommandError>;

    fn count_tokens(&self, text: &str) -> usize;

    /// Returns what the reader of a tool's reply must know about its texts.
    fn freshness(&mut self, _tool: &str, _reply: &Value) -> Freshness {
        Freshness::default()
    }
}

#[derive(Debug)]
pub struct ToolReply {
    /// Result as text, for models.
    pub text: String,
    /// Result as JSON, for programs.
    pub structured: Value,
    /// Whether parts were omitted to stay within the budget.
    pub is_cut: bool,
    /// What the reader must know about the texts in the result. `structured` contains it too.
    pub freshness: Freshness,
}

/// Options of a call that apply to its result.
struct CallOptions {
    max_tokens: usize,
    cursor: Option<String>,
}

/// A host, and the excluded files that its replies must not mention.
struct FilteredHost<'a> {
    host: &'a mut dyn ToolHost,
    excluded: &'a BTreeSet<String>,
}

/// Calls a tool for a model. Omits files that the session excludes, unless the tool is about the selection.
///
/// # Errors
/// Returns a [`CommandError`] if the arguments are invalid or the command fails. The message says what to do.
pub fn call_tool(
    tool: &Tool,
    arguments: Map<String, Value>,
    host: &mut dyn ToolHost,
) -> Result<ToolReply, CommandError> {
    let mut arguments = arguments;
    // Models often write `null` for an argument that they leave out.
    arguments.retain(|_, value| !value.is_null());
    let (options, arguments) = split_options(tool, arguments)?;
    let excluded = if tool.is_about_selection() { BTreeSet::new() } else { excluded_files(host)? };
    let mut reply = run_paged(tool, &options, arguments, &mut FilteredHost { host, excluded: &excluded })?;
    reply.add_freshness(tool, &excluded, host);
    reply.text.push_str(&text::render_freshness(&reply.freshness));
    Ok(reply)
}

/// Calls the tool of a command for a user in a shell. The caller must have indexed the workspace if the tool needs the
/// index. The result has at most `max_tokens` tokens, or any size if `None`.
///
/// # Errors
/// Returns a [`CommandError`] if the arguments are invalid or the command fails. The message says what to do.
pub fn call_tool_for_user<C: Command<Args: Serialize>>(
    arguments: &C::Args,
    max_tokens: Option<usize>,
    host: &mut dyn ToolHost,
) -> Result<ToolReply, CommandError> {
    let tool = TOOLS.iter().find(|tool| tool.command == C::NAME).ok_or(CommandError::Internal)?;
    let Ok(Value::Object(arguments)) = serde_json::to_value(arguments) else {
        return Err(CommandError::Internal);
    };
    let options = CallOptions { max_tokens: max_tokens.unwrap_or(usize::MAX), cursor: None };
    let nothing = BTreeSet::new();
    let mut reply = run_paged(tool, &options, arguments, &mut FilteredHost { host, excluded: &nothing })?;
    // Remove the cursor, because a reader in a shell can use a larger budget instead.
    remove_fields(&mut reply.structured, &[NEXT_CURSOR]);
    reply.text = (tool.text)(&reply.structured);
    reply.add_freshness(tool, &nothing, host);
    Ok(reply)
}

impl ToolReply {
    fn new(tool: &Tool, structured: Value) -> Self {
        let is_cut = structured.get(NEXT_CURSOR).is_some();
        Self { text: (tool.text)(&structured), structured, is_cut, freshness: Freshness::default() }
    }

    pub fn is_empty(&self, field: &str) -> bool {
        self.structured[field].as_array().is_some_and(Vec::is_empty)
    }

    /// Returns the result as the reply of its command, of which parts may have been omitted.
    ///
    /// # Errors
    /// Returns [`CommandError::Internal`] if the result is that of another command.
    pub fn into_reply_of<C: Command<Reply: DeserializeOwned>>(self) -> Result<C::Reply, CommandError> {
        serde_json::from_value(self.structured).map_err(|_| CommandError::Internal)
    }

    fn add_freshness(&mut self, tool: &Tool, hidden: &BTreeSet<String>, host: &mut dyn ToolHost) {
        self.freshness = host.freshness(tool.name, &self.structured).without_files(hidden);
        if let (false, Ok(freshness)) = (self.freshness.is_empty(), serde_json::to_value(&self.freshness)) {
            self.structured[FRESHNESS] = freshness;
        }
    }
}

fn run_paged(
    tool: &Tool,
    options: &CallOptions,
    arguments: Map<String, Value>,
    host: &mut FilteredHost<'_>,
) -> Result<ToolReply, CommandError> {
    if let Pagination::Budget { argument } = tool.shape {
        return run_within_budget(tool, argument, &arguments, options.max_tokens, host);
    }
    let reply = run(tool, arguments, host)?;
    let fits = |page: &Value| {
        options.max_tokens == usize::MAX || tokens_of_larger_form(tool, page, host) <= options.max_tokens
    };
    let page = pages::cut_page(reply, tool.shape, options.cursor.as_deref(), fits).map_err(|BadCursor| {
        let problem = "this cursor belongs to another call; start again without it";
        CommandError::invalid(CURSOR_ARGUMENT, problem)
    })?;
    Ok(ToolReply::new(tool, page))
}

fn split_options(
    tool: &Tool,
    mut arguments: Map<String, Value>,
) -> Result<(CallOptions, Map<String, Value>), CommandError> {
    if let Some(hidden) = tool.hidden_arguments().find(|name| arguments.contains_key(*name)) {
        return Err(CommandError::invalid(hidden, "this tool has no such argument"));
    }
    let max_tokens = tool.shape.has_budget().then(|| arguments.shift_remove(MAX_TOKENS_ARGUMENT)).flatten();
    let max_tokens = match max_tokens {
        None => DEFAULT_MAX_RESULT_TOKENS,
        Some(value) => {
            let number =
                value.as_u64().and_then(|number| usize::try_from(number).ok()).filter(|number| *number > 0);
            number.ok_or_else(|| CommandError::invalid(MAX_TOKENS_ARGUMENT, "expected a positive integer"))?
        }
    };
    let cursor = tool.shape.has_cursor().then(|| arguments.shift_remove(CURSOR_ARGUMENT)).flatten();
    let cursor = match cursor {
        None => None,
        Some(Value::String(cursor)) => Some(cursor),
        Some(_) => return Err(CommandError::invalid(CURSOR_ARGUMENT, "expected a string")),
    };
    Ok((CallOptions { max_tokens, cursor }, arguments))
}

fn run(
    tool: &Tool,
    arguments: Map<String, Value>,
    host: &mut FilteredHost<'_>,
) -> Result<Value, CommandError> {
    let arguments = Value::from(arguments);
    if let Some(path) = excluded_file_in(&arguments, host.excluded) {
        return Err(CommandError::failed(format!("`{path}` is excluded and hidden from the model")));
    }
    let mut reply = host.host.run(tool.command, arguments)?;
    remove_excluded(&mut reply, host.excluded);
    remove_fields(&mut reply, OMITTED_FIELDS);
    for value in reply.as_object_mut().into_iter().flat_map(Map::values_mut) {
        for entry in value.as_array_mut().into_iter().flatten() {
            remove_fields(entry, OMITTED_ENTRY_FIELDS);
        }
    }
    Ok(reply)
}

fn excluded_files(host: &mut dyn ToolHost) -> Result<BTreeSet<String>, CommandError> {
    let listing = host.run(FILES_LIST_COMMAND, Value::Object(Map::new()))?;
    let files = listing.get("files").and_then(Value::as_array).into_iter().flatten();
    let excluded = files.filter(|file| file.get("state").and_then(Value::as_str) == Some("excluded"));
    Ok(excluded.filter_map(|file| file.get("path")?.as_str().map(str::to_owned)).collect())
}

fn excluded_file_in<'a>(arguments: &'a Value, excluded: &BTreeSet<String>) -> Option<&'a str> {
    match arguments {
        Value::String(text) => Some(path_without_part(text)).filter(|file| excluded.contains(*file)),
        Value::Array(items) => items.iter().find_map(|item| excluded_file_in(item, excluded)),
        Value::Object(fields) => {
            let paths = ["path", "paths", "focus"].iter().filter_map(|name| fields.get(*name));
            paths.into_iter().find_map(|value| excluded_file_in(value, excluded))
        }
        _ => None,
    }
}

/// Removes all list entries about excluded files from a reply.
fn remove_excluded(reply: &mut Value, excluded: &BTreeSet<String>) {
    if excluded.is_empty() {
        return;
    }
    match reply {
        Value::Array(items) => {
            let named = |item: &Value| {
                item.as_str().or_else(|| item.get("path")?.as_str()).map(path_without_part).map(str::to_owned)
            };
            items.retain(|item| named(item).is_none_or(|file| !excluded.contains(&file)));
            items.iter_mut().for_each(|item| remove_excluded(item, excluded));
        }
        Value::Object(fields) => fields.values_mut().for_each(|field| remove_excluded(field, excluded)),
        _ => {}
    }
}

/// Returns the part of a path before `#`, which names the file.
fn path_without_part(path: &str) -> &str {
    path.split_once('#').map_or(path, |(file, _)| file).trim_start_matches("./")
}

fn remove_fields(value: &mut Value, names: &[&str]) {
    if let Value::Object(fields) = value {
        names.iter().for_each(|name| drop(fields.shift_remove(*name)));
    }
}

/// Runs the command with approximately the largest budget for which the complete reply fits.
fn run_within_budget(
    tool: &Tool,
    argument: &str,
    arguments: &Map<String, Value>,
    max_tokens: usize,
    host: &mut FilteredHost<'_>,
) -> Result<ToolReply, CommandError> {
    let mut budget = max_tokens;
    let mut attempts = 0;
    loop {
        attempts += 1;
        let mut arguments = arguments.clone();
        arguments.insert(argument.to_owned(), budget.into());
        let structured = run(tool, arguments, host)?;
        let excess = tokens_of_larger_form(tool, &structured, host).saturating_sub(max_tokens);
        if excess == 0 || budget == 0 || attempts == MAX_BUDGET_ATTEMPTS {
            return Ok(ToolReply::new(tool, structured));
        }
        budget = budget.saturating_sub(excess.max(budget / 16));
    }
}

/// Returns the number of tokens in the larger of the two forms of a page, because clients differ in which one they
/// show.
fn tokens_of_larger_form(tool: &Tool, page: &Value, host: &FilteredHost<'_>) -> usize {
    let count = |text: &str| host.host.count_tokens(text);
    count(&(tool.text)(page)).max(count(&page.to_string()))
}
