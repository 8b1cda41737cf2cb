//! The summary that needs no model: what a conversation did (`facts`), ranked, in the sections that a profile
//! asks for, never longer than its budget. Its words are its own except for short quotations, each on one
//! line. It asks no one, forgets nothing on purpose that fits, and gives the same text for the same messages.

mod budget;
mod concepts;
mod fit;
mod lines;
mod material;
mod recurrence;
mod structure;

use std::sync::Arc;

use crate::conversation::conversation_facts::{ToolPatterns, bundle, facts_after, is_summary};
use crate::conversation::history::Message;

pub(crate) use budget::Budget;
pub(crate) use structure::Structure;

/// Summarizes `messages` within `budget`. `previous` is the text of an earlier summary; those among the messages
/// carry on what they say by themselves, and a text that holds one of them is not read again. `count` counts
/// tokens.
///
/// Never longer than the budget; empty when there is nothing to say or not even one line fits.
pub(crate) fn summarise(
    messages: &[Arc<Message>],
    structure: Structure,
    budget: &Budget,
    tools: &ToolPatterns,
    previous: Option<&str>,
    count: &dyn Fn(&str) -> usize,
) -> String {
    let is_read = |text: &str| {
        let mut summaries =
            messages.iter().filter(|message| is_summary(message)).map(|message| message.text());
        summaries.any(|summary| !summary.is_empty() && text.contains(&summary))
    };
    let previous = previous.filter(|text| !is_read(text));
    let facts = facts_after(previous, messages.iter().map(AsRef::as_ref), tools);
    let widths = lines::Widths::of(budget);
    let lines = material::Material::new(&facts, messages, tools, widths).into_lines(structure);
    fit::fit(structure, lines, &|text| budget.allows(text, count))
}

/// The paths, in as few tokens as can be while each can be read in full: folders are written once
/// (`src/{a.rs,b/c.rs}`). Those that do not fit into `limit_tokens` are left out from the end of the list,
/// and how many they are is told if there is room for that.
pub(crate) fn pinned_paths<P: AsRef<str>>(
    paths: &[P],
    limit_tokens: usize,
    count: &dyn Fn(&str) -> usize,
) -> String {
    let written = |kept: usize| {
        let list = bundle(paths[..kept].iter().map(AsRef::as_ref));
        match paths.len() - kept {
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
