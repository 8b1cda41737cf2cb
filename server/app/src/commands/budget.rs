//! `budget.report`.

use strata_engine::prompt::budget::{self, BudgetReport};

use super::{CommandError, Context, NoArguments};

pub(super) fn report(_: NoArguments, context: &mut Context<'_>) -> Result<BudgetReport, CommandError> {
    let report =
        context.snapshot.with_workspace(context.session, context.cancel, |workspace, means| {
            budget::report(workspace, context.session, means)
        })??;
    Ok(report)
}
