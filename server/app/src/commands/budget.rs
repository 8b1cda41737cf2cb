//! `budget.report`.

use strata_engine::prompt::budget::{self, BudgetReport};

use super::{Access, Command, CommandError, Context, NoArguments};

pub(super) struct Report;

impl Command for Report {
    const NAME: &str = "strata.budget.report";
    const SUMMARY: &str = "Says what the next request weighs before its prompt.";
    const ACCESS: Access = Access::Reads;
    const NEEDS_INDEX: bool = true;
    type Args = NoArguments;
    type Reply = BudgetReport;

    fn run(_: NoArguments, context: &mut Context<'_>) -> Result<BudgetReport, CommandError> {
        let report =
            context.snapshot.with_workspace(context.session, context.cancel, |workspace, means| {
                budget::report(workspace, context.session, means)
            })??;
        Ok(report)
    }
}
