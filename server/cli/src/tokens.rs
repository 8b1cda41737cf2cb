//! `strata tokens`: prints a tree of files with their token counts and sums to standard output, and uncounted files to
//! standard error.

use std::collections::BTreeMap;
use std::process::ExitCode;

use strata_app::runtime::token_usage::{Problem, TokenUsage, Weight};

use crate::arguments::TokensArguments;
use crate::bar::Bar;
use crate::failure::Failure;
use crate::output::{self, count, counted};
use crate::repository;
use crate::tree::Tree;

/// Maximum number of lines in the tree, unless `--depth` is given.
const LINES: usize = 100;
/// Maximum number of uncounted files to list for each reason.
const NAMED: usize = 3;

pub(crate) fn run(arguments: &TokensArguments) -> Result<ExitCode, Failure> {
    let headless = repository::open(&arguments.repository)?;
    let paths: Vec<String> = arguments.paths.iter().map(|path| headless.typed(path)).collect();
    let bar = Bar::new("counting", "files");
    let weights = headless
        .weigh(&paths, arguments.model.as_deref(), |progress| bar.progress(progress))
        .map_err(|error| Failure::of_path(headless.folder(), &error))?;
    drop(bar);
    if arguments.json {
        output::json(&weights)?;
        return Ok(ExitCode::SUCCESS);
    }
    let tree = tree(&weights);
    let depth = arguments.depth.unwrap_or_else(|| tree.depth_within(LINES));
    output::text(&tree.render(depth))?;
    tell(&weights);
    Ok(ExitCode::SUCCESS)
}

fn tree(weights: &TokenUsage) -> Tree {
    let mut tree = Tree::default();
    for file in &weights.files {
        match &file.weight {
            Weight::Counted { tokens } => tree.add(file.path.as_str(), Some(*tokens), ""),
            Weight::NotCounted { problem, .. } => tree.add(file.path.as_str(), None, word(*problem)),
        }
    }
    tree
}

fn tell(weights: &TokenUsage) {
    let mut reasons: BTreeMap<Problem, Vec<&str>> = BTreeMap::new();
    for (path, problem) in weights.not_counted() {
        reasons.entry(problem).or_default().push(path.as_str());
    }
    let skipped: usize = reasons.values().map(Vec::len).sum();
    output::tell(&format!(
        "{} in {}, counted for {}",
        counted(weights.tokens, "token"),
        counted(weights.files.len() - skipped, "file"),
        weights.model,
    ));
    for (problem, paths) in reasons {
        let named: Vec<&str> = paths.iter().take(NAMED).copied().collect();
        let more = if paths.len() > named.len() { ", …" } else { "" };
        let (number, problem) = (count(paths.len()), word(problem));
        output::tell(&format!("not counted, {problem}: {number} ({}{more})", named.join(", ")));
    }
    if let Some(warning) = &weights.warning {
        output::tell(&format!("warning: {warning}"));
    }
}

fn word(problem: Problem) -> &'static str {
    match problem {
        Problem::Binary => "binary",
        Problem::Secret => "secret by name",
        Problem::TooLarge => "too large",
        Problem::Unreadable => "unreadable",
    }
}
