//! Interface to the front end that a question runs in.

use super::delta::Delta;
use crate::commands::{CommandError, Invocation};
use crate::jobs::tools::ToolHost;

/// Runs the commands that a question to a model requires, and shows the answer.
pub trait SendHost: ToolHost {
    /// Runs a command in the host's session, like [`ToolHost::run`].
    ///
    /// # Errors
    /// Returns a [`CommandError`] if the command fails.
    fn invoke(&mut self, command: Invocation) -> Result<(), CommandError>;

    /// Shows a piece of the answer.
    fn show(&mut self, delta: Delta);

    /// Reports what the question is waiting for.
    fn progress(&mut self, message: &str);
}
