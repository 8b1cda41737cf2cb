//! Parses the facts of an earlier summary, so that a second compaction keeps the facts of the first. Summaries
//! written by `extractive` are parsed by the labels of their lines, and those written by a model by their
//! headings, with guesses where necessary.

use crate::history::{MessageId, Role};

use super::clip::one_line;
use super::files::{FileState, FileTrace, LastChange};
use super::labels::{
    ABOUT_FILE_LABEL, ASKED, ASKED_FIRST, ASKED_LAST, CHANGED_FILE_LABEL, DECIDED, DID_NOT_WORK, DONE,
    FAILED, FAILURE_SEPARATOR, FOUND, LAST_CHANGE, PLANNED, RAN, REGENERATED_LABELS, REQUIRED_LABEL,
    UNRESOLVED, state_label, todo_label,
};
use super::notation::expand_brace_notation;
use super::sentences::without_list_mark;
use super::todos::{Todo, TodoState, parse_checkbox};
use super::{
    CommandRun, ConversationFacts, Note, NoteKind, Statement, StepOutcome, UnresolvedError, UserRequest,
};

/// Maximum characters kept of a line in a summary. Requests may be longer.
const MAX_SUMMARY_LINE_CHARS: usize = 300;
/// Maximum characters kept of a request in a summary.
const MAX_REQUEST_CHARS: usize = 4_000;

/// Maximum number of file descriptions that are read. Each one is compared with the paths of all files.
const MAX_FILE_DESCRIPTIONS: usize = 64;

/// Adds the facts of the summary `text` to `facts`. The summary is in the message at `index`.
pub(super) fn add_facts_of_summary(
    text: &str,
    message: MessageId,
    index: usize,
    facts: &mut ConversationFacts,
) {
    let mut parser = SummaryParser { message, index, facts, section: SectionKind::Anything, described: 0 };
    text.lines().map(str::trim).filter(|line| !line.is_empty()).for_each(|line| parser.parse_line(line));
}

/// What the lines below a heading of a summary contain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum SectionKind {
    Requests,
    /// Lines that continue a request that is not a list item.
    Request,
    Constraints,
    Decisions,
    /// Files that were changed.
    Edited,
    /// Files with descriptions.
    Files,
    Read,
    Tasks,
    Notes(NoteKind),
    Anything,
}

impl SectionKind {
    /// Determines the kind of a section from the words of its heading. More specific words are tried
    /// first.
    fn from_heading(heading: &str) -> Self {
        const WORDS: [(&str, SectionKind); 32] = [
            ("files read", SectionKind::Read),
            ("known files", SectionKind::Read),
            ("files edited", SectionKind::Edited),
            ("files modified", SectionKind::Edited),
            ("files changed", SectionKind::Edited),
            ("file", SectionKind::Files),
            ("artifact", SectionKind::Files),
            ("initial request", SectionKind::Requests),
            ("user message", SectionKind::Requests),
            ("request", SectionKind::Requests),
            ("goal", SectionKind::Requests),
            ("intent", SectionKind::Requests),
            ("objective", SectionKind::Requests),
            ("failed", SectionKind::Notes(NoteKind::Failure)),
            ("next", SectionKind::Tasks),
            ("remaining", SectionKind::Tasks),
            ("pending", SectionKind::Tasks),
            ("open", SectionKind::Tasks),
            ("todo", SectionKind::Tasks),
            ("task", SectionKind::Tasks),
            ("unresolved", SectionKind::Tasks),
            ("blocked", SectionKind::Tasks),
            ("constraint", SectionKind::Constraints),
            ("preference", SectionKind::Constraints),
            ("decision", SectionKind::Decisions),
            ("plan", SectionKind::Notes(NoteKind::Plan)),
            ("design", SectionKind::Notes(NoteKind::Plan)),
            ("done", SectionKind::Notes(NoteKind::Done)),
            ("progress", SectionKind::Notes(NoteKind::Done)),
            ("implementation", SectionKind::Notes(NoteKind::Done)),
            ("exploration", SectionKind::Notes(NoteKind::Finding)),
            ("context", SectionKind::Notes(NoteKind::Finding)),
        ];
        let heading = heading.to_lowercase();
        WORDS.iter().find(|(word, _)| heading.contains(word)).map_or(Self::Anything, |&(_, section)| section)
    }
}

struct SummaryParser<'a> {
    message: MessageId,
    index: usize,
    facts: &'a mut ConversationFacts,
    section: SectionKind,
    /// Number of file descriptions read so far.
    described: usize,
}

impl SummaryParser<'_> {
    fn parse_line(&mut self, line: &str) {
        if let Some(heading) = heading(line) {
            self.section = SectionKind::from_heading(heading);
            return;
        }
        let content = without_list_mark(line);
        if is_empty_marker(content) || self.parse_labelled_line(line, content) {
            return;
        }
        self.record_paths_in_line(content, None);
        let text = one_line(content, MAX_SUMMARY_LINE_CHARS);
        let is_item = content.len() < line.len();
        match self.section {
            SectionKind::Requests | SectionKind::Request if is_item => self.add_request(content),
            SectionKind::Requests => {
                self.section = SectionKind::Request;
                self.add_request(content);
            }
            SectionKind::Request => self.append_to_request(content),
            SectionKind::Constraints => self.add_constraint(text),
            SectionKind::Decisions => self.add_decision(text),
            SectionKind::Tasks if is_item => self.facts.todos.push(Todo { text, state: TodoState::Pending }),
            SectionKind::Notes(kind) if is_item => self.add_note(kind, text),
            _ => {}
        }
    }

    /// Parses a line with a label; returns whether it has one.
    fn parse_labelled_line(&mut self, line: &str, content: &str) -> bool {
        const STATES: [FileState; 6] = [
            FileState::Edited,
            FileState::Created,
            FileState::Deleted,
            FileState::Read,
            FileState::Failed,
            FileState::Mentioned,
        ];
        const TODOS: [TodoState; 3] = [TodoState::Done, TodoState::InProgress, TodoState::Pending];
        const NOTES: [(&str, NoteKind); 4] = [
            (PLANNED, NoteKind::Plan),
            (DONE, NoteKind::Done),
            (FOUND, NoteKind::Finding),
            (DID_NOT_WORK, NoteKind::Failure),
        ];
        if let Some(todo) = parse_checkbox(line) {
            self.facts.todos.push(todo);
            return true;
        }
        for state in TODOS {
            if let Some(text) = content.strip_prefix(todo_label(state).trim_end()) {
                self.facts.todos.push(Todo { text: one_line(text, MAX_SUMMARY_LINE_CHARS), state });
                return true;
            }
        }
        for state in STATES {
            if let Some(paths) = content.strip_prefix(state_label(state)) {
                self.record_paths_in_line(paths, Some(state));
                return true;
            }
        }
        for (label, kind) in NOTES {
            if let Some(text) = content.strip_prefix(label) {
                self.add_note(kind, one_line(text, MAX_SUMMARY_LINE_CHARS));
                return true;
            }
        }
        if REGENERATED_LABELS.iter().any(|label| content.starts_with(label)) {
            return true;
        }
        if content.strip_prefix(ABOUT_FILE_LABEL).is_some_and(|text| self.parse_description(text)) {
            return true;
        }
        let change = [CHANGED_FILE_LABEL, LAST_CHANGE].iter().find_map(|label| content.strip_prefix(label));
        if change.is_some_and(|text| self.parse_change(text)) {
            return true;
        }
        if let Some(text) =
            [ASKED_FIRST, ASKED_LAST, ASKED].iter().find_map(|label| content.strip_prefix(label))
        {
            self.add_request(text);
        } else if let Some(text) = content.strip_prefix(DECIDED) {
            self.add_decision(one_line(text, MAX_SUMMARY_LINE_CHARS));
        } else if let Some(text) = content.strip_prefix(REQUIRED_LABEL) {
            self.add_constraint(one_line(text, MAX_SUMMARY_LINE_CHARS));
        } else if let Some(text) = content.strip_prefix(UNRESOLVED) {
            self.add_error(text);
        } else if let Some(text) = content.strip_prefix(RAN) {
            self.add_command(text);
        } else {
            return false;
        }
        true
    }

    fn add_request(&mut self, text: &str) {
        self.facts
            .requests
            .push(UserRequest { message: self.message, text: one_line(text, MAX_REQUEST_CHARS) });
    }

    fn append_to_request(&mut self, text: &str) {
        let last = self.facts.requests.last_mut().filter(|request| request.text.len() < MAX_REQUEST_CHARS);
        if let Some(request) = last {
            request.text.push(' ');
            request.text.push_str(&one_line(text, MAX_REQUEST_CHARS));
        }
    }

    fn add_decision(&mut self, text: String) {
        self.facts.decisions.push(Statement { message: self.message, by: Role::Assistant, text });
    }

    fn add_constraint(&mut self, text: String) {
        self.facts.constraints.push(Statement { message: self.message, by: Role::User, text });
    }

    fn add_note(&mut self, kind: NoteKind, text: String) {
        self.facts.notes.push(Note { message: self.message, kind, text });
    }

    fn add_error(&mut self, text: &str) {
        let (about, error) =
            text.split_once(FAILURE_SEPARATOR).map_or((None, text), |(about, error)| (Some(about), error));
        self.facts.errors.push(UnresolvedError {
            message: self.message,
            tool: String::new(),
            text: one_line(error, MAX_SUMMARY_LINE_CHARS),
            about: about.map(|about| one_line(about, MAX_SUMMARY_LINE_CHARS)),
        });
    }

    /// Parses `name (2 edits): description`; returns whether the text matched.
    fn parse_description(&mut self, text: &str) -> bool {
        let Some((name, about)) = text.split_once(": ") else { return false };
        let name = name.rsplit_once(" (").map_or(name, |(name, _)| name);
        let Some(trace) = self.file_with_unique_suffix(name) else { return false };
        trace.about = Some(one_line(about, MAX_SUMMARY_LINE_CHARS));
        true
    }

    /// Parses `` name: `code` ``; returns whether the text matched.
    fn parse_change(&mut self, text: &str) -> bool {
        let at = self.index;
        let Some((name, code)) = text.split_once(": `") else { return false };
        let Some(trace) = self.file_with_unique_suffix(name) else { return false };
        trace.change =
            Some(LastChange { at, code: one_line(code.trim_end_matches('`'), MAX_SUMMARY_LINE_CHARS) });
        true
    }

    /// Returns the file whose path ends with `name`, if there is exactly one.
    fn file_with_unique_suffix(&mut self, name: &str) -> Option<&mut FileTrace> {
        self.described += 1;
        if self.described > MAX_FILE_DESCRIPTIONS {
            return None;
        }
        let ends = |path: &str| {
            path.strip_suffix(name).is_some_and(|front| front.is_empty() || front.ends_with('/'))
        };
        let mut fitting = self.facts.files.iter_mut().filter(|(path, _)| ends(path));
        let (_, only) = fitting.next()?;
        fitting.next().is_none().then_some(only)
    }

    fn add_command(&mut self, text: &str) {
        let (text, ended) = match text.strip_suffix(FAILED) {
            Some(text) => (text, StepOutcome::Badly),
            None => (text, StepOutcome::Well),
        };
        self.facts.commands.push(CommandRun {
            message: self.message,
            text: one_line(text, MAX_SUMMARY_LINE_CHARS),
            ended,
        });
    }

    /// Records the paths in a line. In a line without a label, only words with a directory and a file
    /// extension count, and the heading and wording decide whether the file was changed.
    fn record_paths_in_line(&mut self, content: &str, labelled: Option<FileState>) {
        let state = labelled.unwrap_or_else(|| match self.section {
            SectionKind::Read => FileState::Read,
            SectionKind::Edited => FileState::Edited,
            SectionKind::Files if mentions_change(content) => FileState::Edited,
            _ => FileState::Mentioned,
        });
        for path in expand_brace_notation(content) {
            let path = if labelled.is_some() { &*path } else { without_line_numbers(&path) };
            let is_listed = self.section == SectionKind::Edited && is_file_name(path);
            if labelled.is_some() || is_listed || is_path(path) {
                let trace = FileTrace::from_summary(self.index, state);
                let known = self.facts.files.entry(path.to_owned()).or_insert_with(|| trace.clone());
                if known.last_state == FileState::Mentioned {
                    *known = trace;
                }
            }
        }
        if labelled.is_none() && self.section == SectionKind::Files {
            self.parse_model_description(content);
        }
    }

    /// Parses a model's description of a file: `` `src/a.rs`: reads the probe ``.
    fn parse_model_description(&mut self, content: &str) {
        let Some((name, about)) = content.split_once(": ") else { return };
        let name = without_line_numbers(name.trim_matches(['`', '*'])).to_owned();
        if let Some(trace) = self.file_with_unique_suffix(&name)
            && trace.about.is_none()
        {
            trace.about = Some(one_line(about, MAX_SUMMARY_LINE_CHARS));
        }
    }
}

/// Returns the text of a heading: a line after `#`, between asterisks, or a short numbered line that ends
/// with a colon.
fn heading(line: &str) -> Option<&str> {
    if line.starts_with('#') {
        return Some(line.trim_start_matches('#').trim());
    }
    let bare = line.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ')' | ' '));
    if let Some(bold) =
        bare.strip_prefix("**").and_then(|rest| rest.strip_suffix("**").or_else(|| rest.strip_suffix("**:")))
    {
        return Some(bold.trim_end_matches(':'));
    }
    let is_short = bare.len() <= 60 && !line.starts_with(['-', '*']);
    if is_short { bare.strip_suffix(':') } else { None }
}

/// Whether a line marks an empty section.
fn is_empty_marker(content: &str) -> bool {
    content.is_empty()
        || matches!(&*content.to_ascii_lowercase(), "none" | "none." | "(none)" | "n/a" | "nothing")
}

fn mentions_change(content: &str) -> bool {
    const WORDS: [&str; 14] = [
        "added",
        "changed",
        "created",
        "edited",
        "extended",
        "fixed",
        "implemented",
        "modified",
        "new ",
        "refactored",
        "removed",
        "rewritten",
        "updated",
        "wrote",
    ];
    let content = content.to_lowercase();
    WORDS.iter().any(|word| content.contains(word))
}

/// Removes the line numbers after a path: `src/a.rs:12-14`.
fn without_line_numbers(path: &str) -> &str {
    let bare = path.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '-' | ':'));
    if path[bare.len()..].starts_with(':') { bare } else { path }
}

/// Whether a word in prose is a path: it has a directory, and a dot inside its last component.
fn is_path(word: &str) -> bool {
    let Some((folder, name)) = word.rsplit_once('/') else { return false };
    !folder.contains(':') && !name.is_empty() && name.trim_start_matches('.').len() > 1 && name.contains('.')
}

/// Whether a word in a list of files is a file name without a directory. Excludes abbreviations such as
/// `e.g`.
fn is_file_name(word: &str) -> bool {
    let is_ending =
        |ending: &str| (1..=8).contains(&ending.len()) && ending.bytes().all(|b| b.is_ascii_alphanumeric());
    word.rsplit_once('.').is_some_and(|(stem, ending)| stem.len() + ending.len() > 2 && is_ending(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_from(text: &str) -> ConversationFacts {
        let mut facts = ConversationFacts::default();
        add_facts_of_summary(text, MessageId(7), 0, &mut facts);
        facts
    }

    #[test]
    fn a_models_summary_is_parsed_by_its_headings() {
        let facts = read_from(
            "Analysis:\n1. Primary Request and Intent:\n   - Make the parser faster\n\n## Key Decisions\n- Keep the old lexer\n\n\
             **Files and Code Sections**\n- `src/parse.rs:12-30`: changed the hot loop\n- src/lex.rs: has the lexer\n\n## Constraints\n- none\n\n## Next Steps\n1. Measure again\n- [x] Profile it",
        );
        assert_eq!(facts.requests[0].text, "Make the parser faster");
        assert_eq!(facts.decisions[0].text, "Keep the old lexer");
        assert_eq!(facts.files["src/parse.rs"].last_state, FileState::Edited);
        assert_eq!(facts.files["src/lex.rs"].last_state, FileState::Mentioned);
        assert_eq!(facts.files["src/lex.rs"].about.as_deref(), Some("has the lexer"));
        assert_eq!(facts.files["src/parse.rs"].about.as_deref(), Some("changed the hot loop"));
        assert_eq!(facts.files.len(), 2);
        assert_eq!(facts.constraints, []);
        let todos: Vec<_> = facts.todos.iter().map(|todo| (&*todo.text, todo.state)).collect();
        assert_eq!(todos, [("Measure again", TodoState::Pending), ("Profile it", TodoState::Done)]);
    }

    #[test]
    fn pins_added_to_a_summary_are_parsed_by_their_headings() {
        let facts = read_from(
            "## Last request\n\nmake it\nfaster\n\n## Files edited\n\nsrc/{a.rs,b/c.rs}, x.md (and 3 more)\n\n## Open tasks\n\n- measure",
        );
        let requests: Vec<&str> = facts.requests.iter().map(|request| &*request.text).collect();
        assert_eq!(requests, ["make it faster"]);
        assert_eq!(facts.files.keys().collect::<Vec<_>>(), ["src/a.rs", "src/b/c.rs", "x.md"]);
        assert!(facts.files.values().all(FileTrace::is_changed));
        assert_eq!(facts.todos.len(), 1);
    }

    #[test]
    fn labelled_lines_of_our_summaries_are_parsed() {
        let facts = read_from(
            "- Asked first: a\n- Decided: b\n- edited: src/{x.rs,y.rs}\n- Unresolved: go test -> FAIL\n- Ran: make (failed)\n\
             - 🔄 c\n- Found: d\n- About x.rs (2 edits): the door\n- Changed y.rs: `open()`\n- Changed the lock: `no file`",
        );
        assert_eq!(facts.files["src/x.rs"].about.as_deref(), Some("the door"));
        assert_eq!(facts.files["src/y.rs"].change.as_ref().map(|change| &*change.code), Some("open()"));
        assert_eq!(facts.requests[0].text, "a");
        assert_eq!(facts.decisions[0].text, "b");
        assert_eq!(facts.files.keys().collect::<Vec<_>>(), ["src/x.rs", "src/y.rs"]);
        assert_eq!((facts.errors[0].about.as_deref(), &*facts.errors[0].text), (Some("go test"), "FAIL"));
        assert_eq!((&*facts.commands[0].text, facts.commands[0].ended), ("make", StepOutcome::Badly));
        assert_eq!(facts.todos[0].state, TodoState::InProgress);
        assert_eq!(facts.notes[0].text, "d");
    }
}
