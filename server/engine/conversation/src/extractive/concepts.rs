//! Finds concepts: names that the assistant repeatedly writes between backticks, each with its first
//! description.

use std::collections::HashMap;
use std::sync::Arc;

use crate::conversation_facts::{code_spans, one_line, prose_sentences};
use crate::history::{ContentBlock, Message, Role};

/// Maximum number of concepts that are described in a summary.
const MAX_CONCEPTS: usize = 24;
/// Number of messages that must mention a name for it to count as a concept.
const MIN_CONCEPT_MESSAGES: u32 = 3;

struct NameUsage<'a> {
    messages: u32,
    last: usize,
    first: &'a str,
}

/// Returns lines of the form `name: description`, most frequent names first.
pub(super) fn concepts(messages: &[Arc<Message>], width: usize) -> Vec<String> {
    let mut occurrences: HashMap<&str, NameUsage<'_>> = HashMap::new();
    for (index, text) in assistant_texts(messages) {
        for name in code_spans(text).filter(|name| is_concept(name)) {
            let entry =
                occurrences.entry(name).or_insert(NameUsage { messages: 0, last: usize::MAX, first: text });
            if entry.last != index {
                entry.messages += 1;
                entry.last = index;
            }
        }
    }
    let mut frequent: Vec<(&str, NameUsage<'_>)> = occurrences
        .into_iter()
        .filter(|(_, occurrence)| occurrence.messages >= MIN_CONCEPT_MESSAGES)
        .collect();
    frequent.sort_unstable_by(|(a, one), (b, other)| {
        other.messages.cmp(&one.messages).then(other.last.cmp(&one.last)).then(a.cmp(b))
    });
    frequent.truncate(MAX_CONCEPTS);
    frequent
        .into_iter()
        .filter_map(|(name, occurrence)| describe_name(name, occurrence.first, width))
        .collect()
}

/// Returns the text blocks of the assistant's messages, each with the index of its message.
fn assistant_texts(messages: &[Arc<Message>]) -> impl Iterator<Item = (usize, &str)> {
    let is_from_assistant =
        |message: &&Arc<Message>| message.body.role == Role::Assistant && !message.is_summary();
    messages.iter().filter(is_from_assistant).enumerate().flat_map(|(index, message)| {
        message.body.content.iter().filter_map(move |block| match block {
            ContentBlock::Text { text } => Some((index, text.as_str())),
            _ => None,
        })
    })
}

/// Whether `name` may be a type, function or setting. Excludes paths, command lines and values.
fn is_concept(name: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '-' | '(' | ')' | '.' | '<' | '>');
    let is_file = name
        .rsplit_once('.')
        .is_some_and(|(_, ending)| (1..=4).contains(&ending.len()) && !name.ends_with(')'));
    (4..=48).contains(&name.len())
        && name.chars().all(is_name)
        && name.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && !is_file
}

/// Formats the first sentence of `text` that contains `name`; `None` if there is none.
fn describe_name(name: &str, text: &str, width: usize) -> Option<String> {
    let sentence = prose_sentences(text).find(|sentence| sentence.contains(name))?;
    Some(format!("`{name}`: {}", one_line(sentence, width)))
}
