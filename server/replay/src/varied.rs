//! Varied sessions (`docs/tiers.md`): turns a session from a Git history into one closer to a working day. Inserts
//! questions without edits, an agent's tool calls, pauses, another branch, prompts to a second model, and a compaction,
//! and sometimes requests two commits at once. The trace and a seed determine everything.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use strata_conversation::trace::{SelectionRule, Trace, TraceTurn};
use strata_tokens::cost::OBSERVED_PAUSES_SECONDS;

use crate::rng::Rng;

/// Time between two prompts of a replay, in milliseconds. Cache entries with a lifetime of five minutes survive it.
pub(crate) const PROMPT_PAUSE_MS: u64 = 60_000;

/// Time that an agent's tool takes.
const TOOL_DURATION_MS: u64 = 5_000;
/// Pauses between an answer and the next prompt, drawn with equal probability. Only the last is longer than five minutes.
const PAUSES_MS: [u64; 10] = [
    PROMPT_PAUSE_MS,
    PROMPT_PAUSE_MS,
    PROMPT_PAUSE_MS,
    PROMPT_PAUSE_MS,
    PROMPT_PAUSE_MS,
    PROMPT_PAUSE_MS,
    PROMPT_PAUSE_MS,
    150_000,
    150_000,
    420_000,
];
/// The pause over lunch, once per session.
const LUNCH_MS: u64 = 45 * 60_000;
/// Number of turns whose changes are undone on another branch.
const TURNS_UNDONE_ON_BRANCH: usize = 5;
/// Maximum lines of a file that a tool returns.
const MAX_READ_LINES: usize = 100;

/// How a turn is played, beyond what its trace says.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct TurnConditions {
    /// Time since the previous prompt, in milliseconds.
    pub(crate) pause_ms: u64,
    /// Input of the tool call that ends the answer. The next turn's prompt is then its result.
    pub(crate) call: Option<Value>,
    /// Whether the prompt goes to a second model.
    pub(crate) is_for_second_model: bool,
    /// Whether the conversation is compacted before the turn.
    pub(crate) is_compacted: bool,
}

impl TurnConditions {
    /// Conditions of every turn of a session that is not varied.
    pub(crate) const PLAIN: Self =
        Self { pause_ms: PROMPT_PAUSE_MS, call: None, is_for_second_model: false, is_compacted: false };
}

/// A session as it is played.
pub(crate) struct PlayedSession<'a> {
    pub(crate) trace: Cow<'a, Trace>,
    /// How the files are selected, for example `win3` (see [`SelectionRule`]) or `people`.
    pub(crate) selection: String,
    /// Conditions of each turn; empty if all are [`TurnConditions::PLAIN`].
    conditions: Vec<TurnConditions>,
}

impl<'a> PlayedSession<'a> {
    /// A session whose turns are a minute apart.
    pub(crate) fn new(trace: Cow<'a, Trace>, selection: String) -> Self {
        Self { trace, selection, conditions: Vec::new() }
    }

    /// A session that is played as it was recorded.
    pub(crate) fn plain(trace: &'a Trace) -> Self {
        Self::new(Cow::Borrowed(trace), trace.sel.to_string())
    }

    pub(crate) fn is_varied(&self) -> bool {
        !self.conditions.is_empty()
    }

    /// Draws the pauses between turns from those of people. Those before the results of tools stay short.
    pub(crate) fn with_human_pauses(mut self, seed: u64) -> Self {
        let mut rng = Rng::new(seed ^ self.trace.turns.len() as u64);
        self.conditions.resize(self.trace.turns.len(), TurnConditions::PLAIN);
        for conditions in
            self.conditions.iter_mut().filter(|conditions| conditions.pause_ms != TOOL_DURATION_MS)
        {
            conditions.pause_ms = rng.draw(&OBSERVED_PAUSES_SECONDS) * 1_000;
        }
        self
    }

    pub(crate) fn conditions(&self, turn: usize) -> &TurnConditions {
        self.conditions.get(turn).unwrap_or(&TurnConditions::PLAIN)
    }
}

impl PlayedSession<'static> {
    /// Varies a session.
    pub(crate) fn varied(trace: &Trace, seed: u64) -> Self {
        let mut builder = VariedSessionBuilder {
            draws: Rng::for_session(&trace.name, seed),
            files: trace.files0.clone(),
            undo: Vec::new(),
            turns: Vec::new(),
            conditions: Vec::new(),
        };
        let turns = builder.join_some_turns(&trace.turns);
        let selected = selections(&turns, trace.sel);
        for (at, (turn, selected)) in turns.iter().zip(&selected).enumerate() {
            builder.vary_turn(turn, selected, TurnPosition { turn: at, of: turns.len() });
        }
        let VariedSessionBuilder { turns, conditions, .. } = builder;
        // Each turn lists all its files, so that inserted turns do not shorten a selection.
        let varied = Trace {
            name: trace.name.clone(),
            files0: trace.files0.clone(),
            recency: trace.recency.clone(),
            sel: SelectionRule::Window(0),
            turns,
        };
        Self { conditions, ..Self::new(Cow::Owned(varied), trace.sel.to_string()) }
    }
}

/// Position of a turn in its session.
#[derive(Clone, Copy)]
struct TurnPosition {
    turn: usize,
    of: usize,
}

struct VariedSessionBuilder {
    draws: Rng,
    files: BTreeMap<String, String>,
    /// Texts that the last turns replaced, to switch to an earlier state.
    undo: Vec<BTreeMap<String, Option<String>>>,
    turns: Vec<TraceTurn>,
    conditions: Vec<TurnConditions>,
}

impl VariedSessionBuilder {
    /// Joins a quarter of the turns with the next one, so that one answer makes several edits.
    fn join_some_turns(&mut self, turns: &[TraceTurn]) -> Vec<TraceTurn> {
        let mut joined: Vec<TraceTurn> = Vec::new();
        let mut is_open = false;
        for turn in turns {
            match joined.last_mut().filter(|last| is_open && last.ext.is_empty()) {
                Some(last) => {
                    last.prompt = format!("{}\n\n{}", last.prompt, turn.prompt);
                    last.answer = format!("{}\n{}", last.answer, turn.answer);
                    last.edits.extend(turn.edits.clone());
                    last.touched.extend(turn.touched.clone());
                    last.ext = turn.ext.clone();
                    is_open = false;
                }
                None => {
                    joined.push(turn.clone());
                    is_open = self.draws.once_in(4);
                }
            }
        }
        joined
    }

    fn vary_turn(&mut self, turn: &TraceTurn, selected: &[String], at: TurnPosition) {
        if at.turn > 0 && at.turn == at.of / 3 {
            self.add_branch_questions(turn, selected);
        }
        if self.draws.once_in(4) {
            for _ in 0..=self.draws.next_below(2) {
                let is_for_second_model = self.draws.once_in(4);
                self.add_question(turn, selected, is_for_second_model);
            }
        }
        let first = self.turns.len();
        if self.draws.once_in(3) {
            self.add_agent_turns(turn, selected);
        } else {
            let pause_ms = self.draw_pause_ms();
            self.push(turn.clone(), selected, TurnConditions { pause_ms, ..TurnConditions::PLAIN });
        }
        if let Some(conditions) = self.conditions.get_mut(first) {
            if at.turn == at.of / 2 {
                conditions.pause_ms = LUNCH_MS;
            }
            conditions.is_compacted = at.turn > 0 && at.turn == at.of * 3 / 4;
        }
    }

    /// Adds a question about the next change that the model answers without an edit.
    fn add_question(&mut self, next: &TraceTurn, selected: &[String], is_for_second_model: bool) {
        let subject = next.prompt.lines().next().unwrap_or_default();
        let turn = TraceTurn {
            prompt: format!("What has to change for this: {subject}"),
            answer: format!("{}\n", next.prompt).repeat(1 + self.draws.next_below(8)),
            ..TraceTurn::default()
        };
        let pause_ms = self.draw_pause_ms();
        self.push(turn, selected, TurnConditions { pause_ms, is_for_second_model, ..TurnConditions::PLAIN });
    }

    /// Adds two questions on a branch without the changes of the last turns.
    fn add_branch_questions(&mut self, next: &TraceTurn, selected: &[String]) {
        let mut before: BTreeMap<String, Option<String>> = BTreeMap::new();
        for undo in self.undo.iter().rev().take(TURNS_UNDONE_ON_BRANCH) {
            before.extend(undo.iter().map(|(path, text)| (path.clone(), text.clone())));
        }
        let after = before.keys().map(|path| (path.clone(), self.files.get(path).cloned())).collect();
        if let Some(last) = self.turns.last_mut() {
            last.ext.extend(before);
        }
        self.add_question(next, selected, false);
        self.add_question(next, selected, false);
        if let Some(last) = self.turns.last_mut() {
            last.ext = after;
        }
    }

    /// Adds a turn of an agent: it reads up to four files, makes each change with a tool, and then answers.
    fn add_agent_turns(&mut self, turn: &TraceTurn, selected: &[String]) {
        let mut calls = Vec::new();
        for _ in 0..=self.draws.next_below(4) {
            let path =
                self.files.keys().nth(self.draws.next_below(self.files.len())).cloned().unwrap_or_default();
            let text = self.files.get(&path).map_or("", String::as_str);
            let lines: Vec<&str> = text.split_inclusive('\n').collect();
            let from = self.draws.next_below(lines.len());
            let result = lines.iter().skip(from).take(MAX_READ_LINES).copied().collect();
            let input = json!({"read": path, "line": from + 1});
            calls.push(ToolCall { input, result, edits: BTreeMap::new() });
        }
        for (path, text) in &turn.edits {
            let input = edit_tool_input(path, self.files.get(path).map(String::as_str), text.as_deref());
            let edits = BTreeMap::from([(path.clone(), text.clone())]);
            calls.push(ToolCall { input, result: "done".to_owned(), edits });
        }
        let (mut prompt, mut pause_ms) = (turn.prompt.clone(), self.draw_pause_ms());
        for ToolCall { input, result, edits } in calls {
            let step = TraceTurn { prompt, edits, ..TraceTurn::default() };
            self.push(
                step,
                selected,
                TurnConditions { pause_ms, call: Some(input), ..TurnConditions::PLAIN },
            );
            (prompt, pause_ms) = (result, TOOL_DURATION_MS);
        }
        let answer = format!("Done: {}\n", turn.prompt);
        let last = TraceTurn { prompt, answer, ext: turn.ext.clone(), ..TraceTurn::default() };
        self.push(last, selected, TurnConditions { pause_ms, ..TurnConditions::PLAIN });
    }

    fn push(&mut self, mut turn: TraceTurn, selected: &[String], conditions: TurnConditions) {
        selected.clone_into(&mut turn.touched);
        let mut undo = BTreeMap::new();
        for (path, text) in turn.edits.iter().chain(&turn.ext) {
            let before = match text {
                Some(text) => self.files.insert(path.clone(), text.clone()),
                None => self.files.remove(path),
            };
            undo.entry(path.clone()).or_insert(before);
        }
        self.undo.push(undo);
        self.turns.push(turn);
        self.conditions.push(conditions);
    }

    fn draw_pause_ms(&mut self) -> u64 {
        self.draws.draw(&PAUSES_MS)
    }
}

/// A call of an agent's tool.
struct ToolCall {
    input: Value,
    result: String,
    /// The new text of each file that the call changes, or `None` for a deleted file.
    edits: BTreeMap<String, Option<String>>,
}

/// Returns the files that a session selects in each turn.
fn selections(turns: &[TraceTurn], rule: SelectionRule) -> Vec<Vec<String>> {
    let selection = |at: usize| {
        let first = rule.window_turns().map_or(0, |window| at.saturating_sub(window as usize));
        let window = turns.get(first..=at).unwrap_or_default();
        let files: BTreeSet<&String> = window.iter().flat_map(|turn| &turn.touched).collect();
        files.into_iter().cloned().collect()
    };
    (0..turns.len()).map(selection).collect()
}

/// Returns the input of an editing tool that makes a change: the changed lines with the line before them, or a new text.
fn edit_tool_input(path: &str, before: Option<&str>, after: Option<&str>) -> Value {
    let Some(after) = after else { return json!({"delete": path}) };
    let Some(before) = before else { return json!({"path": path, "content": after}) };
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let new: Vec<&str> = after.split_inclusive('\n').collect();
    let same = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let shorter = old.len().min(new.len()) - same;
    let same_end =
        old.iter().rev().zip(new.iter().rev()).take(shorter).take_while(|(old, new)| old == new).count();
    let from = same.saturating_sub(1);
    let passage = |lines: &[&str]| lines.get(from..lines.len() - same_end).unwrap_or_default().concat();
    json!({"path": path, "old_string": passage(&old), "new_string": passage(&new)})
}

#[cfg(test)]
mod tests;
