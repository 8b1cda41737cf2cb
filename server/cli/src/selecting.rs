//! Applies the selection options of the command line.

use serde::Deserialize;
use serde_json::json;
use strata_app::headless::HeadlessWorkspace;

use crate::arguments::SelectingArguments;
use crate::failure::Failure;
use crate::output::{self, counted};

/// The fields used from the reply to `strata.files.select`.
#[derive(Deserialize)]
struct SelectionReply {
    withheld: Vec<WithheldFiles>,
}

#[derive(Deserialize)]
struct WithheldFiles {
    path: String,
    reason: String,
}

/// Selects and excludes the given files.
pub(crate) fn apply(headless: &mut HeadlessWorkspace, arguments: &SelectingArguments) -> Result<(), Failure> {
    let SelectingArguments { select, exclude, confirm_secrets } = arguments;
    let confirmed: Vec<String> = confirm_secrets.iter().map(|path| headless.typed(path)).collect();
    for path in select {
        let path = headless.typed(path);
        self::select(headless, &path, &confirmed)?;
    }
    for path in exclude {
        headless
            .run("strata.files.exclude", json!({ "paths": [headless.typed(path)] }))
            .map_err(|error| Failure::of_path("--exclude", headless.folder(), &error))?;
    }
    Ok(())
}

/// Name under which a prompt shows text that was piped in.
const PIPED: &str = "standard-input";

/// Adds text that was piped in to the context. It replaces what was piped into an earlier question.
pub(crate) fn add_piped(headless: &mut HeadlessWorkspace, text: Option<String>) -> Result<(), Failure> {
    let Some(text) = text else { return Ok(()) };
    output::tell(&format!(
        "standard input ({}) is part of the context",
        counted(text.lines().count(), "line")
    ));
    headless.run("strata.files.add", json!({ "path": PIPED, "content": text }))?;
    Ok(())
}

fn select(headless: &mut HeadlessWorkspace, path: &str, confirm_secrets: &[String]) -> Result<(), Failure> {
    let reply = headless
        .run("strata.files.select", json!({ "paths": [path], "confirmSecrets": confirm_secrets }))
        .map_err(|error| Failure::of_path("--select", headless.folder(), &error))?;
    for WithheldFiles { path: file, reason } in output::understood::<SelectionReply>(reply)?.withheld {
        output::tell(&format!("--select {path} skipped {file}: {reason}"));
    }
    Ok(())
}
