//! `strata mcp`: runs a Model Context Protocol server on standard input and output. The log goes to standard error.

use std::process::ExitCode;

use serde_json::Map;
use strata_app::runtime::headless::Trust;
use strata_mcp::Subject;

#[cfg(all(target_os = "linux", target_env = "gnu"))]
use crate::allocation;
use crate::arguments::McpArguments;
use crate::failure::Failure;
use crate::sessions::{EDITOR, LATEST};
use crate::{log, output, repository};

pub(crate) fn run(arguments: &McpArguments) -> Result<ExitCode, Failure> {
    log::begin(&arguments.log)?;
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    allocation::release_when_idle();
    let trust = if arguments.trusted { Trust::Trusted } else { Trust::Untrusted };
    let headless = repository::headless(arguments.folder.as_deref(), &arguments.set, Map::new(), trust)
        .map_err(|error| Failure::said(error.to_string()))?;
    // Some clients start their servers in the root directory, which is never a workspace.
    if headless.folder().parent().is_none() {
        return Err(Failure::said(
            "the root of the disk cannot be the workspace; pass the folder in which the agent works",
        ));
    }
    let subject = match arguments.session.as_deref() {
        None => Subject::Own,
        Some(LATEST) => Subject::Newest,
        Some(EDITOR) => Subject::Editor,
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
