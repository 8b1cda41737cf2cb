//! Applies the selection options of the command line.

use strata_app::commands::files::{Add, Deselect, Exclude, PathAndContent, Paths, Select, WithheldFile};
use strata_app::commands::{CommandError, Image};
use strata_app::runtime::headless::HeadlessWorkspace;

use crate::arguments::SelectingArguments;
use crate::failure::Failure;
use crate::input::{self, Attachment};
use crate::output::{self, pluralize};

/// Selects and excludes the given files.
pub(crate) fn apply(headless: &mut HeadlessWorkspace, arguments: &SelectingArguments) -> Result<(), Failure> {
    let SelectingArguments { select, deselect, exclude, attach: _, confirm_secrets } = arguments;
    let confirmed: Vec<String> = confirm_secrets.iter().map(|path| headless.workspace_path(path)).collect();
    for path in select {
        let path = headless.workspace_path(path);
        self::select(headless, &path, &confirmed)?;
    }
    for path in deselect {
        let changed = headless.call::<Deselect>(single_path(headless.workspace_path(path)));
        changed.map_err(|error| {
            Failure::from_path_error(headless.folder(), &error).with_subject("--deselect")
        })?;
    }
    for path in exclude {
        let changed = headless.call::<Exclude>(single_path(headless.workspace_path(path)));
        changed
            .map_err(|error| Failure::from_path_error(headless.folder(), &error).with_subject("--exclude"))?;
    }
    Ok(())
}

fn single_path(path: String) -> Paths {
    Paths { paths: vec![path], ..Paths::default() }
}

/// Adds attached text files to the context. Returns the attached images.
pub(crate) fn attach(
    headless: &mut HeadlessWorkspace,
    arguments: &SelectingArguments,
) -> Result<Vec<Image>, Failure> {
    let mut images = Vec::new();
    for path in &arguments.attach {
        match input::read_attachment(path).map_err(|error| error.with_subject(&path.display().to_string()))? {
            Attachment::Image(image) => images.push(image),
            Attachment::Text { name, text } => {
                add(headless, format!("attached/{name}"), text)?;
            }
        }
    }
    Ok(images)
}

/// Name under which a prompt shows text that was piped in.
const PIPED_PATH: &str = "standard-input";

/// Adds text that was piped in to the context. It replaces what was piped into an earlier question.
pub(crate) fn add_piped(headless: &mut HeadlessWorkspace, text: Option<String>) -> Result<(), Failure> {
    let Some(text) = text else { return Ok(()) };
    output::print_message(&format!(
        "standard input ({}) is part of the context",
        pluralize(text.lines().count(), "line")
    ));
    Ok(add(headless, PIPED_PATH.to_owned(), text)?)
}

fn add(headless: &mut HeadlessWorkspace, path: String, content: String) -> Result<(), CommandError> {
    headless.call::<Add>(PathAndContent { path, content })?;
    Ok(())
}

fn select(headless: &mut HeadlessWorkspace, path: &str, confirm_secrets: &[String]) -> Result<(), Failure> {
    let reply = headless
        .call::<Select>(Paths { confirm_secrets: confirm_secrets.to_vec(), ..single_path(path.to_owned()) })
        .map_err(|error| Failure::from_path_error(headless.folder(), &error).with_subject("--select"))?;
    for WithheldFile { path: file, reason } in &reply.withheld {
        output::print_message(&format!("--select {path} skipped {}: {reason}", output::line(file)));
    }
    Ok(())
}
