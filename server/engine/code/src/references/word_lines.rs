//! The lines that contain a name, listed as references or not.

use std::collections::BTreeSet;

use strata_base::text::LineStarts;

use super::report::OtherLines;

/// The lines of a file that contain a name as a word.
pub(super) struct WordLines {
    pub(super) starts: LineStarts,
    words: BTreeSet<u32>,
    /// Lines on which code mentions the name.
    mentions: BTreeSet<u32>,
    /// Lines that are reported as references.
    hits: BTreeSet<u32>,
    pub(super) are_in: LinesIn,
}

/// The kind of text that contains lines.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LinesIn {
    Code,
    /// Code that is not separated from its comments and strings.
    Unparsed,
    Document,
}

impl WordLines {
    pub(super) fn of(text: &str, name: &str) -> Self {
        let mut starts = words(text, name).peekable();
        let lines = if starts.peek().is_some() { LineStarts::of(text) } else { LineStarts::of("") };
        let words = starts.map(|start| lines.line(start)).collect();
        let (mentions, hits) = (BTreeSet::new(), BTreeSet::new());
        Self { starts: lines, words, mentions, hits, are_in: LinesIn::Code }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    pub(super) fn mention(&mut self, byte: usize) {
        self.mentions.insert(self.starts.line(byte));
    }

    pub(super) fn hit(&mut self, byte: usize) {
        self.hits.insert(self.starts.line(byte));
    }
}

impl OtherLines {
    pub(super) fn add(&mut self, lines: &WordLines) {
        for line in lines.words.difference(&lines.hits) {
            let is_code = match lines.are_in {
                LinesIn::Code => lines.mentions.contains(line),
                LinesIn::Unparsed => true,
                LinesIn::Document => false,
            };
            if is_code { self.code += 1 } else { self.text += 1 }
        }
    }
}

/// Whether a word continues from one character to the next.
fn continues(before: Option<char>, after: Option<char>) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    before.is_some_and(is_part) && after.is_some_and(is_part)
}

/// Returns where a name occurs in a text as a word, or as a part of one if the name has other characters at its ends.
fn words<'a>(text: &'a str, name: &'a str) -> impl Iterator<Item = usize> + 'a {
    let found = (!name.is_empty()).then(|| text.match_indices(name)).into_iter().flatten();
    found.map(|(start, _)| start).filter(move |start| {
        let before = text.get(..*start).and_then(|before| before.chars().next_back());
        let after = text.get(start + name.len()..).and_then(|after| after.chars().next());
        !continues(before, name.chars().next()) && !continues(name.chars().next_back(), after)
    })
}
