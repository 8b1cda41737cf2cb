//! Summarizes iterations without a model. Uses the reported accomplishments and changed files, and extracts
//! decisions, failures and next steps from the output with the rules of `conversation_facts`. `extractive`
//! ranks the facts and fits them into the budget.

use std::sync::Arc;

use strata_base::text::clip_to_tokens;

use crate::conversation_facts::{ToolPatterns, one_line, prose_sentences};
use crate::extractive::{SummaryBudget, SummaryStructure, summarise};
use crate::history::{Message, MessageId, MessageKind, NewMessage, Role};

use super::Iteration;
use super::fold::FoldRequest;
use super::marker::strip_tags;

/// Maximum number of words in a summary.
const MAX_SUMMARY_WORDS: usize = 500;
/// Maximum characters of an accomplishment, a path or a next step.
const MAX_FACT_CHARS: usize = 300;
/// Summary if the iterations contain no facts that the rules recognize.
const EMPTY_SUMMARY: &str = "The iterations so far produced nothing to report.";
/// Beginnings of sentences about next steps.
const NEXT_STEP_PREFIXES: [&str; 9] =
    ["next", "need to", "needs to", "todo", "to do", "remaining", "still to", "still need", "pending"];

impl FoldRequest {
    /// Summarizes the existing summary and the iterations without a model, within the budget. The result is
    /// deterministic. `count` counts tokens.
    pub fn extract_summary(&self, count: &dyn Fn(&str) -> usize) -> String {
        extract_summary(self, count)
    }
}

pub(super) fn extract_summary(fold: &FoldRequest, count: &dyn Fn(&str) -> usize) -> String {
    let silence = fold.silent_iterations_note();
    let note = silence.map(|silence| format!("\n\n{silence}")).unwrap_or_default();
    let words = note.split_whitespace().count();
    let budget = SummaryBudget {
        tokens: fold.max_tokens.saturating_sub(count(&note)),
        words: Some((0, MAX_SUMMARY_WORDS.saturating_sub(words))),
    };
    // Only the latest next steps still apply.
    let steps =
        fold.iterations.iter().rev().map(next_steps).find(|steps| !steps.is_empty()).unwrap_or_default();
    let existing = if steps.is_empty() { fold.existing.clone() } else { without_next_steps(&fold.existing) };
    let as_messages = |(at, iteration): (usize, &Iteration)| {
        let lines = fact_lines(iteration);
        let id = MessageId(2 * at as u64);
        let facts = (!lines.is_empty()).then(|| summary_message(id, lines));
        let output = Arc::new(Message {
            id: MessageId(2 * at as u64 + 1),
            body: NewMessage {
                kind: MessageKind::Iteration,
                ..NewMessage::text(Role::Assistant, strip_tags(&iteration.output))
            },
        });
        facts.into_iter().chain([output])
    };
    let mut messages: Vec<Arc<Message>> = fold.iterations.iter().enumerate().flat_map(as_messages).collect();
    if !steps.is_empty() {
        let lines = steps.into_iter().map(|text| format!("- ⏳ {text}")).collect::<Vec<_>>().join("\n");
        messages.push(summary_message(MessageId(2 * fold.iterations.len() as u64), lines));
    }
    let previous = (!existing.is_empty()).then_some(existing.as_str());
    let text =
        summarise(&messages, SummaryStructure::Rolling, &budget, &ToolPatterns::default(), previous, count);
    let text = match (text.is_empty(), fold.existing.is_empty()) {
        (false, _) => text,
        // Keep the existing summary if the iterations contain no facts that the rules recognize.
        (true, false) => clip_to_tokens(&fold.existing, budget.tokens, count),
        (true, true) if note.is_empty() => EMPTY_SUMMARY.to_owned(),
        (true, true) => text,
    };
    clip_to_tokens(format!("{text}{note}").trim(), fold.max_tokens, count)
}

/// Formats the reported facts of an iteration as lines that `conversation_facts` parses.
fn fact_lines(iteration: &Iteration) -> String {
    let done =
        iteration.progress_markers.iter().map(|text| format!("- Done: {}", one_line(text, MAX_FACT_CHARS)));
    let changed =
        iteration.file_changes.iter().map(|path| format!("- edited: {}", one_line(path, MAX_FACT_CHARS)));
    done.chain(changed).collect::<Vec<_>>().join("\n")
}

/// Returns the next steps in an output: sentences with one of the beginnings in [`NEXT_STEP_PREFIXES`], and items under
/// such a heading.
fn next_steps(iteration: &Iteration) -> Vec<String> {
    let output = strip_tags(&iteration.output);
    let mut in_next_steps = false;
    let mut steps = Vec::new();
    for line in output.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let item = line.trim_start_matches(['-', '*', '+', ' ']);
        let is_item = item.len() < line.len() && !item.is_empty();
        if line.starts_with('#') || (line.ends_with(':') && !is_item) {
            in_next_steps = is_next_step(line.trim_start_matches(['#', ' ', '*']));
        } else if is_item && in_next_steps {
            steps.push(one_line(item, MAX_FACT_CHARS));
        } else {
            let sentence = prose_sentences(line)
                .filter(|sentence| is_next_step(sentence.trim_start_matches(['-', '*', '+', ' '])));
            steps.extend(sentence.map(|sentence| one_line(sentence, MAX_FACT_CHARS)));
        }
    }
    steps
}

fn is_next_step(text: &str) -> bool {
    NEXT_STEP_PREFIXES
        .iter()
        .any(|word| text.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word)))
}

fn without_next_steps(summary: &str) -> String {
    let mut in_next_steps = false;
    let lines = summary.lines().filter(|line| {
        if line.starts_with('#') {
            in_next_steps = line.to_ascii_lowercase().contains("next steps");
        }
        !in_next_steps
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn summary_message(id: MessageId, text: String) -> Arc<Message> {
    Arc::new(Message {
        id,
        body: NewMessage { kind: MessageKind::Summary, ..NewMessage::text(Role::Assistant, text) },
    })
}
