//! `strata mcp`: runs a Model Context Protocol server on standard input and output. The log goes to standard error.

use std::process::ExitCode;

use serde_json::Map;
use strata_app::runtime::headless::Trust;
use strata_mcp::Subject;

use crate::arguments::McpArguments;
use crate::failure::Failure;
use crate::{log, output, repository};

/// Argument of `--session` that stands for the most recently used session.
const LATEST: &str = "latest";

pub(crate) fn run(arguments: &McpArguments) -> Result<ExitCode, Failure> {
    log::begin(&arguments.log)?;
    let trust = if arguments.trusted { Trust::Trusted } else { Trust::Untrusted };
    let headless = repository::headless(arguments.folder.as_deref(), &arguments.set, Map::new(), trust)
        .map_err(|error| Failure::of_folder("FOLDER", error))?;
    // Some clients start their servers in the root directory, which is never a workspace.
    if headless.folder().parent().is_none() {
        return Err(Failure::said(
            "FOLDER: the root of the disk cannot be the workspace; pass the folder in which the agent works",
        ));
    }
    let subject = match arguments.session.as_deref() {
        None => Subject::Own,
        Some(LATEST) => Subject::Newest,
        Some(id) => Subject::Stored(id.to_owned()),
    };
    let opened = headless.open_store();
    let subject = match subject {
        Subject::Stored(name) if opened.is_ok() => Subject::Stored(headless.session_named(&name)?),
        subject => subject,
    };
    match opened {
        Ok(Some(news)) => output::tell(&format!("warning: {news}")),
        Ok(None) => {}
        // Queries about the code work without stored sessions.
        Err(error) if subject == Subject::Own => output::tell(&format!("warning: {error}")),
        Err(error) => return Err(error.into()),
    }
    strata_mcp::serve(headless, subject)
        .map_err(|error| Failure::said(format!("the server cannot continue: {error}")))?;
    Ok(ExitCode::SUCCESS)
}
