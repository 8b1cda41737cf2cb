//! What no compaction may lose: the user's last request, the paths of files that were edited, open to-dos. Says which of
//! them a rebuilt conversation lacks, and writes those down. (Pinned messages are kept by `split`.)

use std::collections::HashSet;
use std::fmt::Write as _;
use std::sync::Arc;

use crate::conversation::conversation_facts::{ConversationFacts, TodoState, is_summary, unbundle};
use crate::conversation::extractive::pinned_paths;
use crate::conversation::history::{History, Message};
use crate::text::clip;

/// What pinned paths may take beyond a summary, in tokens (`docs/compaction.md`, "Pins").
pub const PINNED_PATHS_TOKENS: usize = 1_000;

/// Stands before the user's last request in a `handoff`.
pub const LAST_REQUEST: &str = "Last request from user was: ";

/// The headings under which is written down what a summary lacks.
const REQUEST_HEADING: &str = "\n\n## Last request\n\n";
const PATHS_HEADING: &str = "\n\n## Files edited\n\n";
const TODOS_HEADING: &str = "\n\n## Open tasks\n\n";

/// A request that a summary lacks is written down up to so many characters ...
const REQUEST_CHARS: usize = 4_000;
/// ... and so are to-dos, of which at most so many.
const TODO_CHARS: usize = 200;
const TODOS: usize = 20;

/// What must still be there afterwards.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Pins {
    /// The user's last request.
    request: Option<String>,
    /// Paths of files that were edited.
    edited: Vec<String>,
    /// To-dos that are not done.
    todos: Vec<String>,
}

impl Pins {
    /// Those of the messages `old`, which did what `facts` says. `later` follow them.
    pub(super) fn new(old: &[Arc<Message>], later: &[Arc<Message>], facts: &ConversationFacts) -> Self {
        let request = match last_request(later).is_some() {
            true => None,
            false => last_request(old).or_else(|| facts.requests.last().map(|request| request.text.clone())),
        };
        let edited = facts.files.iter().filter(|(_, trace)| trace.is_changed()).map(|(path, _)| path.clone());
        let open = facts.todos.iter().filter(|todo| todo.state != TodoState::Done);
        let todos = open.take(TODOS).map(|todo| clip(&todo.text, TODO_CHARS).to_owned());
        Self { request, edited: edited.collect(), todos: todos.collect() }
    }

    /// Those that `text` does not name, under headings; empty when it names them all.
    pub(super) fn missing(&self, text: &str, count: &dyn Fn(&str) -> usize) -> String {
        let mut missing = String::new();
        if let Some(request) = self.request.as_deref().filter(|request| !text.contains(*request)) {
            let request = clip(request, REQUEST_CHARS);
            if !text.contains(request) {
                let _ = write!(missing, "{REQUEST_HEADING}{request}");
            }
        }
        let words = Words::of(text);
        let unnamed: Vec<&str> =
            self.edited.iter().map(String::as_str).filter(|path| !words.name(path)).collect();
        let paths = pinned_paths(&unnamed, PINNED_PATHS_TOKENS, count);
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

/// What the user said last to begin an exchange, verbatim; of a conversation that was compacted before, what its
/// summary says that was.
pub(super) fn last_request(messages: &[Arc<Message>]) -> Option<String> {
    let asked = messages.iter().rev().filter_map(|message| {
        let text = message.text();
        if is_summary(message) {
            carried_request(&text).map(str::to_owned)
        } else {
            History::begins_exchange(message).then_some(text)
        }
    });
    asked.map(|text| text.trim().to_owned()).find(|text| !text.is_empty())
}

/// The last request as an earlier compaction wrote it down.
fn carried_request(summary: &str) -> Option<&str> {
    if let Some((_, request)) = summary.rsplit_once(LAST_REQUEST) {
        return Some(request);
    }
    let (_, rest) = summary.split_once(REQUEST_HEADING)?;
    [PATHS_HEADING, TODOS_HEADING]
        .iter()
        .filter_map(|next| rest.split_once(*next))
        .map(|(it, _)| it)
        .min_by_key(|it| it.len())
        .or(Some(rest))
}

/// The paths and names in a text, those in bundles (`src/{a.rs,b.rs}`) written out.
struct Words<'a> {
    plain: HashSet<&'a str>,
    bundled: HashSet<String>,
}

impl<'a> Words<'a> {
    fn of(text: &'a str) -> Self {
        let separators = |c: char| c.is_whitespace() || "`'\"()<>,;|".contains(c);
        let trimmed = |word: &'a str| word.trim_end_matches(['.', ':']).trim_start_matches("./");
        Self {
            plain: text.split(separators).map(trimmed).collect(),
            bundled: unbundle(text).into_iter().collect(),
        }
    }

    /// Whether the text holds this path as a word.
    fn name(&self, path: &str) -> bool {
        let path = path.trim_start_matches("./");
        self.plain.contains(path) || self.bundled.contains(path)
    }
}
