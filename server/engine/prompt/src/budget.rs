//! The budget report: the size of the next request without the user's new message, and the tokens left for that
//! message.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use strata_base::key::FileKey;
use strata_tokens::calibration::{Calibration, CalibrationReport, Expected};
use strata_tokens::cost::CostComparison;

use crate::assembly::{
    AssembleError, PromptRequest, PromptServices, UsedFile, Workspace, assemble_allowing_empty, history_size,
};
use crate::layout::Part;
use crate::session::{Session, Totals};

/// The reply to `budget.report`. All sizes are in tokens.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BudgetReport {
    /// Model that the budget applies to.
    pub model: String,
    /// Tokens of the conversation.
    pub history_tokens: usize,
    /// A sixteenth of the input window, as a guideline for the length of the conversation. It is not enforced
    /// (`docs/prompt.md`, "Budgets").
    pub max_history_tokens: usize,
    /// Input window in tokens.
    pub max_input_tokens: usize,
    /// Tokens reserved for the answer.
    pub output_reserve: usize,
    /// Tokens of the next request, excluding the user's new message.
    pub used: usize,
    /// Tokens left for the user's new message.
    pub remaining: usize,
    /// Tokens that the provider is expected to count, with the error margin, based on reported usage.
    pub expected: Expected,
    /// Calibration of the model from reported usage; absent if no usage was reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) calibration: Option<CalibrationReport>,
    /// `used` as a percentage of the input window, rounded to one decimal.
    pub percent: f64,
    /// Whether the conversation should be compacted.
    pub needs_summary: bool,
    /// Tokens of each part. They add up to `used`.
    pub parts: BTreeMap<Part, usize>,
    /// Files whose text is in the request.
    pub(crate) files: Vec<UsedFile>,
    /// Selected files that do not fit, largest first.
    pub shed: Vec<FileKey>,
    /// Billed usage of the session so far.
    pub totals: Totals,
    /// What the billed requests would have cost under other conditions; absent if no bill was reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comparison: Option<CostComparison>,
}

/// Measures the next request, with the options of `prompt_request`.
///
/// # Errors
/// Returns [`AssembleError::TooLarge`] if the request does not fit even without a new message.
pub fn measure_budget(
    workspace: &Workspace<'_>,
    session: &Session,
    prompt_request: &PromptRequest,
    services: PromptServices<'_>,
) -> Result<BudgetReport, AssembleError> {
    let prepared = assemble_allowing_empty(workspace, session, prompt_request, services)?;
    let tokens = prepared.reply.tokens;
    let history_tokens = history_size(&session.history, services).tokens;
    let percent = if tokens.window == 0 { 0.0 } else { tokens.total as f64 * 100.0 / tokens.window as f64 };
    let calibration = session.calibration(&prepared.reply.model).map(Calibration::report);
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
        needs_summary: session.compaction_status(prepared.size, services, prompt_request.now_ms).due,
        parts: tokens.parts,
        files: prepared.reply.files,
        shed: prepared.reply.shed,
        totals: session.billed_totals(),
        comparison: session.comparison.report(),
    })
}
