//! The budget report: what the next request would weigh before its prompt, and how much room is left.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::key::FileKey;
use crate::prompt::assembly::{
    AssembleError, PromptRequest, PromptServices, UsedFile, Workspace, history_tokens, weigh,
};
use crate::prompt::layout::Part;
use crate::prompt::session::{Session, Totals};
use crate::tokens::calibration::{Calibration, CalibrationReport, Expected};

/// The reply of `budget.report`. All weights are in tokens.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BudgetReport {
    /// The model.
    pub model: String,
    /// What the conversation weighs.
    pub history_tokens: usize,
    /// A sixteenth of the input window: reported, not enforced (`docs/prompt.md`, "Budgets").
    pub max_history_tokens: usize,
    /// The input window.
    pub max_input_tokens: usize,
    /// What is kept free for the answer.
    pub output_reserve: usize,
    /// What the next request weighs before its prompt.
    pub used: usize,
    /// What the prompt may still weigh.
    pub remaining: usize,
    /// What reported usage says that the provider will count, with its error bar.
    pub expected: Expected,
    /// What reported usage taught about the model; absent before any was reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) calibration: Option<CalibrationReport>,
    /// `used` as a share of the window, in percent, rounded to one decimal.
    pub percent: f64,
    /// Whether the conversation should be compacted.
    pub needs_summary: bool,
    /// `used` by part.
    pub parts: BTreeMap<Part, usize>,
    /// The files shown in full.
    pub(crate) files: Vec<UsedFile>,
    /// Selected files that would not fit, largest first.
    pub shed: Vec<FileKey>,
    /// What the session was billed for so far.
    pub(crate) totals: Totals,
}

/// Weighs what the next request would bring along when it is asked for like `ask`.
///
/// # Errors
/// [`AssembleError::TooLarge`] when it does not fit even without a prompt.
pub fn report(
    workspace: &Workspace<'_>,
    session: &Session,
    ask: &PromptRequest,
    means: PromptServices<'_>,
) -> Result<BudgetReport, AssembleError> {
    let prepared = weigh(workspace, session, ask, means)?;
    let tokens = prepared.reply.tokens;
    let history_tokens = history_tokens(&session.history, means);
    let percent = if tokens.window == 0 { 0.0 } else { tokens.total as f64 * 100.0 / tokens.window as f64 };
    let calibration = session.calibration(&prepared.reply.model).map(Calibration::taught);
    Ok(BudgetReport {
        calibration,
        expected: tokens.expected,
        model: prepared.reply.model,
        history_tokens,
        max_history_tokens: tokens.window / 16,
        max_input_tokens: tokens.window,
        output_reserve: tokens.output_reserve,
        used: tokens.total,
        remaining: tokens.limit.saturating_sub(tokens.total),
        percent: (percent * 10.0).round() / 10.0,
        needs_summary: session.compaction_status(prepared.size, means, ask.now_ms).due,
        parts: tokens.parts,
        files: prepared.reply.files,
        shed: prepared.reply.shed,
        totals: session.billed(),
    })
}
