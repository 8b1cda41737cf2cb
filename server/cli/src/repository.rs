//! Opens the repository of a command with its effective settings.

use std::path::Path;

use serde_json::{Map, Value};
use strata_app::runtime::headless::{HeadlessWorkspace, OpenError, Trust};

use crate::arguments::RepositoryArguments;
use crate::bar::ProgressDisplay;
use crate::failure::Failure;
use crate::output;

/// Opens the repository without indexing it.
pub(crate) fn open(arguments: &RepositoryArguments) -> Result<HeadlessWorkspace, Failure> {
    open_with_settings(arguments, Map::new())
}

/// Opens the repository with its stored sessions and notes.
pub(crate) fn open_stored(arguments: &RepositoryArguments) -> Result<HeadlessWorkspace, Failure> {
    open_store(open(arguments)?)
}

/// Like [`open_stored`], with additional settings from the command.
pub(crate) fn open_stored_with_settings(
    arguments: &RepositoryArguments,
    settings: Map<String, Value>,
) -> Result<HeadlessWorkspace, Failure> {
    open_store(open_with_settings(arguments, settings)?)
}

/// Lists the repository's files, so that a misspelled path is reported before the slow work. Like [`index_with_progress`], shows the
/// unsaved text of editors from then on.
pub(crate) fn list_files(headless: &mut HeadlessWorkspace) -> Result<(), Failure> {
    headless.list_files().map_err(|error| Failure::new(error.to_string()))?;
    attach_editors(headless);
    Ok(())
}

pub(crate) fn index_with_progress(headless: &mut HeadlessWorkspace) -> Result<(), Failure> {
    let bar = ProgressDisplay::new("indexing", "files");
    headless
        .index(|progress| bar.show_progress(progress))
        .map_err(|error| Failure::new(error.to_string()))?;
    drop(bar);
    attach_editors(headless);
    Ok(())
}

/// Makes the workspace show the unsaved text of running editors, and prints a notice if there is unsaved text.
fn attach_editors(headless: &mut HeadlessWorkspace) {
    let view = headless.attach_editors_at_start();
    for problem in &view.problems {
        output::print_message(&format!("warning: {problem}"));
    }
    if !view.unsaved.is_empty() {
        output::print_message(&format!("view: {view}"));
    }
}

/// Opens a folder, or by default the repository that contains the current directory. Settings in `set`, from the
/// command line, take precedence over `settings`, from the command itself, and both over all other sources.
pub(crate) fn open_headless(
    folder: Option<&Path>,
    set: &[String],
    settings: Map<String, Value>,
    trust: Trust,
) -> Result<HeadlessWorkspace, OpenError> {
    let (headless, problems) = HeadlessWorkspace::open_configured(folder, trust, set, settings)?;
    for problem in problems {
        output::print_message(&format!("warning: {problem}"));
    }
    Ok(headless)
}

/// Opens the repository without indexing it. Also returns the settings that cannot be used, as sentences.
pub(crate) fn open_with_problems(
    arguments: &RepositoryArguments,
) -> Result<(HeadlessWorkspace, Vec<String>), Failure> {
    HeadlessWorkspace::open_configured(
        arguments.folder.as_deref(),
        trust(arguments),
        &arguments.set,
        Map::new(),
    )
    .map_err(Failure::from_open_error)
}

fn trust(arguments: &RepositoryArguments) -> Trust {
    if arguments.untrusted { Trust::Untrusted } else { Trust::Trusted }
}

fn open_with_settings(
    arguments: &RepositoryArguments,
    settings: Map<String, Value>,
) -> Result<HeadlessWorkspace, Failure> {
    open_headless(arguments.folder.as_deref(), &arguments.set, settings, trust(arguments))
        .map_err(Failure::from_open_error)
}

fn open_store(headless: HeadlessWorkspace) -> Result<HeadlessWorkspace, Failure> {
    if let Some(notice) = headless.open_store()? {
        output::print_message(&format!("warning: {notice}"));
    }
    Ok(headless)
}
