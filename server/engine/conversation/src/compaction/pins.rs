//! Facts that every compaction must preserve: the user's last request, the paths of edited files, and open
//! to-dos. [`PreservedFacts`] formats the facts that a summary does not mention, so that they can be added to it.
//! (`split` keeps pinned messages.)

use std::collections::HashSet;
use std::fmt::Write as _;
use std::sync::Arc;

use strata_base::text::clip;

use crate::conversation_facts::{ConversationFacts, TodoState, expand_brace_notation};
use crate::extractive::bundle_within_limit;
use crate::history::{History, Message};

/// Token limit for the file paths added to a summary (`docs/compaction.md`, "Pins").
pub const PINNED_PATHS_TOKENS: usize = 1_000;

/// Prefix of the user's last request in a `handoff` summary.
pub const LAST_REQUEST: &str = "Last request from user was: ";

/// Heading of the user's last request, added to a summary that does not mention the request.
const REQUEST_HEADING: &str = "\n\n## Last request\n\n";
const PATHS_HEADING: &str = "\n\n## Files edited\n\n";
const TODOS_HEADING: &str = "\n\n## Open tasks\n\n";

/// Maximum characters of a request added to a summary.
const MAX_ADDED_REQUEST_CHARS: usize = 4_000;
/// Maximum characters of a to-do added to a summary.
const MAX_ADDED_TODO_CHARS: usize = 200;
/// Maximum number of to-dos added to a summary.
const MAX_ADDED_TODOS: usize = 20;
/// Minimum number of edited files of which a summary must name one.
const MIN_FILES_NEEDING_MENTION: usize = 3;
/// Minimum length of a file name without its extension that counts alone, in bytes.
const MIN_FILE_STEM_BYTES: usize = 4;

/// Facts that a compaction must preserve: the user's last request, edited files and unfinished to-dos.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct PreservedFacts {
    /// The user's last request; `None` if it is in a message that is kept, or if there is none.
    request: Option<String>,
    edited: Vec<String>,
    /// Text of unfinished to-dos.
    todos: Vec<String>,
}

impl PreservedFacts {
    /// Collects the facts to preserve from the summarized messages `old`, whose facts are `facts`. `later`
    /// contains the messages that are kept.
    pub(super) fn new(old: &[Arc<Message>], later: &[Arc<Message>], facts: &ConversationFacts) -> Self {
        let request = match last_request(later).is_some() {
            true => None,
            false => last_request(old).or_else(|| facts.requests.last().map(|request| request.text.clone())),
        };
        let edited = facts.files.iter().filter(|(_, trace)| trace.is_changed()).map(|(path, _)| path.clone());
        let open = facts.todos.iter().filter(|todo| todo.state != TodoState::Done);
        let todos = open.take(MAX_ADDED_TODOS).map(|todo| clip(&todo.text, MAX_ADDED_TODO_CHARS).to_owned());
        Self { request, edited: edited.collect(), todos: todos.collect() }
    }

    /// Returns the number of edited files if there are several and `text` names none of them, not even without its
    /// directory. Such a summary is about something else.
    pub(super) fn unnamed_file_count(&self, text: &str) -> Option<usize> {
        // However it is written: `parser.rs:42`, **parser.rs**, or `parser` alone.
        let is_named = |path: &String| {
            let name = path.rsplit('/').next().unwrap_or(path);
            let stem =
                name.split('.').next().filter(|stem| stem.len() >= MIN_FILE_STEM_BYTES).unwrap_or(name);
            text.contains(stem)
        };
        (self.edited.len() >= MIN_FILES_NEEDING_MENTION && !self.edited.iter().any(is_named))
            .then_some(self.edited.len())
    }

    /// Formats the facts that `text` does not mention, under headings, so that they can be added to it. Empty
    /// if `text` mentions all of them.
    pub(super) fn format_missing(&self, text: &str, count: &dyn Fn(&str) -> usize) -> String {
        let mut missing = String::new();
        if let Some(request) = self.request.as_deref().filter(|request| !text.contains(*request)) {
            let request = clip(request, MAX_ADDED_REQUEST_CHARS);
            if !text.contains(request) {
                let _ = write!(missing, "{REQUEST_HEADING}{request}");
            }
        }
        let words = SummaryPaths::new(text);
        let unnamed: Vec<&str> =
            self.edited.iter().map(String::as_str).filter(|path| !words.contains_path(path)).collect();
        let paths = bundle_within_limit(&unnamed, PINNED_PATHS_TOKENS, count);
        if !paths.trim().is_empty() {
            let _ = write!(missing, "{PATHS_HEADING}{}", paths.trim_end());
        }
        let open: Vec<&str> =
            self.todos.iter().map(String::as_str).filter(|todo| !text.contains(todo)).collect();
        if !open.is_empty() {
            let _ = write!(missing, "{TODOS_HEADING}- {}", open.join("\n- "));
        }
        missing
    }
}

/// Returns the user's last request: the message that opened the last exchange, verbatim, or the request
/// recorded in an earlier summary.
pub(super) fn last_request(messages: &[Arc<Message>]) -> Option<String> {
    let requests = messages.iter().rev().filter_map(|message| {
        let text = message.text();
        if message.is_summary() {
            request_in_earlier_summary(&text).map(str::to_owned)
        } else {
            History::begins_exchange(message).then_some(text)
        }
    });
    requests.map(|text| text.trim().to_owned()).find(|text| !text.is_empty())
}

/// Extracts the last request from the summary of an earlier compaction.
fn request_in_earlier_summary(summary: &str) -> Option<&str> {
    if let Some((_, request)) = summary.rsplit_once(LAST_REQUEST) {
        return Some(request);
    }
    let (_, rest) = summary.split_once(REQUEST_HEADING)?;
    [PATHS_HEADING, TODOS_HEADING]
        .iter()
        .filter_map(|next| rest.split_once(*next))
        .map(|(request, _)| request)
        .min_by_key(|request| request.len())
        .or(Some(rest))
}

/// Words of a summary that may be paths, with bundles (`src/{a.rs,b.rs}`) expanded.
struct SummaryPaths<'a> {
    plain: HashSet<&'a str>,
    bundled: HashSet<String>,
}

impl<'a> SummaryPaths<'a> {
    fn new(text: &'a str) -> Self {
        let separators = |c: char| c.is_whitespace() || "`'\"()<>,;|".contains(c);
        let trimmed = |word: &'a str| word.trim_end_matches(['.', ':']).trim_start_matches("./");
        Self {
            plain: text.split(separators).map(trimmed).collect(),
            bundled: expand_brace_notation(text).into_iter().collect(),
        }
    }

    /// Whether the summary contains `path` as a word.
    fn contains_path(&self, path: &str) -> bool {
        let path = path.trim_start_matches("./");
        self.plain.contains(path) || self.bundled.contains(path)
    }
}
