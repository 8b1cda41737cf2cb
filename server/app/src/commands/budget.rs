//! `budget.*`: reports the size of the next request, and limits the requests of a session.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_prompt::budget::{self, BudgetReport};

use super::compaction::ReportedRequestParams;
use super::{Access, Command, CommandError, Context, IndexNeed};

pub struct ReportBudget;

impl Command for ReportBudget {
    const NAME: &str = "strata.budget.report";
    const SUMMARY: &str = "Reports the tokens of the next request, excluding the user's new message.";
    const ACCESS: Access = Access::Reads;
    const INDEX: IndexNeed = IndexNeed::Glance;
    type Args = ReportedRequestParams;
    type Reply = BudgetReport;

    fn run(params: ReportedRequestParams, context: &mut Context<'_>) -> Result<BudgetReport, CommandError> {
        let prompt_request = params.next_prompt_request(context.session, context.now_ms);
        let report = context.snapshot.with_workspace(
            context.session,
            &prompt_request,
            context.cancel,
            |workspace, services| {
                budget::measure_budget(workspace, context.session, &prompt_request, services)
            },
        )??;
        Ok(report)
    }
}

/// Token limit to set for the session.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SetParams {
    /// Maximum input tokens of each request. If absent, the session's own limit is removed and the model's window
    /// applies.
    pub max_input_tokens: Option<usize>,
}

/// The token limit that now applies to requests in the session.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SetReply {
    /// Token limit for a request: the input window minus the reserve for the answer and the margin for estimation
    /// error.
    pub limit: usize,
}

pub struct SetTokenLimit;

impl Command for SetTokenLimit {
    const NAME: &str = "strata.budget.set";
    const SUMMARY: &str = "Sets the maximum input tokens of each request in the session.";
    type Args = SetParams;
    type Reply = SetReply;

    fn run(params: SetParams, context: &mut Context<'_>) -> Result<SetReply, CommandError> {
        context.session.max_input_tokens = params.max_input_tokens;
        context.session.mark_changed();
        let prompt_request = context.session.next_request(context.now_ms);
        let limit = context
            .session
            .request_size(&prompt_request, context.snapshot.prompt_services())
            .limit
            .unwrap_or_default();
        Ok(SetReply { limit })
    }
}
