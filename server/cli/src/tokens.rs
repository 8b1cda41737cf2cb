//! `strata tokens`: prints a tree of files with their token counts and sums to standard output, and uncounted files to
//! standard error.

use std::collections::BTreeMap;
use std::process::ExitCode;

use strata_app::runtime::token_usage::{CountProblem, TokenCountResult, TokenUsage};

use crate::arguments::TokensArguments;
use crate::bar::ProgressDisplay;
use crate::failure::Failure;
use crate::output::{self, count, pluralize};
use crate::repository;
use crate::tree::TokenTree;

/// Maximum number of lines in the tree, unless `--depth` is given.
const MAX_TREE_LINES: usize = 100;
/// Maximum number of uncounted files to list for each reason.
const MAX_LISTED_UNCOUNTED: usize = 3;

pub(crate) fn run(arguments: &TokensArguments) -> Result<ExitCode, Failure> {
    let headless = repository::open(&arguments.repository)?;
    let paths: Vec<String> = arguments.paths.iter().map(|path| headless.workspace_path(path)).collect();
    let bar = ProgressDisplay::new("counting", "files");
    let usage = headless
        .count_tokens(&paths, arguments.model.as_deref(), |progress| bar.show_progress(progress))
        .map_err(|error| Failure::from_path_error(headless.folder(), &error))?;
    drop(bar);
    if arguments.json {
        output::print_json(&usage)?;
        return Ok(ExitCode::SUCCESS);
    }
    let tree = token_tree(&usage);
    let depth = arguments.depth.unwrap_or_else(|| tree.max_depth_for_lines(MAX_TREE_LINES));
    output::print_text(&tree.render(depth))?;
    print_summary(&usage);
    Ok(ExitCode::SUCCESS)
}

fn token_tree(usage: &TokenUsage) -> TokenTree {
    let mut tree = TokenTree::default();
    for file in &usage.files {
        match &file.count {
            TokenCountResult::Counted { tokens } => tree.add(file.path.as_str(), Some(*tokens), ""),
            TokenCountResult::NotCounted { problem, .. } => {
                tree.add(file.path.as_str(), None, problem_label(*problem));
            }
        }
    }
    tree
}

fn print_summary(usage: &TokenUsage) {
    let mut reasons: BTreeMap<CountProblem, Vec<&str>> = BTreeMap::new();
    for (path, problem) in usage.uncounted_files() {
        reasons.entry(problem).or_default().push(path.as_str());
    }
    let skipped: usize = reasons.values().map(Vec::len).sum();
    output::print_message(&format!(
        "{} in {}, counted for {}",
        pluralize(usage.tokens, "token"),
        pluralize(usage.files.len() - skipped, "file"),
        usage.model,
    ));
    for (problem, paths) in reasons {
        let named: Vec<&str> = paths.iter().take(MAX_LISTED_UNCOUNTED).copied().collect();
        let more = if paths.len() > named.len() { ", …" } else { "" };
        let (number, problem) = (count(paths.len()), problem_label(problem));
        output::print_message(&format!("not counted, {problem}: {number} ({}{more})", named.join(", ")));
    }
    if let Some(warning) = &usage.warning {
        output::print_message(&format!("warning: {warning}"));
    }
}

fn problem_label(problem: CountProblem) -> &'static str {
    match problem {
        CountProblem::Binary => "binary",
        CountProblem::Secret => "secret by name",
        CountProblem::TooLarge => "too large",
        CountProblem::Unreadable => "unreadable",
    }
}
