//! Converts facts to lines, and ranks the lines of each part. `fit` decides how many are used.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use crate::conversation_facts::labels::{
    ABOUT_FILE_LABEL, ASKED, ASKED_FIRST, ASKED_LAST, CHANGED_FILE_LABEL, DECIDED, DID_NOT_WORK, DONE,
    EXPLORED, FAILED, FAILURE_SEPARATOR, FOUND, GO_ON, LAST_CALLS, LAST_CHANGE, LAST_SAID, MOST_WORKED,
    NEXT_ERROR_LABEL, PLANNED, RAN, REQUIRED_LABEL, UNFINISHED, UNRESOLVED, todo_label,
};
use crate::conversation_facts::{
    ConversationFacts, FileState, FileTrace, NoteKind, Statement, Step, StepOutcome, TodoState, ToolPatterns,
    last_calls, non_edit_steps, one_line, retry_invariant_command, text_typed_by_user,
};
use crate::history::{ContentBlock, Message, MessageId, Role};

use super::concepts::concepts;
use super::lines::{LineContent, LineTopic, LineWidths, SummaryLine};
use super::recurrence::NameFrequencies;
use super::structure::SummaryStructure;

/// Maximum number of lines about one topic ([`LineTopic`]). More would never fit in a summary.
const MAX_TOPIC_LINES: usize = 150;
/// Maximum number of files that a summary considers.
const MAX_SUMMARY_FILES: usize = 500;
/// Number of last tool calls to list.
const LAST_CALL_COUNT: usize = 6;
/// Number of most edited files to list.
const MAX_MOST_EDITED_FILES: usize = 5;
/// Maximum number of files with a description.
const MAX_DESCRIBED_FILES: usize = 20;
/// Maximum number of files whose last written code is quoted.
const MAX_QUOTED_CHANGES: usize = 8;
/// Maximum number of path components in a short file name. If these are ambiguous, the whole path is used.
const MAX_SHORT_NAME_PARTS: usize = 3;
/// Minimum bytes of a substantial request. Shorter ones ("yes", "go on") rank last.
const MIN_SUBSTANTIAL_REQUEST_BYTES: usize = 12;
/// Recency of facts from an earlier summary, on the scale of `LineCollector::recency`. It is high because that
/// summary already considered them important.
const EARLIER_SUMMARY_FACT_RECENCY: usize = 600;

/// Facts that are being converted to the lines of a summary.
pub(super) struct LineCollector<'a> {
    facts: &'a ConversationFacts,
    messages: &'a [Arc<Message>],
    tools: &'a ToolPatterns,
    widths: LineWidths,
    recurrence: NameFrequencies<'a>,
    /// Recency of each message: its position in the conversation, from 0 to 1,000 for the newest.
    recency: HashMap<MessageId, usize>,
    lines: Vec<SummaryLine>,
}

impl<'a> LineCollector<'a> {
    /// Computes how recent each of the messages is, and how many of them mention each name.
    pub(super) fn new(
        facts: &'a ConversationFacts,
        messages: &'a [Arc<Message>],
        tools: &'a ToolPatterns,
        widths: LineWidths,
    ) -> Self {
        let mut recurrence = NameFrequencies::default();
        let mut recency = HashMap::with_capacity(messages.len());
        for (index, message) in messages.iter().enumerate() {
            let recent = if message.is_summary() {
                EARLIER_SUMMARY_FACT_RECENCY
            } else {
                (index + 1) * 1_000 / messages.len()
            };
            recency.insert(message.id, recent);
            for block in &message.body.content {
                if let ContentBlock::Text { text } = block {
                    recurrence.count_names(index, text);
                }
            }
        }
        Self { facts, messages, tools, widths, recurrence, recency, lines: Vec::new() }
    }

    /// Returns the lines for the sections of `structure`, in order within their parts.
    pub(super) fn into_lines(mut self, structure: SummaryStructure) -> Vec<SummaryLine> {
        self.add_requests();
        self.add_statements();
        self.add_notes();
        self.add_errors();
        self.add_commands();
        self.add_files(structure);
        self.add_tasks();
        self.add_tool_counts();
        self.add_conversation_end();
        let needed_parts: HashSet<LineTopic> =
            structure.sections().iter().flat_map(|section| section.parts).copied().collect();
        if needed_parts.contains(&LineTopic::Concepts) {
            let descriptions = concepts(self.messages, self.widths.quotation);
            self.add_ranked_lines(LineTopic::Concepts, descriptions.into_iter().map(|text| (0, text)));
        }
        self.lines.retain(|line| needed_parts.contains(&line.part));
        self.lines
    }

    fn add_requests(&mut self) {
        let (Some(first), Some(last)) = (self.facts.requests.first(), self.facts.requests.last()) else {
            return;
        };
        let max_chars = self.widths.whole_request;
        self.add_line(LineTopic::FirstRequest, format!("{ASKED_FIRST}{}", one_line(&first.text, max_chars)));
        if self.facts.requests.len() == 1 {
            return;
        }
        self.add_line(LineTopic::LastRequest, format!("{ASKED_LAST}{}", one_line(&last.text, max_chars)));
        let between = &self.facts.requests[1..self.facts.requests.len() - 1];
        let lines = between.iter().map(|request| {
            let text = one_line(&request.text, self.widths.request);
            let value = self.line_value(request.message, &text);
            let says_something = text.len() >= MIN_SUBSTANTIAL_REQUEST_BYTES;
            (if says_something { value } else { 0 }, format!("{ASKED}{text}"))
        });
        let lines: Vec<_> = lines.collect();
        self.add_ranked_lines(LineTopic::Requests, lines);
    }

    fn add_statements(&mut self) {
        let facts = self.facts;
        for (part, label, statements) in [
            (LineTopic::Constraints, REQUIRED_LABEL, &facts.constraints),
            (LineTopic::Decisions, DECIDED, &facts.decisions),
        ] {
            let format_line = |statement: &Statement| {
                // A decision by the user is more binding than one by the assistant.
                let by_user = if statement.by == Role::User { 400 } else { 0 };
                let text = one_line(&statement.text, self.widths.quotation);
                (self.line_value(statement.message, &text) + by_user, format!("{label}{text}"))
            };
            let lines: Vec<_> = statements.iter().map(format_line).collect();
            self.add_ranked_lines(part, lines);
        }
    }

    fn add_notes(&mut self) {
        for (part, label, kind) in [
            (LineTopic::Plans, PLANNED, NoteKind::Plan),
            (LineTopic::Findings, FOUND, NoteKind::Finding),
            (LineTopic::Completed, DONE, NoteKind::Done),
            (LineTopic::Failures, DID_NOT_WORK, NoteKind::Failure),
        ] {
            let notes = self.facts.notes.iter().filter(|note| note.kind == kind);
            let lines = notes.map(|note| {
                let text = one_line(&note.text, self.widths.quotation);
                (self.line_value(note.message, &text), format!("{label}{text}"))
            });
            let lines: Vec<_> = lines.collect();
            self.add_ranked_lines(part, lines);
        }
    }

    fn add_errors(&mut self) {
        let lines = self.facts.errors.iter().map(|error| {
            let text = one_line(&error.text, self.widths.quotation);
            let about = error.about.as_deref().or(Some(&*error.tool)).filter(|about| !about.is_empty());
            let about =
                about.map(|about| format!("{}{FAILURE_SEPARATOR}", one_line(about, self.widths.subject)));
            let line = format!("{UNRESOLVED}{}{text}", about.unwrap_or_default());
            (self.line_value(error.message, &line), line)
        });
        let lines: Vec<_> = lines.collect();
        self.add_ranked_lines(LineTopic::Errors, lines);
    }

    /// Adds the commands with their outcomes. If several have the same beginning, only the last one is listed.
    fn add_commands(&mut self) {
        let mut last: HashMap<String, (usize, u32)> = HashMap::new();
        for (at, command) in self.facts.commands.iter().enumerate() {
            let (known, times) = last.entry(retry_invariant_command(&command.text)).or_default();
            *known = at;
            *times += 1;
        }
        let mut last_runs: Vec<(usize, u32)> = last.into_values().collect();
        last_runs.sort_unstable();
        let lines = last_runs.into_iter().map(|(at, times)| {
            let command = &self.facts.commands[at];
            let failed = if command.ended == StepOutcome::Badly { FAILED } else { "" };
            let value = self.line_value(command.message, "") + 150 * times.ilog2() as usize;
            (value, format!("{RAN}{}{failed}", one_line(&command.text, self.widths.subject)))
        });
        let lines: Vec<_> = lines.collect();
        self.add_ranked_lines(LineTopic::Commands, lines);
    }

    fn add_files(&mut self, structure: SummaryStructure) {
        let total = self.messages.len().max(1);
        let value = |trace: &FileTrace| {
            let recent = (trace.last + 1) * 1_000 / total;
            let work = 1 + trace.edits * 2 + trace.reads + trace.mentions;
            recent * 2 + 200 * work.ilog2() as usize
        };
        let mut changed: Vec<(&'a String, &'a FileTrace)> = Vec::new();
        let mut read: Vec<(&'a String, &'a FileTrace)> = Vec::new();
        for (path, trace) in &self.facts.files {
            if trace.is_changed() {
                changed.push((path, trace));
            } else if trace.is_read_or_changed() || trace.last_state == FileState::Mentioned {
                read.push((path, trace));
            }
        }
        for files in [&mut changed, &mut read] {
            files.sort_by_key(|(path, trace)| (!trace.is_read_or_changed(), Reverse(value(trace)), *path));
        }
        changed.truncate(MAX_SUMMARY_FILES);
        read.truncate(structure.max_read_files());
        let mut most_edited: Vec<&(&String, &FileTrace)> =
            changed.iter().filter(|(_, trace)| trace.edits > 2).collect();
        most_edited.sort_by_key(|(path, trace)| (Reverse(trace.edits), *path));
        let most_edited: Vec<String> = most_edited
            .into_iter()
            .take(MAX_MOST_EDITED_FILES)
            .map(|(path, trace)| format!("{} ({} edits)", one_line(file_name(path), 80), trace.edits))
            .collect();
        self.add_file_notes(&changed, &read);
        for (part, files) in [(LineTopic::Changed, changed), (LineTopic::Read, read)] {
            self.lines.extend(files.into_iter().enumerate().map(|(rank, (path, trace))| SummaryLine {
                part,
                worth: part.value_at_rank(rank),
                content: LineContent::File { state: trace.reported_state(), path: path.clone() },
            }));
        }
        if !most_edited.is_empty() {
            self.add_line(LineTopic::MostWorked, format!("{MOST_WORKED}{}", most_edited.join(", ")));
        }
    }

    /// Adds descriptions of the most relevant files, and the code written to them.
    fn add_file_notes(
        &mut self,
        changed: &[(&'a String, &'a FileTrace)],
        read: &[(&'a String, &'a FileTrace)],
    ) {
        let short = |path: &'a str| self.unique_path_suffix(path);
        let about = |&(path, trace): &(&'a String, &'a FileTrace)| {
            let about = one_line(trace.about.as_deref()?, self.widths.quotation);
            let edits = match trace.edits {
                0 => String::new(),
                1 => " (1 edit)".to_owned(),
                edits => format!(" ({edits} edits)"),
            };
            Some(format!("{ABOUT_FILE_LABEL}{}{edits}: {about}", short(path)))
        };
        let code = |path: &'a str, trace: &'a FileTrace| {
            let change = trace.change.as_ref()?;
            Some(format!("{}: `{}`", short(path), one_line(&change.code, self.widths.quotation)))
        };
        let notes: Vec<String> =
            changed.iter().chain(read).filter_map(about).take(MAX_DESCRIBED_FILES).collect();
        let changes: Vec<String> = changed
            .iter()
            .filter_map(|(path, trace)| Some(format!("{CHANGED_FILE_LABEL}{}", code(path, trace)?)))
            .take(MAX_QUOTED_CHANGES)
            .collect();
        let last = changed.iter().max_by_key(|(_, trace)| trace.change.as_ref().map(|change| change.at));
        let last = last.and_then(|(path, trace)| Some(format!("{LAST_CHANGE}{}", code(path, trace)?)));
        self.add_ranked_lines(LineTopic::FileNotes, notes.into_iter().map(|text| (0, text)));
        self.add_ranked_lines(LineTopic::Changes, changes.into_iter().map(|text| (0, text)));
        if let Some(last) = last {
            self.add_line(LineTopic::LastChange, last);
        }
    }

    /// Returns the shortest suffix of a path that is unique among the files.
    fn unique_path_suffix(&self, path: &'a str) -> &'a str {
        let slashes = path.rmatch_indices('/').take(MAX_SHORT_NAME_PARTS);
        let mut names = slashes.filter_map(|(slash, _)| path.get(slash + 1..));
        let is_only = |name: &&str| {
            let same = |other: &&String| {
                other.strip_suffix(name).is_some_and(|front| front.is_empty() || front.ends_with('/'))
            };
            self.facts.files.keys().filter(same).nth(1).is_none()
        };
        names.find(is_only).unwrap_or(path)
    }

    fn add_tasks(&mut self) {
        for (part, state) in [
            (LineTopic::TasksDone, TodoState::Done),
            (LineTopic::TasksActive, TodoState::InProgress),
            (LineTopic::TasksOpen, TodoState::Pending),
        ] {
            let tasks = self.facts.todos.iter().filter(|todo| todo.state == state);
            let lines = tasks
                .map(|todo| format!("{}{}", todo_label(state), one_line(&todo.text, self.widths.quotation)));
            // The order of a to-do list is its ranking. Of finished tasks, the last ones matter most.
            let lines: Vec<(usize, String)> = match state {
                TodoState::Done => lines.enumerate().collect(),
                _ => lines.map(|text| (0, text)).collect(),
            };
            self.add_ranked_lines(part, lines);
        }
        let open = self.facts.todos.iter().filter(|todo| todo.state != TodoState::Done);
        let open: Vec<&str> = open.map(|todo| todo.text.as_str()).collect();
        if !open.is_empty() {
            let open = one_line(&open.join("; "), self.widths.quotation);
            self.add_line(LineTopic::Remaining, format!("{UNFINISHED}{open}"));
        }
        let next = [TodoState::InProgress, TodoState::Pending]
            .into_iter()
            .find_map(|state| self.facts.todos.iter().find(|todo| todo.state == state));
        if let Some(next) = next {
            self.add_line(
                LineTopic::NextStep,
                format!("{GO_ON}: {}", one_line(&next.text, self.widths.quotation)),
            );
        } else if let Some(error) = self.facts.errors.last() {
            self.add_line(
                LineTopic::NextStep,
                format!("{NEXT_ERROR_LABEL}{}", one_line(&error.text, self.widths.quotation)),
            );
        } else if !self.facts.requests.is_empty() {
            self.add_line(LineTopic::NextStep, format!("{GO_ON} what was asked last"));
        }
    }

    fn add_tool_counts(&mut self) {
        let mut tools: BTreeMap<String, usize> = BTreeMap::new();
        for step in non_edit_steps(self.messages.iter().map(AsRef::as_ref), self.tools) {
            *tools.entry(one_line(&step.tool, 40)).or_default() += 1;
        }
        if tools.is_empty() {
            return;
        }
        let mut tools: Vec<(String, usize)> = tools.into_iter().collect();
        tools.sort_by(|(a, one), (b, other)| other.cmp(one).then(a.cmp(b)));
        let lines: Vec<String> =
            tools.into_iter().take(6).map(|(tool, times)| format!("{tool} {times}")).collect();
        self.add_line(LineTopic::Explored, format!("{EXPLORED}{}", lines.join(", ")));
    }

    /// Adds the end of the conversation: the last tool calls and the assistant's last message.
    fn add_conversation_end(&mut self) {
        let calls = last_calls(self.messages.iter().map(AsRef::as_ref), self.tools, LAST_CALL_COUNT);
        if !calls.is_empty() {
            let format_step = |step: &Step| {
                let ended = match step.ended {
                    StepOutcome::Well => "",
                    StepOutcome::Badly => " (failed)",
                    StepOutcome::Unanswered => " (no result)",
                };
                let subject = one_line(&step.subject, self.widths.subject.min(80));
                format!("{} {subject}{ended}", one_line(&step.tool, 40))
            };
            let lines: Vec<String> = calls.iter().map(format_step).collect();
            self.add_line(LineTopic::LastCalls, format!("{LAST_CALLS}{}", lines.join("; ")));
        }
        let assistant = self.messages.iter().rev().filter(|message| message.body.role == Role::Assistant);
        let words = assistant.filter(|message| !message.is_summary()).find_map(|message| {
            let words = one_line(&text_typed_by_user(&message.text()), self.widths.quotation * 2);
            (!words.is_empty()).then_some(words)
        });
        if let Some(words) = words {
            self.add_line(LineTopic::LastWords, format!("{LAST_SAID}{words}"));
        }
    }

    /// Returns the value of a line: the higher, the newer its message is and the more messages mention a name
    /// in it.
    fn line_value(&self, message: MessageId, text: &str) -> usize {
        let recent = self.recency.get(&message).copied().unwrap_or(EARLIER_SUMMARY_FACT_RECENCY);
        recent * 2 + 150 * self.recurrence.score(text) as usize
    }

    /// Adds a line to a part that has only one.
    fn add_line(&mut self, part: LineTopic, text: String) {
        self.lines.push(SummaryLine { part, worth: part.value_at_rank(0), content: LineContent::Text(text) });
    }

    /// Adds the lines of a part with their relative values, in order and without duplicates.
    fn add_ranked_lines(&mut self, part: LineTopic, lines: impl IntoIterator<Item = (usize, String)>) {
        let mut known = BTreeSet::new();
        let lines: Vec<(usize, String)> =
            lines.into_iter().filter(|(_, text)| known.insert(text.clone())).collect();
        let mut order: Vec<usize> = (0..lines.len()).collect();
        order.sort_by_key(|&at| (Reverse(lines[at].0), at));
        let mut ranks = vec![MAX_TOPIC_LINES; lines.len()];
        for (rank, at) in order.into_iter().enumerate() {
            ranks[at] = rank;
        }
        self.lines.extend(lines.into_iter().zip(ranks).filter(|(_, rank)| *rank < MAX_TOPIC_LINES).map(
            |((_, text), rank)| SummaryLine {
                part,
                worth: part.value_at_rank(rank),
                content: LineContent::Text(text),
            },
        ));
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
