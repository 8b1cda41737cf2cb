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
    OutputClosed,
    Message(String),
}

impl Failure {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self::Message(message.into())
    }

    /// Prefixes the message with `subject`.
    pub(crate) fn with_message_prefix(self, subject: &str) -> Self {
        match self {
            Self::OutputClosed => Self::OutputClosed,
            Self::Message(message) => Self::Message(format!("{subject}: {message}")),
        }
    }

    /// Converts the error for a path. If the current directory is outside the folder, adds what paths are relative to.
    pub(crate) fn from_path_error(folder: &Path, error: &CommandError) -> Self {
        let CommandError::InvalidParams { message, .. } = error else {
            return Self::Message(error.to_string());
        };
        Self::Message(match headless::is_current_directory_in(folder) {
            true => message.clone(),
            false => format!("{message} (paths are relative to {})", folder.display()),
        })
    }

    /// Converts an error about the folder given with `--repo`, or about its settings.
    pub(crate) fn from_open_error(error: OpenError) -> Self {
        match error {
            OpenError::Options(problem) => Self::Message(problem),
            error => Self::Message(format!("--repo: {error}")),
        }
    }

    pub(crate) fn from_output_error(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::OutputClosed,
            _ => Self::Message(format!("cannot write the result: {error}")),
        }
    }
}

impl From<CommandError> for Failure {
    fn from(error: CommandError) -> Self {
        Self::Message(error.to_string())
    }
}

impl From<SessionStoreError> for Failure {
    fn from(error: SessionStoreError) -> Self {
        Self::Message(error.to_string())
    }
}
