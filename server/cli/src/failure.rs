//! Errors of commands, as one line that says what to do.

use std::io;
use std::path::Path;

use strata_app::commands::CommandError;
use strata_app::model::session_store::SessionStoreError;
use strata_app::runtime::headless::{self, OpenError};

/// Why a command did not deliver a result.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The reader of standard output has closed it.
    NobodyReads,
    Said(String),
}

impl Failure {
    pub(crate) fn said(message: impl Into<String>) -> Self {
        Self::Said(message.into())
    }

    /// Prefixes the message with `what`.
    pub(crate) fn about(self, what: &str) -> Self {
        match self {
            Self::NobodyReads => Self::NobodyReads,
            Self::Said(message) => Self::Said(format!("{what}: {message}")),
        }
    }

    /// Converts the error for a path. If the current directory is outside the folder, adds what paths are relative to.
    pub(crate) fn of_path(folder: &Path, error: &CommandError) -> Self {
        let CommandError::InvalidParams { message, .. } = error else { return Self::Said(error.to_string()) };
        Self::Said(match headless::is_in(folder) {
            true => message.clone(),
            false => format!("{message} (paths are relative to {})", folder.display()),
        })
    }

    /// Converts an error about the folder given with `--repo`, or about its settings.
    pub(crate) fn of_repository(error: OpenError) -> Self {
        match error {
            OpenError::Options(problem) => Self::Said(problem),
            error => Self::Said(format!("--repo: {error}")),
        }
    }

    pub(crate) fn of_output(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::NobodyReads,
            _ => Self::Said(format!("cannot write the result: {error}")),
        }
    }
}

impl From<CommandError> for Failure {
    fn from(error: CommandError) -> Self {
        Self::Said(error.to_string())
    }
}

impl From<SessionStoreError> for Failure {
    fn from(error: SessionStoreError) -> Self {
        Self::Said(error.to_string())
    }
}
