//! The interface of policies: content in, order out.

use super::rules::Rules;
use super::state::TierState;
use crate::prompt::layout::{Content, FileListCoverage, Layout};

/// An ordered prompt, and the state to remember once it was sent.
#[derive(Clone, Debug)]
pub struct PolicyOutput {
    /// The prompt.
    pub layout: Layout,
    /// The state to keep when the turn is recorded; dropped with a prompt that was never sent.
    pub recorded: TierState,
    /// How much of the repository file list it holds.
    pub(crate) listed: FileListCoverage,
    /// Tokens that it relied on being cached; `None` for a policy that relies on nothing.
    pub relied_on: Option<usize>,
}

/// A tiering rule: content in, order out.
pub trait Policy {
    /// Orders `content`, given the state. Deterministic.
    fn lay(&self, state: &TierState, content: &Content<'_>, rules: &Rules) -> PolicyOutput;
}
