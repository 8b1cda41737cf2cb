//! Applies the selection options of the command line.

use serde::Deserialize;
use serde_json::json;
use strata_app::headless::HeadlessWorkspace;

use crate::arguments::SelectingArguments;
use crate::failure::Failure;
use crate::output;

/// Maximum tokens of automatic context for a prompt without a selection.
const AUTO_BUDGET: usize = 8_000;

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

/// The fields used from the reply to `strata.files.list`.
#[derive(Deserialize)]
struct ListedFiles {
    files: Vec<ListedFile>,
}

#[derive(Deserialize)]
struct ListedFile {
    state: String,
}

/// Selects and excludes the given files. Returns the default limit of automatic context, or `None` if files are
/// selected or a setting provides the limit.
pub(crate) fn apply(
    headless: &mut HeadlessWorkspace,
    arguments: &SelectingArguments,
) -> Result<Option<usize>, Failure> {
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
    let ListedFiles { files } = output::understood(headless.run("strata.files.list", json!({}))?)?;
    let has_selection = files.iter().any(|file| file.state == "selected");
    let set = headless.snapshot().settings.context.auto_budget;
    Ok((!has_selection && set == 0).then_some(AUTO_BUDGET))
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
