//! A fold: iterations to merge into the running summary of a loop, with everything needed to write it.

use super::Iteration;

/// How to change the summary of a loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FoldKind {
    /// Extends the existing summary with further iterations.
    Incorporate,
    /// Rewrites the summary, taking the newest iterations into account.
    Renew,
}

/// Iterations to merge into the summary, with everything needed to write it.
#[derive(Clone, PartialEq, Debug)]
pub struct FoldRequest {
    pub(super) kind: FoldKind,
    /// The summary to replace.
    pub(super) existing: String,
    /// Edition of the summary to replace, which shows whether the fold is outdated.
    pub(super) edition: u64,
    /// Iterations to merge, in order.
    pub(super) iterations: Vec<Iteration>,
    /// Newer iterations, which only help to update the summary.
    pub(super) recent: Vec<Iteration>,
    pub(super) max_tokens: usize,
}

impl FoldRequest {
    #[cfg(test)]
    pub(crate) fn kind(&self) -> FoldKind {
        self.kind
    }

    /// Returns the numbers of the iterations to merge, in order.
    pub fn iteration_numbers(&self) -> Vec<u64> {
        self.iterations.iter().map(|iteration| iteration.number).collect()
    }

    /// Returns a sentence that names the iterations without output; `None` if there are none.
    pub(super) fn silent_iterations_note(&self) -> Option<String> {
        let silent = self.iterations.iter().filter(|iteration| iteration.is_silent());
        let silent: Vec<String> = silent.map(|iteration| iteration.number.to_string()).collect();
        match silent.as_slice() {
            [] => None,
            [one] => Some(format!("Iteration {one} produced no output.")),
            many => Some(format!("Iterations {} produced no output.", many.join(", "))),
        }
    }
}
