//! Iterations that are to get into the summary: all that is needed to write it. Writes no text.

use super::Iteration;

/// Which summary is wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FoldKind {
    /// The existing one with a few iterations more.
    Incorporate,
    /// One that is written again, with an eye on the newest iterations.
    Renew,
}

/// Iterations that are to get into the summary. Holds all that is needed to write it.
#[derive(Clone, PartialEq, Debug)]
pub struct Fold {
    pub(super) kind: FoldKind,
    /// The summary that is replaced, and which one that is.
    pub(super) existing: String,
    pub(super) edition: u64,
    /// Iterations to fold into it, in order.
    pub(super) iterations: Vec<Iteration>,
    /// Newer iterations, for a summary that is rewritten to be current.
    pub(super) recent: Vec<Iteration>,
    pub(super) max_tokens: usize,
}

impl Fold {
    /// Which summary is wanted.
    #[cfg(test)]
    pub(crate) fn kind(&self) -> FoldKind {
        self.kind
    }

    /// The numbers of the iterations that get into the summary, in order.
    pub fn numbers(&self) -> Vec<u64> {
        self.iterations.iter().map(|iteration| iteration.number).collect()
    }

    /// Says which of the iterations gave no output; nothing when all did.
    pub(super) fn silence(&self) -> Option<String> {
        let silent = self.iterations.iter().filter(|iteration| iteration.is_silent());
        let silent: Vec<String> = silent.map(|iteration| iteration.number.to_string()).collect();
        match silent.as_slice() {
            [] => None,
            [one] => Some(format!("Iteration {one} produced no output.")),
            many => Some(format!("Iterations {} produced no output.", many.join(", "))),
        }
    }
}
