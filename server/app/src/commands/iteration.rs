//! `iteration.*`: records the iterations of an autonomous loop, maintains its rolling summary, and builds the prompt
//! for its next iteration.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_conversation::compaction::Summariser;
use strata_conversation::iteration::{
    AgentLoop, ContextualPrompt, FileEvent, FoldRequest, LoopPromise, LoopStatus, NewIteration, RollingConfig,
};
use strata_prompt::assembly::with_token_counters;

use super::{Access, Command, CommandError, Context, NoArguments};
use crate::model::snapshot::Snapshot;
use crate::services::Services;

/// A finished iteration, with changes to the loop's environment and files.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AddParams {
    /// Goal of the loop. Required for the first iteration. A different goal starts a new loop.
    pub goal: Option<String>,
    /// Prompt and outcome of the iteration.
    pub iteration: NewIteration,
    /// Facts about the loop's environment, keyed by name. They replace the recorded ones, which are kept if this is
    /// absent. The value of a fact is withheld if its name suggests a secret.
    pub environment: Option<BTreeMap<String, String>>,
    /// File changes since the previous iteration. Defaults to none.
    #[serde(default)]
    pub file_events: Vec<FileEvent>,
}

/// The loop to build a prompt for.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PromptParams {
    /// Goal of the loop. Defaults to the goal of the running loop. With a different goal, the reply is the first prompt
    /// of a new loop.
    pub goal: Option<String>,
    /// Environment facts to use in this prompt instead of the recorded ones.
    pub environment: Option<BTreeMap<String, String>>,
}

/// An iteration that was recorded.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AddReply {
    /// Number of the iteration within its loop, counted from 1.
    pub number: u64,
    /// Whether the iteration reports that the goal is reached.
    pub promise: LoopPromise,
    /// Outcome of folding older iterations into the summary. Absent if no iterations were due.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fold: Option<FoldOutcome>,
}

/// The outcome of an attempt to fold iterations into the summary.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Fold")]
pub struct FoldOutcome {
    /// Numbers of the iterations that were due to be folded into the summary.
    pub iterations: Vec<u64>,
    /// Who wrote the summary.
    pub by: SummaryAuthor,
    /// Why no usable summary was written. Absent unless `by` is `nobody`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Who wrote the summary.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "FoldedBy")]
pub enum SummaryAuthor {
    Model,
    Extractive,
    /// No usable summary was written. Strata tries again at the next interval. If too many iterations are waiting, it
    /// extracts a summary without a model instead.
    Nobody,
}

pub struct RecordIteration;

impl Command for RecordIteration {
    const NAME: &str = "strata.iteration.add";
    const SUMMARY: &str = "Records an iteration of an autonomous loop.";
    type Args = AddParams;
    type Reply = AddReply;

    /// Returns whether a model may be asked to write the summary.
    fn may_await_reply(snapshot: &Snapshot, services: &Services) -> bool {
        services.has_summary_model(snapshot)
    }

    fn run(params: AddParams, context: &mut Context<'_>) -> Result<AddReply, CommandError> {
        let AddParams { goal, mut iteration, environment, mut file_events } = params;
        if iteration.time_ms == 0 {
            iteration.time_ms = context.now_ms;
        }
        let config = context.snapshot.settings.context.rolling_config();
        let now_ms = context.now_ms;
        let looping = match (context.session.looping.take(), goal) {
            (Some(looping), None) => looping,
            (Some(looping), Some(goal)) if looping.goal == goal => looping,
            (_, Some(goal)) if !goal.trim().is_empty() => AgentLoop::new(goal, now_ms),
            _ => return Err(CommandError::invalid("goal", "the first iteration of a loop must have a goal")),
        };
        let looping = context.session.looping.insert(looping);
        for event in file_events.iter_mut().filter(|event| event.time_ms == 0) {
            event.time_ms = now_ms;
        }
        looping.record_state(environment, file_events);
        let added = looping.add(iteration, &config);
        let fold = added.fold.map(|fold| fold_into_summary(&fold, &config, context)).transpose()?;
        context.session.mark_changed();
        Ok(AddReply { number: added.number, promise: added.promise, fold })
    }
}

pub struct BuildIterationPrompt;

impl Command for BuildIterationPrompt {
    const NAME: &str = "strata.iteration.prompt";
    const SUMMARY: &str = "Builds the prompt for the next iteration.";
    const ACCESS: Access = Access::Reads;
    type Args = PromptParams;
    type Reply = ContextualPrompt;

    fn run(params: PromptParams, context: &mut Context<'_>) -> Result<ContextualPrompt, CommandError> {
        let PromptParams { goal, environment } = params;
        let config = context.snapshot.settings.context.rolling_config();
        let mut looping = match (&context.session.looping, goal) {
            (Some(looping), Some(goal)) if looping.goal == goal => looping.clone(),
            (_, Some(goal)) if !goal.trim().is_empty() => AgentLoop::new(goal, context.now_ms),
            _ => self::agent_loop(context)?.clone(),
        };
        looping.record_state(environment, []);
        Ok(with_token_counters(context.snapshot.prompt_services(), |scales| {
            looping.prompt(&config, scales.text)
        }))
    }
}

pub struct ReportLoopStatus;

impl Command for ReportLoopStatus {
    const NAME: &str = "strata.iteration.status";
    const SUMMARY: &str = "Reports the state of the loop.";
    const ACCESS: Access = Access::Reads;
    type Args = NoArguments;
    type Reply = LoopStatus;

    fn run(_: NoArguments, context: &mut Context<'_>) -> Result<LoopStatus, CommandError> {
        Ok(agent_loop(context)?.status(&context.snapshot.settings.context.rolling_config()))
    }
}

fn agent_loop<'a>(context: &'a Context<'_>) -> Result<&'a AgentLoop, CommandError> {
    let none = "no loop is running in this session; start one with strata.iteration.add and a goal";
    context.session.looping.as_ref().ok_or_else(|| CommandError::failed(none))
}

/// Summarizes iterations with a model if one is configured, and otherwise extracts the summary without one.
fn fold_into_summary(
    fold: &FoldRequest,
    config: &RollingConfig,
    context: &mut Context<'_>,
) -> Result<FoldOutcome, CommandError> {
    let summarizer = context.services.summarizer(context.snapshot);
    let services = context.snapshot.prompt_services();
    let (text, by) = match summarizer.summarizer() {
        Summariser::Extractive => (
            Ok(with_token_counters(services, |scales| fold.extract_summary(scales.text))),
            SummaryAuthor::Extractive,
        ),
        Summariser::Model { window, .. } => {
            let question = with_token_counters(services, |scales| fold.question(window, scales.text));
            (summarizer.ask(&question, context.cancel).map(|answer| answer.text), SummaryAuthor::Model)
        }
    };
    context.cancel.check()?;
    let iterations = fold.iteration_numbers();
    let Some(looping) = context.session.looping.as_mut() else {
        return Err(CommandError::failed("the loop no longer exists"));
    };
    with_token_counters(services, |scales| {
        let fold_in =
            |text: String| looping.apply_fold(fold, &text, scales.text).map_err(|error| error.to_string());
        Ok(match text.and_then(fold_in) {
            Ok(()) => FoldOutcome { iterations, by, problem: None },
            Err(problem) => {
                looping.record_failed_fold(fold, config, scales.text);
                FoldOutcome { iterations, by: SummaryAuthor::Nobody, problem: Some(problem) }
            }
        })
    })
}
