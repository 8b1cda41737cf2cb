//! `strata mcp`: runs a Model Context Protocol server on standard input and output. The log goes to standard error.

use std::process::ExitCode;

use serde_json::Map;
use strata_app::runtime::headless::Trust;
use strata_mcp::SessionChoice;

#[cfg(all(target_os = "linux", target_env = "gnu"))]
use crate::allocation;
use crate::arguments::McpArguments;
use crate::failure::Failure;
use crate::sessions::{EDITOR_SESSION, LATEST};
use crate::{log, output, repository};

pub(crate) fn run(arguments: &McpArguments) -> Result<ExitCode, Failure> {
    log::init(&arguments.log)?;
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    allocation::release_periodically();
    let trust = if arguments.trusted { Trust::Trusted } else { Trust::Untrusted };
    let headless = repository::open_headless(arguments.folder.as_deref(), &arguments.set, Map::new(), trust)
        .map_err(|error| Failure::new(error.to_string()))?;
    // Some clients start their servers in the root directory, which is never a workspace.
    if headless.folder().parent().is_none() {
        return Err(Failure::new(
            "the root of the disk cannot be the workspace; pass the folder in which the agent works",
        ));
    }
    let choice = match arguments.session.as_deref() {
        None => SessionChoice::Own,
        Some(LATEST) => SessionChoice::Newest,
        Some(EDITOR_SESSION) => SessionChoice::Editor,
        Some(id) => SessionChoice::Stored(id.to_owned()),
    };
    let opened = headless.open_store();
    let choice = match choice {
        SessionChoice::Stored(name) if opened.is_ok() => {
            SessionChoice::Stored(headless.resolve_session_name(&name)?)
        }
        choice => choice,
    };
    match opened {
        Ok(Some(notice)) => output::print_message(&format!("warning: {notice}")),
        Ok(None) => {}
        // Queries about the code work without stored sessions.
        Err(error) if choice == SessionChoice::Own => output::print_message(&format!("warning: {error}")),
        Err(error) => return Err(error.into()),
    }
    strata_mcp::serve(headless, choice)
        .map_err(|error| Failure::new(format!("the server cannot continue: {error}")))?;
    Ok(ExitCode::SUCCESS)
}
