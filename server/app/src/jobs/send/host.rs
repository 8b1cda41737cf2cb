//! Interface to the front end that a question runs in.

use strata_base::cancel::Cancel;

use super::delta::Delta;
use crate::commands::prompt::{DiscardPrompt, RecordOutcome};
use crate::commands::{Command, CommandError, Invocation};
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

/// Returns the flag that cancels a command of a request to a model, given the flag of the request. The end of a turn must
/// be recorded even if the request is cancelled.
pub fn cancel_for(command: &str, request: &Cancel) -> Cancel {
    match [RecordOutcome::NAME, DiscardPrompt::NAME].contains(&command) {
        true => Cancel::new(),
        false => request.clone(),
    }
}
