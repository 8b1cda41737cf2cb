//! Measures what a compaction kept: which relevant files, requests and errors the result still mentions. Compares names
//! and words only, and does not judge the wording.

use std::collections::HashSet;
use std::sync::Arc;

use serde::Serialize;
use strata_conversation::conversation_facts::{
    FileTrace, ToolPatterns, expand_brace_notation, extract_facts,
};
use strata_conversation::history::{ContentBlock, Message, ResultPart};

/// Minimum percentage of words that must remain for a request or an error to count as kept.
const MIN_KEPT_WORD_PERCENT: usize = 60;
/// Minimum length of a word to compare, in characters.
const MIN_COMPARED_WORD_CHARS: usize = 3;
/// Words too common to compare.
const STOP_WORDS: [&str; 26] = [
    "the", "and", "for", "that", "this", "with", "you", "are", "not", "but", "can", "have", "has", "was",
    "were", "from", "into", "its", "our", "your", "will", "would", "should", "there", "then", "also",
];

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub(crate) struct KeptShare {
    pub kept: usize,
    pub of: usize,
}

/// How many files a compacted history still names.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub(crate) struct FileShare {
    /// Files named with their full path, which may be written as a bundle (`src/{a.rs,b.rs}`).
    pub full: KeptShare,
    /// Files named at least by file name, as counted in `docs/compaction.md`.
    pub named: KeptShare,
}

/// What a compacted history still mentions of the earlier conversation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Fidelity {
    /// How many of the files changed before the cut are still named.
    pub edited: FileShare,
    /// How many of the files read or changed before the cut and again after it are still named.
    pub both_sides: FileShare,
    /// How many of the user's requests before the cut are kept, in that most of their words remain. Requests without
    /// words to compare do not count.
    pub requests: KeptShare,
    /// How many of the errors that were unresolved at the cut are kept, in that most of their words remain.
    pub errors: KeptShare,
}

impl FileShare {
    pub(crate) fn plus(self, other: Self) -> Self {
        Self { full: self.full.plus(other.full), named: self.named.plus(other.named) }
    }
}

impl Fidelity {
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            edited: self.edited.plus(other.edited),
            both_sides: self.both_sides.plus(other.both_sides),
            requests: self.requests.plus(other.requests),
            errors: self.errors.plus(other.errors),
        }
    }
}

impl KeptShare {
    pub(crate) fn percent(self) -> Option<f64> {
        (self.of > 0).then(|| self.kept as f64 * 100.0 / self.of as f64)
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self { kept: self.kept + other.kept, of: self.of + other.of }
    }

    fn count(&mut self, is_kept: bool) {
        self.of += 1;
        self.kept += usize::from(is_kept);
    }
}

/// What a compacted history should still mention. Compacted histories are measured against it.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct FidelityReference {
    edited: Vec<String>,
    both_sides: Vec<String>,
    requests: Vec<HashSet<String>>,
    errors: Vec<HashSet<String>>,
}

impl FidelityReference {
    /// Builds the reference for a conversation in which the messages `before` are compacted and `after` follows.
    pub(crate) fn new(before: &[Arc<Message>], after: &[Arc<Message>], tools: &ToolPatterns) -> Self {
        let past = extract_facts(before.iter().map(AsRef::as_ref), tools);
        // A summary after the cut mentions files that no one touched there.
        let future =
            extract_facts(after.iter().map(AsRef::as_ref).filter(|message| !message.is_summary()), tools);
        let touched = |path: &String| future.files.get(path).is_some_and(FileTrace::is_read_or_changed);
        let named = |of: &dyn Fn(&String, &FileTrace) -> bool| -> Vec<String> {
            past.files.iter().filter(|(path, trace)| of(path, trace)).map(|(path, _)| path.clone()).collect()
        };
        // A text without words to compare cannot show what was kept.
        let said = |text: &str| {
            Some(significant_words(text).collect::<HashSet<_>>()).filter(|words| !words.is_empty())
        };
        Self {
            edited: named(&|_, trace| trace.is_changed()),
            both_sides: named(&|path, trace| trace.is_read_or_changed() && touched(path)),
            requests: past.requests.iter().filter_map(|request| said(&request.text)).collect(),
            errors: past.errors.iter().filter_map(|error| said(&error.text)).collect(),
        }
    }

    /// Measures what a compacted history, converted to text by [`as_text`], still mentions. Includes its verbatim part.
    pub(crate) fn measure_fidelity(&self, compacted: &str) -> Fidelity {
        let mentions = Mentions::new(compacted);
        let mut fidelity = Fidelity::default();
        self.edited.iter().for_each(|path| mentions.count_file(path, &mut fidelity.edited));
        self.both_sides.iter().for_each(|path| mentions.count_file(path, &mut fidelity.both_sides));
        self.requests.iter().for_each(|words| mentions.count_words(words, &mut fidelity.requests));
        self.errors.iter().for_each(|words| mentions.count_words(words, &mut fidelity.errors));
        fidelity
    }
}

/// Joins all text of messages: prose, arguments of tool calls, and results.
pub(crate) fn as_text<'a>(messages: impl IntoIterator<Item = &'a Message>) -> String {
    let mut text = String::new();
    for block in messages.into_iter().flat_map(|message| &message.body.content) {
        match block {
            ContentBlock::Text { text: said } => text.push_str(said),
            ContentBlock::ToolCall { input, .. } => text.push_str(&input.to_string()),
            ContentBlock::ToolResult { content, .. } => {
                for part in content {
                    if let ResultPart::Text { text: said } = part {
                        text.push_str(said);
                        text.push('\n');
                    }
                }
            }
            ContentBlock::Image(_)
            | ContentBlock::Thinking { .. }
            | ContentBlock::RedactedThinking { .. }
            | ContentBlock::Foreign(_) => {}
        }
        text.push('\n');
    }
    text
}

struct Mentions<'a> {
    text: &'a str,
    paths: HashSet<String>,
    names: HashSet<String>,
    words: HashSet<String>,
}

impl<'a> Mentions<'a> {
    fn new(text: &'a str) -> Self {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+' | '@' | '~');
        let plain = text.split(|c: char| !is_part(c)).map(|word| word.trim_end_matches('.').to_owned());
        let mut paths: HashSet<String> = plain.filter(|word| !word.is_empty()).collect();
        paths.extend(expand_brace_notation(text));
        let name = |path: &String| path.rsplit('/').next().unwrap_or(path).to_owned();
        let names = paths.iter().map(name).collect();
        Self { text, names, words: significant_words(text).collect(), paths }
    }

    fn count_file(&self, path: &str, share: &mut FileShare) {
        let is_plain =
            |path: &str| path.chars().all(|c| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-'));
        let odd = |path: &str| !is_plain(path) && self.text.contains(path);
        let name = path.rsplit('/').next().unwrap_or(path);
        share.full.count(self.paths.contains(path) || odd(path));
        share.named.count(self.names.contains(name) || odd(name));
    }

    fn count_words(&self, wanted: &HashSet<String>, share: &mut KeptShare) {
        let found = wanted.iter().filter(|word| self.words.contains(*word)).count();
        share.count(found * 100 >= wanted.len() * MIN_KEPT_WORD_PERCENT);
    }
}

/// Returns the words to compare, in lower case.
fn significant_words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| word.chars().nth(MIN_COMPARED_WORD_CHARS - 1).is_some())
        .map(str::to_lowercase)
        .filter(|word| !STOP_WORDS.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use strata_conversation::history::{History, NewMessage, Role, ToolOutcome};

    fn call(history: &mut History, tool: &str, path: &str, outcome: ToolOutcome) {
        let id = format!("call {}", history.messages().len());
        let input = serde_json::json!({ "file_path": path });
        let call = ContentBlock::ToolCall { id: id.clone(), name: tool.into(), input };
        history.add(NewMessage::new(Role::Assistant, vec![call]));
        let content = vec![ResultPart::Text { text: "connection refused by peer".into() }];
        let result = ContentBlock::ToolResult { call_id: id, content, outcome };
        history.add(NewMessage::new(Role::User, vec![result]));
    }

    #[test]
    fn what_is_named_counts_and_what_is_not_does_not() {
        let mut history = History::default();
        history.add(NewMessage::text(Role::User, "Please make the parser faster"));
        call(&mut history, "Edit", "/w/src/a.rs", ToolOutcome::Ok);
        call(&mut history, "Edit", "/w/src/data.rs", ToolOutcome::Ok);
        call(&mut history, "Read", "/w/b.rs", ToolOutcome::Ok);
        call(&mut history, "WebFetch", "x", ToolOutcome::Error);
        let cut = history.messages().len();
        call(&mut history, "Read", "/w/src/a.rs", ToolOutcome::Ok);
        call(&mut history, "Read", "/w/b.rs", ToolOutcome::Ok);
        call(&mut history, "Read", "/w/new.rs", ToolOutcome::Ok);
        let (before, after) = history.messages().split_at(cut);
        let yardstick = FidelityReference::new(before, after, &ToolPatterns::default());
        let of = |text: &str| yardstick.measure_fidelity(text);
        let share = |kept, of| KeptShare { kept, of };

        let all = of("make parser faster; connection refused: /w/{b.rs,src/{a.rs,data.rs}} by peer");
        assert_eq!(all.edited, FileShare { full: share(2, 2), named: share(2, 2) });
        assert_eq!(all.both_sides, FileShare { full: share(2, 2), named: share(2, 2) });
        assert_eq!((all.requests, all.errors), (share(1, 1), share(1, 1)));

        let some = of("the parser, see data.rs and /w/b.rs; refused");
        assert_eq!(some.edited, FileShare { full: share(0, 2), named: share(1, 2) });
        assert_eq!(some.both_sides, FileShare { full: share(1, 2), named: share(1, 2) });
        assert_eq!((some.requests, some.errors), (share(0, 1), share(0, 1)));
        assert_eq!(of(&as_text(before.iter().map(AsRef::as_ref))).edited.full, share(2, 2));
    }
}
