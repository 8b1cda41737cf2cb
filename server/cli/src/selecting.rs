//! Applies the selection options of the command line.

use serde::Deserialize;
use serde_json::{Value, json};
use strata_app::runtime::headless::HeadlessWorkspace;

use crate::arguments::SelectingArguments;
use crate::failure::Failure;
use crate::input::{self, Attachment};
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
    let SelectingArguments { select, deselect, exclude, attach: _, confirm_secrets } = arguments;
    let confirmed: Vec<String> = confirm_secrets.iter().map(|path| headless.typed(path)).collect();
    for path in select {
        let path = headless.typed(path);
        self::select(headless, &path, &confirmed)?;
    }
    for (option, command, paths) in
        [("--deselect", "strata.files.deselect", deselect), ("--exclude", "strata.files.exclude", exclude)]
    {
        for path in paths {
            headless
                .run(command, json!({ "paths": [headless.typed(path)] }))
                .map_err(|error| Failure::of_path(option, headless.folder(), &error))?;
        }
    }
    Ok(())
}

/// Adds attached text files to the context. Returns the attached images.
pub(crate) fn attach(
    headless: &mut HeadlessWorkspace,
    arguments: &SelectingArguments,
) -> Result<Vec<Value>, Failure> {
    let mut images = Vec::new();
    for path in &arguments.attach {
        match input::attachment(path).map_err(|error| error.about(&path.display().to_string()))? {
            Attachment::Image(image) => images.push(image),
            Attachment::Text { name, text } => {
                let path = format!("attached/{name}");
                headless.run("strata.files.add", json!({ "path": path, "content": text }))?;
            }
        }
    }
    Ok(images)
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
