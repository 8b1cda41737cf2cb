//! Splits prose into sentences. Skips code blocks and tables.

/// Maximum bytes of a sentence. Longer ones are skipped, because they are probably data.
const MAX_SENTENCE_BYTES: usize = 600;
/// Minimum bytes of a sentence. Shorter ones are skipped.
const MIN_SENTENCE_BYTES: usize = 12;

/// Returns the sentences of `text` in order. Removes list marks, and skips headings, tables and fenced code.
pub(crate) fn prose_sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    text.lines()
        .filter_map(move |line| {
            let line = line.trim();
            if line.starts_with("```") || line.starts_with("~~~") {
                fenced = !fenced;
                return None;
            }
            let is_prose = !fenced && !line.starts_with(['|', '#', '<', '{', '}']) && !line.starts_with("//");
            is_prose.then(|| without_list_mark(line))
        })
        .flat_map(Sentences)
        .filter(|sentence| (MIN_SENTENCE_BYTES..=MAX_SENTENCE_BYTES).contains(&sentence.len()))
}

/// Returns the text of inline code spans, in order. A span does not cross lines.
pub(crate) fn code_spans(text: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    text.lines()
        .filter(move |line| {
            if line.trim_start().starts_with("```") {
                fenced = !fenced;
                return false;
            }
            !fenced
        })
        .flat_map(|line| line.split('`').skip(1).step_by(2))
}

/// Removes the mark of a list item, quotation or checkbox from a line.
pub(super) fn without_list_mark(line: &str) -> &str {
    let line = line.trim_start_matches(['-', '*', '+', '>', '•', ' ', '\t']);
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = if number.len() < line.len() {
        number.strip_prefix(". ").or_else(|| number.strip_prefix(") "))
    } else {
        None
    };
    let line = rest.unwrap_or(line);
    let without_checkbox = ["[ ] ", "[x] ", "[X] ", "[~] "].iter().find_map(|mark| line.strip_prefix(mark));
    without_checkbox.unwrap_or(line).trim_end_matches("**").trim()
}

/// Iterator over the sentences of a line. A sentence ends at `.`, `!` or `?` if a space follows, and then
/// anything but a lower-case letter.
struct Sentences<'a>(&'a str);

impl<'a> Iterator for Sentences<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let line = self.0.trim_start();
        if line.is_empty() {
            return None;
        }
        let bytes = line.as_bytes();
        let is_end = |&at: &usize| {
            matches!(bytes[at], b'.' | b'!' | b'?')
                && bytes.get(at + 1) == Some(&b' ')
                && !bytes.get(at + 2).is_some_and(u8::is_ascii_lowercase)
        };
        // An ASCII byte is a whole character, so the position after it is a character boundary.
        let end = (0..bytes.len()).find(is_end).map_or(line.len(), |at| at + 1);
        let (sentence, rest) = line.split_at(end);
        self.0 = rest;
        Some(sentence.trim_end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_split_and_code_is_skipped() {
        let text = "# Head\nWe use tabs, e.g. here. Really! Don't you agree?\n\n```\nlet x = 1; // must\n```\n- [ ] **write** the tests\n2. Then ship the thing\n| a | b |\nö. Übrigens ist das auch ein Satz.";
        let parsed: Vec<&str> = prose_sentences(text).collect();
        assert_eq!(
            parsed,
            [
                "We use tabs, e.g. here.",
                "Don't you agree?",
                "**write** the tests",
                "Then ship the thing",
                "Übrigens ist das auch ein Satz."
            ]
        );
    }

    #[test]
    fn code_spans_are_found_outside_of_blocks() {
        let text = "use `Foo` and `bar()`\n```\n`not`\n```\n`open";
        assert_eq!(code_spans(text).collect::<Vec<_>>(), ["Foo", "bar()", "open"]);
    }
}
