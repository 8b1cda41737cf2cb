//! `strata serve`: runs the language server on standard input and output. The log goes to standard error.

use std::process::ExitCode;

#[cfg(all(target_os = "linux", target_env = "gnu"))]
use crate::allocation;
use crate::arguments::ServeArguments;
use crate::failure::Failure;
use crate::log;

pub(crate) fn run(arguments: &ServeArguments) -> Result<ExitCode, Failure> {
    log::init(&arguments.log)?;
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    allocation::release_periodically();
    let exit = strata_lsp::server::run()
        .map_err(|error| Failure::new(format!("cannot start the server: {error}")))?;
    tracing::info!(cause = ?exit.cause, code = exit.code, "ended");
    Ok(ExitCode::from(exit.code))
}
