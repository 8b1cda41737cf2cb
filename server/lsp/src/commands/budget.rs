//! `budget.report` and `compaction.status`.

use strata_engine::budget::{self, BudgetReport};
use strata_engine::compaction::CompactionStatus;
use strata_engine::prompt::history_tokens;

use super::{CommandError, Context, NoArguments};

pub(super) fn report(_: NoArguments, context: &mut Context<'_>) -> Result<BudgetReport, CommandError> {
    let report =
        context.snapshot.with_workspace(context.session, context.cancel, |workspace, means| {
            budget::report(workspace, context.session, means)
        })??;
    Ok(report)
}

pub(super) fn compaction_status(
    _: NoArguments,
    context: &mut Context<'_>,
) -> Result<CompactionStatus, CommandError> {
    let means = context.snapshot.means();
    let tokens = history_tokens(context.session, means);
    Ok(CompactionStatus::new(&means.settings.compaction, tokens))
}
