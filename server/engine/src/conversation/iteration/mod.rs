//! The memory of an autonomous loop: the newest iterations verbatim, a running summary of older ones, and the prompt for the
//! next. A value: runs no iteration, asks no model and reads no clock. `docs/compaction.md`, "Iterations", has all numbers.

mod extract;
mod fold;
mod folding;
mod marker;
mod prompt;
mod question;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::clip;

pub use fold::Fold;
#[cfg(test)]
pub(crate) use fold::FoldKind;
#[cfg(test)]
pub(crate) use folding::NotFolded;
pub use marker::Promise;
pub use prompt::ContextualPrompt;

/// Characters of an iteration's prompt that are kept.
pub(crate) const PROMPT_CHARS: usize = 500;
/// Characters of an iteration's output that are kept.
pub(crate) const OUTPUT_CHARS: usize = 5_000;

/// Progress texts and changed files that are kept of one iteration.
const MOST_NAMED: usize = 200;
/// Characters of each of them, of the path of an event, and of the names of a program and a model.
const NAME_CHARS: usize = 1_000;
/// File events that are kept; the oldest go.
const MOST_EVENTS: usize = 1_000;
/// Replaces a value of the environment that may be a secret.
const WITHHELD: &str = "[withheld]";

/// Memory limits of a loop, named as in the `context` section of its settings.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RollingConfig {
    /// Iterations that are kept verbatim.
    #[schemars(extend("x-workspace" = true))]
    pub raw_window_size: usize,
    /// Iterations between updates of the summary; 0 for never.
    #[schemars(extend("x-workspace" = true))]
    pub summarize_every: u64,
    /// The most that the summary may take, in tokens.
    #[schemars(extend("x-workspace" = true))]
    pub max_summary_tokens: usize,
}

/// An iteration as reported.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct NewIteration {
    /// When it ended, in milliseconds since 1970.
    pub time_ms: u64,
    /// The program that ran it.
    pub cli: String,
    /// The model that ran it.
    pub model: String,
    /// Its prompt.
    pub prompt: String,
    /// Its output.
    pub output: String,
    /// How far it got, as the caller judges.
    pub progress_score: f64,
    /// Accomplishments in addition to those in the output.
    pub progress_markers: Vec<String>,
    /// Paths of the files that it changed.
    pub file_changes: Vec<String>,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
}

/// An iteration as remembered.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Iteration {
    /// Its place in the loop, from 1.
    pub number: u64,
    /// When it ended, in milliseconds since 1970.
    pub time_ms: u64,
    /// The program that ran it.
    pub cli: String,
    /// The model that ran it.
    pub model: String,
    /// Its prompt, clipped to [`PROMPT_CHARS`].
    pub prompt: String,
    /// Its output, clipped to [`OUTPUT_CHARS`].
    pub output: String,
    /// How far it got, as the caller judges; finite.
    pub progress_score: f64,
    /// Accomplishments: reported ones, then those in the whole output.
    pub progress_markers: Vec<String>,
    /// Paths of the files that it changed.
    pub file_changes: Vec<String>,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
}

/// What happened to a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileChange {
    /// It was not there before.
    Created,
    /// Its content changed.
    Modified,
    /// It is gone.
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

/// Something that happened to a file while the loop ran.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FileEvent {
    /// When, in milliseconds since 1970; now when absent.
    #[serde(default)]
    pub time_ms: u64,
    /// The file.
    pub path: String,
    /// The kind of change.
    pub change: FileChange,
}

/// A loop and all that it remembers.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Loop {
    /// The goal of the loop.
    pub goal: String,
    /// The newest iterations, in order.
    iterations: Vec<Iteration>,
    /// Iterations that have left the window and are in no summary yet, in order; all older than those in the window.
    waiting: Vec<Iteration>,
    /// The summary of older iterations.
    summary: String,
    /// Counts the summaries, so that an answer to a question about an older one is known.
    edition: u64,
    /// Whether an attempt to fold failed since the last interval.
    folding: Folding,
    /// How many iterations there were.
    total: u64,
    /// When the loop began, in milliseconds since 1970.
    pub started_ms: u64,
    /// The program that ran the last iteration.
    current_cli: String,
    /// The model that ran the last iteration.
    current_model: String,
    /// The last iteration that promised that the goal is reached.
    completed: Option<u64>,
    /// The environment as reported.
    env_snapshot: BTreeMap<String, String>,
    /// Changes of files.
    file_events: Vec<FileEvent>,
}

/// Whether older iterations are folded into the summary as they leave the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Folding {
    /// In progress.
    Running,
    /// Paused until the next interval after a failure.
    Paused,
}

/// The result of adding an iteration.
#[derive(Clone, PartialEq, Debug)]
pub struct AddedIteration {
    /// The iteration's place in the loop, from 1.
    pub number: u64,
    /// Whether it said that the goal is reached.
    pub promise: Promise,
    /// What to fold into the summary now.
    pub fold: Option<Fold>,
}

/// The state of a loop.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoopStatus {
    /// Its goal.
    pub goal: String,
    /// How many iterations there were.
    pub total_iterations: u64,
    /// Numbers of the iterations kept verbatim.
    pub window: Vec<u64>,
    /// Numbers of the iterations waiting for the summary.
    pub waiting: Vec<u64>,
    /// The summary holds the iterations from 1 to this one.
    pub summarized: u64,
    /// The summary.
    pub summary: String,
    /// The iteration after which it is written again.
    pub next_summary_at: Option<u64>,
    /// The program that ran the last iteration.
    pub current_cli: String,
    /// The model that ran the last iteration.
    pub current_model: String,
    /// When the loop began, in milliseconds since 1970.
    pub started_ms: u64,
    /// How far the last iteration got.
    pub progress_score: Option<f64>,
    /// Whether the goal is reached.
    pub promise: Promise,
    /// The last iteration that said so.
    pub completed: Option<u64>,
}

impl Default for RollingConfig {
    fn default() -> Self {
        Self { raw_window_size: 5, summarize_every: 10, max_summary_tokens: 2_000 }
    }
}

impl NewIteration {
    fn numbered(self, number: u64, said: Vec<String>) -> Iteration {
        let named =
            |names: Vec<String>| names.into_iter().take(MOST_NAMED).map(|name| clipped(name, NAME_CHARS));
        Iteration {
            number,
            time_ms: self.time_ms,
            cli: clipped(self.cli, NAME_CHARS),
            model: clipped(self.model, NAME_CHARS),
            prompt: clipped(self.prompt, PROMPT_CHARS),
            output: clipped(self.output, OUTPUT_CHARS),
            progress_score: if self.progress_score.is_finite() { self.progress_score } else { 0.0 },
            progress_markers: named(self.progress_markers).chain(said).take(MOST_NAMED).collect(),
            file_changes: named(self.file_changes).collect(),
            duration_ms: self.duration_ms,
        }
    }
}

impl Iteration {
    /// Whether it said nothing, not even between tags.
    pub(crate) fn is_silent(&self) -> bool {
        marker::untagged(&self.output).trim().is_empty()
    }
}

impl Loop {
    /// A loop before its first iteration.
    pub fn new(goal: impl Into<String>, started_ms: u64) -> Self {
        Self {
            goal: goal.into(),
            iterations: Vec::new(),
            waiting: Vec::new(),
            summary: String::new(),
            edition: 0,
            folding: Folding::Running,
            total: 0,
            started_ms,
            current_cli: String::new(),
            current_model: String::new(),
            completed: None,
            env_snapshot: BTreeMap::new(),
            file_events: Vec::new(),
        }
    }

    /// Remembers one more iteration. What leaves the window waits until [`Loop::fold`] has put it into the summary; it
    /// is never lost on the way.
    pub fn add(&mut self, reported: NewIteration, config: &RollingConfig) -> AddedIteration {
        self.total = self.total.saturating_add(1);
        let number = self.total;
        // Read from the whole output: what counts is often said last.
        let said =
            marker::progress(&reported.output).take(MOST_NAMED).map(|text| clip(text, NAME_CHARS).to_owned());
        let said = said.collect();
        let promise = marker::promise(&reported.output);
        if promise == Promise::Complete {
            self.completed = Some(number);
        }
        let iteration = reported.numbered(number, said);
        self.current_cli.clone_from(&iteration.cli);
        self.current_model.clone_from(&iteration.model);
        self.iterations.push(iteration);
        let over = self.iterations.len().saturating_sub(config.raw_window_size);
        self.waiting.extend(self.iterations.drain(..over));
        AddedIteration { number, promise, fold: self.due(config) }
    }

    /// Records the environment. Omits values whose names suggest secrets.
    pub fn note_environment(&mut self, environment: BTreeMap<String, String>) {
        self.env_snapshot = environment
            .into_iter()
            .map(|(name, value)| {
                let value = if is_secret(&name) { WITHHELD.to_owned() } else { clipped(value, NAME_CHARS) };
                (name, value)
            })
            .collect();
    }

    /// Something happened to a file.
    pub fn note_file(&mut self, event: FileEvent) {
        self.file_events.push(FileEvent { path: clipped(event.path, NAME_CHARS), ..event });
        let over = self.file_events.len().saturating_sub(MOST_EVENTS);
        self.file_events.drain(..over);
    }

    /// The newest iterations, in order.
    #[cfg(test)]
    pub(crate) fn iterations(&self) -> &[Iteration] {
        &self.iterations
    }

    /// Iterations that left the window and are not in the summary yet, in order.
    #[cfg(test)]
    pub(crate) fn waiting(&self) -> &[Iteration] {
        &self.waiting
    }

    /// The summary of older iterations; empty at first.
    #[cfg(test)]
    pub(crate) fn summary(&self) -> &str {
        &self.summary
    }

    /// How many iterations there were.
    #[cfg(test)]
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// The state of the loop.
    pub fn status(&self, config: &RollingConfig) -> LoopStatus {
        let numbers =
            |iterations: &[Iteration]| iterations.iter().map(|iteration| iteration.number).collect();
        let every = config.summarize_every;
        LoopStatus {
            goal: self.goal.clone(),
            total_iterations: self.total,
            window: numbers(&self.iterations),
            waiting: numbers(&self.waiting),
            summarized: self.summarized(),
            summary: self.summary.clone(),
            next_summary_at: (every > 0)
                .then(|| (self.total / every).saturating_add(1).saturating_mul(every)),
            current_cli: self.current_cli.clone(),
            current_model: self.current_model.clone(),
            started_ms: self.started_ms,
            progress_score: self.raw().last().map(|iteration| iteration.progress_score),
            promise: if self.completed.is_some() { Promise::Complete } else { Promise::Open },
            completed: self.completed,
        }
    }

    /// The last iteration that the summary holds; 0 when it holds none.
    fn summarized(&self) -> u64 {
        self.raw().next().map_or(self.total, |oldest| oldest.number.saturating_sub(1))
    }

    /// All iterations that are still there verbatim, in order.
    fn raw(&self) -> impl DoubleEndedIterator<Item = &Iteration> {
        self.waiting.iter().chain(&self.iterations)
    }
}

fn clipped(text: String, chars: usize) -> String {
    let kept = clip(&text, chars);
    if kept.len() == text.len() { text } else { kept.to_owned() }
}

/// Whether a variable of this name may hold a secret.
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
