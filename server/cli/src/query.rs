//! Queries about the code, which are also tools for agents. Prints results to standard output, and notes about omitted
//! results to standard error. A search without matches exits with code 1.

use std::process::ExitCode;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use strata_app::commands::CommandError;
use strata_app::jobs::tools::{Reply, Tool, answer};
use strata_app::model::freshness::Freshness;
use strata_app::runtime::headless::HeadlessWorkspace;

use crate::arguments::{
    ContextArguments, GrepArguments, OutlineArguments, QueryArguments, ReadArguments, ReferencesArguments,
    RulesArguments, SymbolsArguments,
};
use crate::failure::Failure;
use crate::{input, output, repository};

pub(crate) fn context(arguments: &ContextArguments) -> Result<ExitCode, Failure> {
    let asked = json!({ "query": input::text(&arguments.text)?, "limit": arguments.limit });
    let mut headless = repository::open(&arguments.query.repository)?;
    repository::index(&mut headless)?;
    let reply = ask("context", asked, &arguments.query, &mut headless)?;
    show(&reply, &arguments.query, "items")
}

pub(crate) fn symbols(arguments: &SymbolsArguments) -> Result<ExitCode, Failure> {
    let mut headless = repository::open(&arguments.query.repository)?;
    repository::index(&mut headless)?;
    let asked = json!({ "query": arguments.name, "limit": arguments.limit });
    let reply = ask("symbols", asked, &arguments.query, &mut headless)?;
    show(&reply, &arguments.query, "symbols")
}

pub(crate) fn references(arguments: &ReferencesArguments) -> Result<ExitCode, Failure> {
    let mut headless = repository::open(&arguments.query.repository)?;
    repository::index(&mut headless)?;
    let path = arguments.path.as_deref().map(|path| headless.typed(path));
    let asked = json!({ "name": arguments.name, "path": path, "limit": arguments.limit });
    let reply = ask("references", asked, &arguments.query, &mut headless)?;
    show(&reply, &arguments.query, "hits")
}

pub(crate) fn outline(arguments: &OutlineArguments) -> Result<ExitCode, Failure> {
    let mut headless = repository::open(&arguments.query.repository)?;
    repository::list(&mut headless)?;
    let asked = json!({ "path": headless.typed(&arguments.path) });
    let reply = ask("outline", asked, &arguments.query, &mut headless)?;
    show(&reply, &arguments.query, "path")
}

pub(crate) fn rules(arguments: &RulesArguments) -> Result<ExitCode, Failure> {
    let mut headless = repository::open(&arguments.query.repository)?;
    repository::list(&mut headless)?;
    let paths: Vec<String> = arguments.paths.iter().map(|path| headless.typed(path)).collect();
    let reply = ask("rules", json!({ "paths": paths }), &arguments.query, &mut headless)?;
    show(&reply, &arguments.query, "rules")
}

pub(crate) fn grep(arguments: &GrepArguments) -> Result<ExitCode, Failure> {
    let mut headless = repository::open(&arguments.query.repository)?;
    repository::list(&mut headless)?;
    let paths: Vec<String> = arguments.paths.iter().map(|path| headless.typed(path)).collect();
    let asked = json!({
        "pattern": arguments.pattern,
        "paths": paths,
        "literal": arguments.fixed_strings,
        "ignoreCase": arguments.ignore_case,
        "words": arguments.word_regexp,
        "context": arguments.context,
        "limit": arguments.limit,
    });
    let reply = ask("grep", asked, &arguments.query, &mut headless)?;
    show(&reply, &arguments.query, "files")
}

/// The fields used from the reply to `strata.files.read`.
#[derive(Deserialize)]
struct Part {
    path: String,
    text: String,
    from: u32,
    to: u32,
    lines: u32,
}

/// Prints the content of a file unchanged, so that it can be piped.
pub(crate) fn read(arguments: &ReadArguments) -> Result<ExitCode, Failure> {
    let mut headless = repository::open(&arguments.query.repository)?;
    repository::list(&mut headless)?;
    let path = headless.typed(&arguments.path);
    let asked = json!({ "path": path });
    let reply = match ask("files_read", asked.clone(), &arguments.query, &mut headless) {
        // Only the index tells whether another file defines the member of a type.
        Err(_) if headless.names_definition(&path) => {
            repository::index(&mut headless)?;
            ask("files_read", asked, &arguments.query, &mut headless)?
        }
        reply => reply?,
    };
    if arguments.query.json {
        return show(&reply, &arguments.query, "path");
    }
    let (is_cut, freshness) = (reply.is_cut, reply.freshness);
    let Part { path, text, from, to, lines } = output::understood(reply.structured)?;
    output::file_text(&text)?;
    if from > 1 || to < lines {
        output::tell(&format!("{path}#L{from}-{to} of {lines} lines"));
    }
    tell_notes(is_cut, &freshness);
    Ok(ExitCode::SUCCESS)
}

fn ask(
    tool: &str,
    asked: Value,
    arguments: &QueryArguments,
    headless: &mut HeadlessWorkspace,
) -> Result<Reply, Failure> {
    let tool = Tool::named(tool).ok_or(CommandError::Internal)?;
    let Value::Object(asked) = asked else { return Err(CommandError::Internal.into()) };
    let given: Map<String, Value> = asked.into_iter().filter(|(_, value)| !value.is_null()).collect();
    answer(tool, given, arguments.budget, headless).map_err(|error| match error {
        CommandError::InvalidParams { ref path, .. } if path.starts_with("path") => {
            Failure::of_path("PATH", headless.folder(), &error)
        }
        CommandError::InvalidParams { message, .. } => Failure::Said(message),
        error => error.into(),
    })
}

/// Prints a reply. The exit code is 1 if the list `found` in the reply is empty.
fn show(reply: &Reply, arguments: &QueryArguments, found: &str) -> Result<ExitCode, Failure> {
    if arguments.json {
        output::json(&reply.structured)?;
    } else {
        output::text(&format!("{}\n", reply.text.trim_end_matches('\n')))?;
    }
    tell_notes(reply.is_cut, &reply.freshness);
    let is_empty = reply.structured[found].as_array().is_some_and(Vec::is_empty);
    Ok(if is_empty { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Prints notes about a reply to standard error.
fn tell_notes(is_cut: bool, freshness: &Freshness) {
    for sentence in freshness.sentences() {
        output::tell(&sentence);
    }
    if is_cut {
        output::tell("more results; raise --budget");
    }
}
