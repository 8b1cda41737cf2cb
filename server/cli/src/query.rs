//! Queries about the code, which are also tools for agents. Prints results to standard output, and notes about omitted
//! results to standard error. A search without matches exits with code 1.

use std::process::ExitCode;

use serde::Serialize;
use strata_app::commands::grep::{Grep, GrepParams};
use strata_app::commands::read::{ReadFile, ReadParams, ReadReply};
use strata_app::commands::rules::{ListRules, RulesParams};
use strata_app::commands::symbols::{
    self, FileParams, FindParams, FindReferences, FindRelevantCode, FindSymbols, OutlineFile,
    ReferencesParams, RelevantParams,
};
use strata_app::commands::{self, Command, CommandError};
use strata_app::jobs::tools::{ToolReply, call_tool_for_user};
use strata_app::model::freshness::Freshness;
use strata_app::runtime::headless::HeadlessWorkspace;

use crate::arguments::{
    ContextArguments, GrepArguments, OutlineArguments, QueryArguments, ReadArguments, ReferencesArguments,
    RulesArguments, SymbolsArguments,
};
use crate::failure::Failure;
use crate::{input, output, repository};

pub(crate) fn context(arguments: &ContextArguments) -> Result<ExitCode, Failure> {
    let limit = arguments.limit.unwrap_or_else(symbols::default_relevant_item_limit);
    let params = RelevantParams { query: input::read_text_argument(&arguments.text)?, limit, min_score: 0.0 };
    let mut headless = repository::open(&arguments.query.repository)?;
    repository::index_with_progress(&mut headless)?;
    let reply = run_tool::<FindRelevantCode>(&params, &arguments.query, &mut headless)?;
    print_query_reply(&reply, &arguments.query, "items")
}

pub(crate) fn symbols(arguments: &SymbolsArguments) -> Result<ExitCode, Failure> {
    let mut headless = repository::open(&arguments.query.repository)?;
    repository::index_with_progress(&mut headless)?;
    let limit = arguments.limit.unwrap_or_else(commands::default_limit);
    let params = FindParams { query: arguments.name.clone(), limit };
    let reply = run_tool::<FindSymbols>(&params, &arguments.query, &mut headless)?;
    print_query_reply(&reply, &arguments.query, "symbols")
}

pub(crate) fn references(arguments: &ReferencesArguments) -> Result<ExitCode, Failure> {
    let mut headless = repository::open(&arguments.query.repository)?;
    repository::index_with_progress(&mut headless)?;
    let path = arguments.path.as_deref().map(|path| headless.workspace_path(path));
    let params = ReferencesParams { name: arguments.name.clone(), path, limit: arguments.limit };
    let reply = run_tool::<FindReferences>(&params, &arguments.query, &mut headless)?;
    print_query_reply(&reply, &arguments.query, "hits")
}

pub(crate) fn outline(arguments: &OutlineArguments) -> Result<ExitCode, Failure> {
    let mut headless = repository::open(&arguments.query.repository)?;
    repository::list_files(&mut headless)?;
    let params = FileParams { path: headless.workspace_path(&arguments.path) };
    let reply = run_tool::<OutlineFile>(&params, &arguments.query, &mut headless)?;
    print_query_reply(&reply, &arguments.query, "path")
}

pub(crate) fn rules(arguments: &RulesArguments) -> Result<ExitCode, Failure> {
    let mut headless = repository::open(&arguments.query.repository)?;
    repository::list_files(&mut headless)?;
    let paths: Vec<String> = arguments.paths.iter().map(|path| headless.workspace_path(path)).collect();
    let reply = run_tool::<ListRules>(&RulesParams { paths: Some(paths) }, &arguments.query, &mut headless)?;
    print_query_reply(&reply, &arguments.query, "rules")
}

pub(crate) fn grep(arguments: &GrepArguments) -> Result<ExitCode, Failure> {
    let mut headless = repository::open(&arguments.query.repository)?;
    repository::list_files(&mut headless)?;
    let paths: Vec<String> = arguments.paths.iter().map(|path| headless.workspace_path(path)).collect();
    let params = GrepParams {
        pattern: arguments.pattern.clone(),
        paths,
        literal: arguments.fixed_strings,
        ignore_case: arguments.ignore_case,
        words: arguments.word_regexp,
        context: arguments.context,
        limit: arguments.limit,
    };
    let reply = run_tool::<Grep>(&params, &arguments.query, &mut headless)?;
    print_query_reply(&reply, &arguments.query, "files")
}

/// Prints the content of a file unchanged, so that it can be piped.
pub(crate) fn read(arguments: &ReadArguments) -> Result<ExitCode, Failure> {
    let mut headless = repository::open(&arguments.query.repository)?;
    repository::list_files(&mut headless)?;
    let params = ReadParams { path: headless.workspace_path(&arguments.path) };
    let reply = match run_tool::<ReadFile>(&params, &arguments.query, &mut headless) {
        // Only the index tells whether another file defines the member of a type.
        Err(_) if headless.is_path_to_definition(&params.path) => {
            repository::index_with_progress(&mut headless)?;
            run_tool::<ReadFile>(&params, &arguments.query, &mut headless)?
        }
        reply => reply?,
    };
    if arguments.query.json {
        return print_query_reply(&reply, &arguments.query, "path");
    }
    let (is_cut, freshness) = (reply.is_cut, reply.freshness.clone());
    let ReadReply { path, text, from, to, lines, .. } = reply.into_reply_of::<ReadFile>()?;
    output::print_file(&text)?;
    if from > 1 || to < lines {
        output::print_message(&format!("{}#L{from}-{to} of {lines} lines", output::one_line(&path)));
    }
    print_notes(is_cut, &freshness);
    Ok(ExitCode::SUCCESS)
}

fn run_tool<C: Command<Args: Serialize>>(
    params: &C::Args,
    arguments: &QueryArguments,
    headless: &mut HeadlessWorkspace,
) -> Result<ToolReply, Failure> {
    call_tool_for_user::<C>(params, arguments.budget, headless).map_err(|error| match error {
        CommandError::InvalidParams { ref path, .. } if path.starts_with("path") => {
            Failure::from_path_error(headless.folder(), &error)
        }
        CommandError::InvalidParams { message, .. } => Failure::Message(message),
        error => error.into(),
    })
}

/// Prints a reply. The exit code is 1 if the list `list_field` in the reply is empty.
fn print_query_reply(
    reply: &ToolReply,
    arguments: &QueryArguments,
    list_field: &str,
) -> Result<ExitCode, Failure> {
    if arguments.json {
        output::print_json(&reply.structured)?;
    } else {
        output::print_text(&format!("{}\n", reply.text.trim_end_matches('\n')))?;
    }
    print_notes(reply.is_cut, &reply.freshness);
    Ok(if reply.is_empty(list_field) { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Prints notes about a reply to standard error.
fn print_notes(is_cut: bool, freshness: &Freshness) {
    for sentence in freshness.sentences() {
        output::print_message(&sentence);
    }
    if is_cut {
        output::print_message("more results; raise --budget");
    }
}
