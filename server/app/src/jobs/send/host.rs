//! Interface to the front end that a question runs in.

use super::delta::Delta;
use crate::jobs::tools::ToolHost;

/// Runs the commands that a question to a model requires, and shows the answer.
pub trait SendHost: ToolHost {
    /// Shows a piece of the answer.
    fn show(&mut self, delta: Delta);

    /// Reports what the question is waiting for.
    fn progress(&mut self, message: &str);
}
