//! The lines that contain a name, listed as references or not.

use std::collections::BTreeSet;

use strata_base::text::LineStarts;

use super::report::NonReferenceLineCounts;

/// The lines of a file that contain a name as a word.
pub(super) struct NameLines {
    pub(super) starts: LineStarts,
    words: BTreeSet<u32>,
    /// Lines on which code mentions the name.
    mentions: BTreeSet<u32>,
    /// Lines that are reported as references.
    hits: BTreeSet<u32>,
    pub(super) text_kind: TextKind,
}

/// The kind of text that contains lines.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TextKind {
    Code,
    /// Code that is not separated from its comments and strings.
    Unparsed,
    Document,
}

impl NameLines {
    pub(super) fn new(text: &str, name: &str) -> Self {
        let mut starts = word_starts(text, name).peekable();
        let lines = if starts.peek().is_some() { LineStarts::new(text) } else { LineStarts::new("") };
        let words = starts.map(|start| lines.line(start)).collect();
        let (mentions, hits) = (BTreeSet::new(), BTreeSet::new());
        Self { starts: lines, words, mentions, hits, text_kind: TextKind::Code }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    pub(super) fn add_mention_line(&mut self, byte: usize) {
        self.mentions.insert(self.starts.line(byte));
    }

    pub(super) fn add_hit_line(&mut self, byte: usize) {
        self.hits.insert(self.starts.line(byte));
    }
}

impl NonReferenceLineCounts {
    pub(super) fn add(&mut self, lines: &NameLines) {
        for line in lines.words.difference(&lines.hits) {
            let is_code = match lines.text_kind {
                TextKind::Code => lines.mentions.contains(line),
                TextKind::Unparsed => true,
                TextKind::Document => false,
            };
            if is_code { self.code += 1 } else { self.text += 1 }
        }
    }
}

/// Whether a word continues from one character to the next.
fn is_within_word(before: Option<char>, after: Option<char>) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    before.is_some_and(is_part) && after.is_some_and(is_part)
}

/// Returns where a name occurs in a text as a word, or as a part of one if the name has other characters at its ends.
fn word_starts<'a>(text: &'a str, name: &'a str) -> impl Iterator<Item = usize> + 'a {
    let occurrences = (!name.is_empty()).then(|| text.match_indices(name)).into_iter().flatten();
    occurrences.map(|(start, _)| start).filter(move |start| {
        let before = text.get(..*start).and_then(|before| before.chars().next_back());
        let after = text.get(start + name.len()..).and_then(|after| after.chars().next());
        !is_within_word(before, name.chars().next()) && !is_within_word(name.chars().next_back(), after)
    })
}
