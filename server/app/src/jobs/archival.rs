//! Archives old tool results: asks a model to summarize them. The engine decides which results are archived.

use strata_base::cancel::Cancel;
use strata_conversation::tool_result_archival::{Archival, ArchivalPlan};

use crate::model::snapshot::Snapshot;
use crate::services::Services;

/// Summarizes the tool results to archive, on the caller's thread. Uses excerpts of the results if no model answers.
pub(crate) fn summarize_results(plan: ArchivalPlan, snapshot: &Snapshot, services: &Services) -> Archival {
    let summarizer = services.summarizer(snapshot);
    let answer = plan.question.as_ref().map(|question| summarizer.ask(question, &Cancel::new()));
    if let Some(Err(problem)) = &answer {
        tracing::warn!(%problem, "no model summarized the archived tool results; excerpts of them were used instead");
    }
    let text = answer.and_then(Result::ok).map(|answer| answer.text);
    plan.apply(text.as_deref())
}
