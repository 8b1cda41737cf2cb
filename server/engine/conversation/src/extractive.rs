//! Summarizes a conversation without a model: ranks its facts (`conversation_facts`) and arranges them in the
//! sections that a profile requires, within a budget. Quotes only short passages, each on one line. The result
//! is deterministic.

mod budget;
mod concepts;
mod fit;
mod lines;
mod material;
mod recurrence;
mod structure;

use std::sync::Arc;

use crate::conversation_facts::{ToolPatterns, extract_facts_after_summary, to_brace_notation};
use crate::history::Message;

pub(crate) use budget::SummaryBudget;
pub(crate) use structure::SummaryStructure;

/// Summarizes `messages` within `budget`. `previous` is an earlier summary. It is ignored if the messages
/// contain it, because summaries among the messages contribute their facts anyway. `count` counts tokens.
///
/// The result never exceeds the budget. It is empty if there are no facts or not even one line fits.
pub(crate) fn summarise(
    messages: &[Arc<Message>],
    structure: SummaryStructure,
    budget: &SummaryBudget,
    tools: &ToolPatterns,
    previous: Option<&str>,
    count: &dyn Fn(&str) -> usize,
) -> String {
    let is_read = |text: &str| {
        let mut summaries =
            messages.iter().filter(|message| message.is_summary()).map(|message| message.text());
        summaries.any(|summary| !summary.is_empty() && text.contains(&summary))
    };
    let previous = previous.filter(|text| !is_read(text));
    let facts = extract_facts_after_summary(previous, messages.iter().map(AsRef::as_ref), tools);
    let widths = lines::LineWidths::from_budget(budget);
    let lines = material::LineCollector::new(&facts, messages, tools, widths).into_lines(structure);
    fit::fit_summary(structure, lines, &|text| budget.allows(text, count))
}

/// Writes paths in few tokens, with common directories factored out (`src/{a.rs,b/c.rs}`). Drops paths beyond
/// `limit_tokens` from the end, and adds their number if there is room.
pub(crate) fn bundle_within_limit<P: AsRef<str>>(
    paths: &[P],
    limit_tokens: usize,
    count: &dyn Fn(&str) -> usize,
) -> String {
    let written = |count: usize| {
        let list = to_brace_notation(paths[..count].iter().map(AsRef::as_ref));
        match paths.len() - count {
            0 => list,
            left => format!("{list} (and {left} more)"),
        }
    };
    let fits = |text: &str| count(text) <= limit_tokens;
    let (mut least, mut most) = (0, paths.len());
    while least < most {
        let middle = least + (most - least).div_ceil(2);
        if fits(&written(middle)) {
            least = middle;
        } else {
            most = middle - 1;
        }
    }
    let text = if least > 0 { written(least) } else { String::new() };
    if fits(&text) { text } else { String::new() }
}

#[cfg(test)]
mod tests;
