//! Applies the selection options of the command line.

use strata_app::commands::files::{
    AddFileContent, DeselectFiles, ExcludeFiles, FilePathsParams, PathAndContent, SelectFiles, WithheldFile,
};
use strata_app::commands::{CommandError, Image};
use strata_app::runtime::headless::HeadlessWorkspace;

use crate::arguments::SelectingArguments;
use crate::failure::Failure;
use crate::input::{self, Attachment};
use crate::output::{self, pluralize};

/// Selects and excludes the given files.
pub(crate) fn apply_selection(
    headless: &mut HeadlessWorkspace,
    arguments: &SelectingArguments,
) -> Result<(), Failure> {
    let SelectingArguments { select, deselect, exclude, attach: _, confirm_secrets } = arguments;
    let confirmed: Vec<String> = confirm_secrets.iter().map(|path| headless.workspace_path(path)).collect();
    for path in select {
        let path = headless.workspace_path(path);
        self::select_path(headless, &path, &confirmed)?;
    }
    for path in deselect {
        let changed = headless.call::<DeselectFiles>(params_for_path(headless.workspace_path(path)));
        changed.map_err(|error| {
            Failure::from_path_error(headless.folder(), &error).with_message_prefix("--deselect")
        })?;
    }
    for path in exclude {
        exclude_path(headless, path)?;
    }
    Ok(())
}

/// Excludes the files that an option `--exclude` names.
pub(crate) fn exclude_path(headless: &mut HeadlessWorkspace, path: &str) -> Result<(), Failure> {
    let changed = headless.call::<ExcludeFiles>(params_for_path(headless.workspace_path(path)));
    changed.map_err(|error| {
        Failure::from_path_error(headless.folder(), &error).with_message_prefix("--exclude")
    })?;
    Ok(())
}

fn params_for_path(path: String) -> FilePathsParams {
    FilePathsParams { paths: vec![path], ..FilePathsParams::default() }
}

/// Adds attached text files to the context. Returns the attached images.
pub(crate) fn add_attachments(
    headless: &mut HeadlessWorkspace,
    arguments: &SelectingArguments,
) -> Result<Vec<Image>, Failure> {
    let mut images = Vec::new();
    for path in &arguments.attach {
        match input::read_attachment(path)
            .map_err(|error| error.with_message_prefix(&path.display().to_string()))?
        {
            Attachment::Image(image) => images.push(image),
            Attachment::Text { name, text } => {
                add_text(headless, format!("attached/{name}"), text)?;
            }
        }
    }
    Ok(images)
}

/// Name under which a prompt shows text that was piped in.
const PIPED_TEXT_NAME: &str = "standard-input";

/// Adds text that was piped in to the context. It replaces what was piped into an earlier question.
pub(crate) fn add_piped_text(headless: &mut HeadlessWorkspace, text: Option<String>) -> Result<(), Failure> {
    let Some(text) = text else { return Ok(()) };
    output::print_message(&format!(
        "standard input ({}) is part of the context",
        pluralize(text.lines().count(), "line")
    ));
    Ok(add_text(headless, PIPED_TEXT_NAME.to_owned(), text)?)
}

fn add_text(headless: &mut HeadlessWorkspace, path: String, content: String) -> Result<(), CommandError> {
    headless.call::<AddFileContent>(PathAndContent { path, content })?;
    Ok(())
}

fn select_path(
    headless: &mut HeadlessWorkspace,
    path: &str,
    confirm_secrets: &[String],
) -> Result<(), Failure> {
    let reply = headless
        .call::<SelectFiles>(FilePathsParams {
            confirm_secrets: confirm_secrets.to_vec(),
            ..params_for_path(path.to_owned())
        })
        .map_err(|error| {
            Failure::from_path_error(headless.folder(), &error).with_message_prefix("--select")
        })?;
    for WithheldFile { path: file, reason } in &reply.withheld {
        output::print_message(&format!("--select {path} skipped {}: {reason}", output::one_line(file)));
    }
    Ok(())
}
