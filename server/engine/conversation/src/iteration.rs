//! The memory of an autonomous loop: the newest iterations verbatim, a running summary of older ones, and the
//! prompt of the next iteration. Does not run iterations, call models or read the clock.
//! `docs/compaction.md`, "Iterations", lists all limits.

mod extract;
mod fold;
mod folding;
mod marker;
mod prompt;
mod question;

use std::collections::BTreeMap;
use std::ops::Deref;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_base::text::clip;

#[cfg(test)]
pub(crate) use fold::FoldKind;
pub use fold::FoldRequest;
#[cfg(test)]
pub(crate) use folding::FoldError;
pub use marker::LoopPromise;
pub use prompt::ContextualPrompt;

/// Maximum characters of an iteration's prompt that are stored.
pub(crate) const MAX_ITERATION_PROMPT_CHARS: usize = 500;
/// Maximum characters of an iteration's output that are stored.
pub(crate) const MAX_ITERATION_OUTPUT_CHARS: usize = 5_000;

/// Maximum number of accomplishments, and of changed files, stored for an iteration.
const MAX_ITERATION_ITEMS: usize = 200;
/// Maximum characters of an accomplishment, a path, or the name of a program or model.
const MAX_NAME_CHARS: usize = 1_000;
/// Maximum number of file events stored. Older ones are dropped.
const MAX_FILE_EVENTS: usize = 1_000;
/// Replaces the value of an environment variable that may contain a secret.
const WITHHELD_VALUE: &str = "[withheld]";

/// Limits on what Strata remembers of an autonomous loop. Fields are named as in the `context` section of the
/// settings.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RollingConfig {
    /// Number of newest iterations to keep verbatim.
    #[schemars(extend("x-workspace" = true))]
    pub raw_window_size: usize,
    /// Number of iterations after which the summary is rewritten; 0 for never.
    #[schemars(extend("x-workspace" = true))]
    pub summarize_every: u64,
    /// Token limit for the summary.
    #[schemars(extend("x-workspace" = true))]
    pub max_summary_tokens: usize,
}

/// An iteration to add to a loop.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct NewIteration {
    /// Time when the iteration ended, in milliseconds since 1970.
    pub time_ms: u64,
    /// Name of the program that ran the iteration.
    pub cli: String,
    /// Name of the model that the iteration used.
    pub model: String,
    /// Prompt of the iteration. Strata keeps its first 500 characters.
    pub prompt: String,
    /// Output of the iteration. Strata keeps its first 5,000 characters.
    pub output: String,
    /// Progress made by the iteration, on a scale of the caller's choice.
    pub progress_score: f64,
    /// Accomplishments in addition to those tagged in the output.
    pub progress_markers: Vec<String>,
    /// Paths of the files that the iteration changed.
    pub file_changes: Vec<String>,
    /// Duration of the iteration, in milliseconds.
    pub duration_ms: u64,
}

/// A stored iteration.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Iteration {
    /// Number of the iteration in its loop, starting at 1.
    pub number: u64,
    /// What the caller reported, as [`NewIteration::clipped`] returns it.
    #[serde(flatten)]
    pub report: NewIteration,
}

/// Kind of change to a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileChange {
    /// The file was created.
    Created,
    /// The content of the file was changed.
    Modified,
    /// The file was deleted.
    Deleted,
}

impl FileChange {
    fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Modified => "modified",
            Self::Deleted => "deleted",
        }
    }
}

/// A change that was made to a file while the loop was running.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FileEvent {
    /// Time of the change, in milliseconds since 1970. Defaults to the current time.
    #[serde(default)]
    pub time_ms: u64,
    /// Path of the changed file.
    pub path: String,
    /// Kind of change.
    pub change: FileChange,
}

/// The memory of an autonomous loop.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AgentLoop {
    pub goal: String,
    /// The newest iterations, in order.
    iterations: Vec<Iteration>,
    /// Iterations that have left the window but are not in the summary yet, in order.
    waiting: Vec<Iteration>,
    /// Summary of older iterations.
    summary: String,
    /// Number of times the summary was replaced, which identifies outdated folds.
    edition: u64,
    /// Whether iterations are folded into the summary at once, or only at the next interval because a fold
    /// failed.
    folding: FoldingState,
    /// Number of iterations so far.
    total: u64,
    /// Time when the loop started, in milliseconds since 1970.
    pub started_ms: u64,
    /// Name of the program that ran the last iteration.
    current_cli: String,
    /// Name of the model that the last iteration used.
    current_model: String,
    /// Number of the last iteration that promised that the goal is reached.
    completed: Option<u64>,
    /// Environment variables as reported, without secrets.
    env_snapshot: BTreeMap<String, String>,
    /// The newest changes to files, in order.
    file_events: Vec<FileEvent>,
}

/// Whether iterations are folded into the summary as soon as they leave the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum FoldingState {
    /// Iterations are folded immediately.
    Running,
    /// A fold failed, so folding is paused until the next interval.
    Paused,
}

/// Result of adding an iteration to a loop.
#[derive(Clone, PartialEq, Debug)]
pub struct AddedIteration {
    /// Number of the iteration in the loop, starting at 1.
    pub number: u64,
    /// Whether the iteration promised that the goal is reached.
    pub promise: LoopPromise,
    /// Iterations to merge into the summary now, if a merge is due.
    pub fold: Option<FoldRequest>,
}

/// State of a loop.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoopStatus {
    /// Goal of the loop.
    pub goal: String,
    /// Number of iterations so far.
    pub total_iterations: u64,
    /// Numbers of the iterations kept verbatim.
    pub window: Vec<u64>,
    /// Numbers of the iterations waiting to be summarized.
    pub waiting: Vec<u64>,
    /// Number of the last summarized iteration; 0 if there is no summary.
    pub summarized: u64,
    /// Summary of older iterations; empty if there is none.
    pub summary: String,
    /// Number of the iteration after which the summary is rewritten. Absent if it is never rewritten.
    pub next_summary_at: Option<u64>,
    /// Name of the program that ran the last iteration.
    pub current_cli: String,
    /// Name of the model that the last iteration used.
    pub current_model: String,
    /// Time when the loop started, in milliseconds since 1970.
    pub started_ms: u64,
    /// Progress score of the last iteration. Absent if there is no iteration in memory.
    pub progress_score: Option<f64>,
    /// Whether an iteration promised that the goal is reached.
    pub promise: LoopPromise,
    /// Number of the last iteration that promised that the goal is reached. Absent if none did.
    pub completed: Option<u64>,
}

impl Default for RollingConfig {
    fn default() -> Self {
        Self { raw_window_size: 5, summarize_every: 10, max_summary_tokens: 2_000 }
    }
}

impl NewIteration {
    /// Cuts texts and lists to their limits, makes the progress score finite, and adds `progress`, the accomplishments
    /// tagged in the whole output.
    fn clipped(self, progress: Vec<String>) -> Self {
        let named = |names: Vec<String>| {
            names.into_iter().take(MAX_ITERATION_ITEMS).map(|name| clip_owned(name, MAX_NAME_CHARS))
        };
        Self {
            cli: clip_owned(self.cli, MAX_NAME_CHARS),
            model: clip_owned(self.model, MAX_NAME_CHARS),
            prompt: clip_owned(self.prompt, MAX_ITERATION_PROMPT_CHARS),
            output: clip_owned(self.output, MAX_ITERATION_OUTPUT_CHARS),
            progress_score: if self.progress_score.is_finite() { self.progress_score } else { 0.0 },
            progress_markers: named(self.progress_markers)
                .chain(progress)
                .take(MAX_ITERATION_ITEMS)
                .collect(),
            file_changes: named(self.file_changes).collect(),
            ..self
        }
    }
}

impl Deref for Iteration {
    type Target = NewIteration;

    fn deref(&self) -> &NewIteration {
        &self.report
    }
}

impl Iteration {
    /// Whether the iteration has no output, not even between tags.
    pub(crate) fn is_silent(&self) -> bool {
        marker::strip_tags(&self.output).trim().is_empty()
    }
}

impl AgentLoop {
    pub fn new(goal: impl Into<String>, started_ms: u64) -> Self {
        Self {
            goal: goal.into(),
            iterations: Vec::new(),
            waiting: Vec::new(),
            summary: String::new(),
            edition: 0,
            folding: FoldingState::Running,
            total: 0,
            started_ms,
            current_cli: String::new(),
            current_model: String::new(),
            completed: None,
            env_snapshot: BTreeMap::new(),
            file_events: Vec::new(),
        }
    }

    /// Adds an iteration. Iterations that leave the window wait until [`AgentLoop::apply_fold`] has summarized them, so
    /// that none is lost.
    pub fn add(&mut self, reported: NewIteration, config: &RollingConfig) -> AddedIteration {
        self.total = self.total.saturating_add(1);
        let number = self.total;
        // Parse the whole output before it is clipped, because tags are often at the end.
        let progress = marker::progress_tags(&reported.output)
            .take(MAX_ITERATION_ITEMS)
            .map(|text| clip(text, MAX_NAME_CHARS).to_owned());
        let progress = progress.collect();
        let promise = marker::parse_promise(&reported.output);
        if promise == LoopPromise::Complete {
            self.completed = Some(number);
        }
        let iteration = Iteration { number, report: reported.clipped(progress) };
        self.current_cli.clone_from(&iteration.cli);
        self.current_model.clone_from(&iteration.model);
        self.iterations.push(iteration);
        let over = self.iterations.len().saturating_sub(config.raw_window_size);
        self.waiting.extend(self.iterations.drain(..over));
        AddedIteration { number, promise, fold: self.due_fold(config) }
    }

    /// Records the environment, if it is known, and changes to files. Replaces the values of variables whose names
    /// suggest secrets.
    pub fn record_state(
        &mut self,
        environment: Option<BTreeMap<String, String>>,
        file_events: impl IntoIterator<Item = FileEvent>,
    ) {
        if let Some(environment) = environment {
            self.env_snapshot = environment.into_iter().map(without_secret).collect();
        }
        let clip = |event: FileEvent| FileEvent { path: clip_owned(event.path, MAX_NAME_CHARS), ..event };
        self.file_events.extend(file_events.into_iter().map(clip));
        let over = self.file_events.len().saturating_sub(MAX_FILE_EVENTS);
        self.file_events.drain(..over);
    }

    #[cfg(test)]
    pub(crate) fn iterations(&self) -> &[Iteration] {
        &self.iterations
    }

    #[cfg(test)]
    pub(crate) fn waiting_iterations(&self) -> &[Iteration] {
        &self.waiting
    }

    #[cfg(test)]
    pub(crate) fn summary(&self) -> &str {
        &self.summary
    }

    #[cfg(test)]
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    pub fn status(&self, config: &RollingConfig) -> LoopStatus {
        let numbers =
            |iterations: &[Iteration]| iterations.iter().map(|iteration| iteration.number).collect();
        let every = config.summarize_every;
        LoopStatus {
            goal: self.goal.clone(),
            total_iterations: self.total,
            window: numbers(&self.iterations),
            waiting: numbers(&self.waiting),
            summarized: self.last_summarized_iteration(),
            summary: self.summary.clone(),
            next_summary_at: (every > 0)
                .then(|| (self.total / every).saturating_add(1).saturating_mul(every)),
            current_cli: self.current_cli.clone(),
            current_model: self.current_model.clone(),
            started_ms: self.started_ms,
            progress_score: self.verbatim_iterations().last().map(|iteration| iteration.progress_score),
            promise: if self.completed.is_some() { LoopPromise::Complete } else { LoopPromise::Open },
            completed: self.completed,
        }
    }

    /// Returns the number of the last summarized iteration; 0 if there is none.
    fn last_summarized_iteration(&self) -> u64 {
        self.verbatim_iterations().next().map_or(self.total, |oldest| oldest.number.saturating_sub(1))
    }

    /// Returns all iterations that are still stored verbatim, in order.
    fn verbatim_iterations(&self) -> impl DoubleEndedIterator<Item = &Iteration> {
        self.waiting.iter().chain(&self.iterations)
    }
}

fn clip_owned(text: String, chars: usize) -> String {
    let head = clip(&text, chars);
    if head.len() == text.len() { text } else { head.to_owned() }
}

/// Withholds the value of an environment variable if its name suggests a secret.
fn without_secret((name, value): (String, String)) -> (String, String) {
    let value = if is_secret(&name) { WITHHELD_VALUE.to_owned() } else { clip_owned(value, MAX_NAME_CHARS) };
    (name, value)
}

/// Whether an environment variable with this name may contain a secret.
fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    ["KEY", "TOKEN", "SECRET", "PASS", "PWD", "CREDENTIAL", "AUTH", "COOKIE"]
        .iter()
        .any(|word| name.contains(word))
        && name != "PWD"
        && name != "OLDPWD"
}

#[cfg(test)]
mod tests;
