//! The interface of layout policies.

use super::rules::LayoutRules;
use super::state::TierState;
use crate::layout::{FileListCoverage, Layout, LayoutContent};

/// An ordered prompt, with the policy's state to keep if the prompt is sent.
#[derive(Clone, Debug)]
pub struct PolicyOutput {
    pub layout: Layout,
    /// State to keep when the prompt is recorded; discarded if the prompt is never sent.
    pub new_state: TierState,
    /// How much of the repository the file list in the prompt covers.
    pub(crate) file_list: FileListCoverage,
    /// Tokens that the policy expects the provider to have cached; `None` if it has no expectation.
    pub expected_cached: Option<usize>,
}

pub trait Policy {
    /// Orders `content`, given the state after the last prompt. The same input gives the same output.
    fn lay_out(&self, state: &TierState, content: &LayoutContent<'_>, rules: &LayoutRules) -> PolicyOutput;
}
