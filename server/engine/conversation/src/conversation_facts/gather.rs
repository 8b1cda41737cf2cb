//! Gathers facts in one pass over the messages, and dispatches each message to the modules that track one
//! kind of fact.

use std::collections::{HashMap, HashSet};

use crate::history::{
    ContentBlock, Message, MessageId, MessageKind, OpenCalls, ResultPart, Role, ToolOutcome,
};

use super::call::CallSubject;
use super::clip::{self, one_line};
use super::cues::{SentenceCues, StatementKind};
use super::describe;
use super::errors::{self, FailureKey, UnresolvedErrors};
use super::files::{self, FileNameMentions, FileState, FileTraces, LastChange};
use super::todos::{self, Todos};
use super::tools::{ToolPatterns, ToolPurpose};
use super::{
    CommandRun, ConversationFacts, Note, Statement, StepOutcome, UnresolvedError, UserRequest, earlier,
    requests, sentences,
};

/// Maximum characters kept of a sentence, or of the subject of a failed call.
const MAX_SENTENCE_CHARS: usize = 300;
/// Phrases in a tool result that mean the user refused the call, which is not a failure of the tool.
const USER_REFUSAL_PHRASES: [&str; 3] = ["user doesn't want", "user rejected", "user denied"];
/// Number of bytes at the beginning of a result that are checked for the outcome of the call.
const OUTCOME_PREFIX_BYTES: usize = 400;

/// Facts gathered so far.
pub(super) struct Gatherer<'a> {
    tools: &'a ToolPatterns,
    purposes: HashMap<&'a str, ToolPurpose>,
    open: OpenCalls<&'a str, OpenCall<'a>>,
    files: FileTraces,
    names: FileNameMentions,
    errors: UnresolvedErrors,
    todos: Todos,
    known_texts: HashSet<String>,
    facts: ConversationFacts,
}

/// A call whose result has not been read yet.
struct OpenCall<'a> {
    tool: &'a str,
    purpose: ToolPurpose,
    subject: CallSubject,
    todos: todos::TodoToolEffect,
    /// Index of the call's command in the list of commands; `None` if the call runs no command.
    command: Option<usize>,
    index: usize,
}

impl<'a> Gatherer<'a> {
    pub(super) fn new(tools: &'a ToolPatterns) -> Self {
        Self {
            tools,
            purposes: HashMap::new(),
            open: OpenCalls::default(),
            files: FileTraces::default(),
            names: FileNameMentions::default(),
            errors: UnresolvedErrors::default(),
            todos: Todos::default(),
            known_texts: HashSet::new(),
            facts: ConversationFacts::default(),
        }
    }

    /// `index` is the position of the message in the conversation.
    pub(super) fn read_message(&mut self, index: usize, message: &'a Message) {
        self.open.begin_message(message);
        for key in &message.body.files_modified {
            self.files.record(key.as_str(), index, FileState::Edited);
        }
        for key in &message.body.files_mentioned {
            self.files.record(key.as_str(), index, FileState::Mentioned);
        }
        if message.is_summary() {
            return self.read_summary(index, message.id, &message.text());
        }
        for block in &message.body.content {
            match block {
                ContentBlock::Text { text } => self.read_text(index, message, text),
                ContentBlock::ToolCall { id, name, input } => {
                    let purpose = *self.purposes.entry(name).or_insert_with(|| self.tools.purpose(name));
                    let todos = self.todos.read_call(id, name, input);
                    let subject = CallSubject::new(name, purpose, input);
                    let command = subject.command.clone().map(|text| {
                        self.facts.commands.push(CommandRun {
                            message: message.id,
                            text,
                            ended: StepOutcome::Unanswered,
                        });
                        self.facts.commands.len() - 1
                    });
                    self.open.add_call(id, OpenCall { tool: name, purpose, subject, todos, command, index });
                }
                ContentBlock::ToolResult { call_id, content, outcome } => {
                    if let Some(call) = self.open.close_call(call_id) {
                        self.read_result(index, message.id, call, call_id, content, *outcome);
                    }
                }
                ContentBlock::Image(_)
                | ContentBlock::Thinking { .. }
                | ContentBlock::RedactedThinking { .. }
                | ContentBlock::Foreign(_) => {}
            }
        }
    }

    pub(super) fn read_summary(&mut self, index: usize, message: MessageId, text: &str) {
        let mut carried = ConversationFacts::default();
        earlier::add_facts_of_summary(text, message, index, &mut carried);
        carried.files.iter().for_each(|(path, trace)| self.files.add_from_summary(path, trace));
        carried.errors.into_iter().for_each(|error| self.errors.add_from_summary(error));
        carried.todos.into_iter().for_each(|todo| self.todos.add_from_summary(todo));
        let known_texts = &mut self.known_texts;
        let mut is_new = |text: &String| known_texts.insert(text.clone());
        self.facts.requests.extend(carried.requests.into_iter().filter(|request| is_new(&request.text)));
        self.facts.commands.extend(carried.commands);
        self.facts
            .decisions
            .extend(carried.decisions.into_iter().filter(|statement| is_new(&statement.text)));
        self.facts
            .constraints
            .extend(carried.constraints.into_iter().filter(|statement| is_new(&statement.text)));
        self.facts.notes.extend(carried.notes.into_iter().filter(|note| is_new(&note.text)));
    }

    pub(super) fn into_facts(mut self) -> ConversationFacts {
        let unanswered = self.open.into_unanswered();
        let mut unanswered: Vec<OpenCall<'a>> =
            unanswered.given_up.into_iter().chain(unanswered.waiting).collect();
        unanswered.sort_by(|a, b| (a.index, a.subject.label()).cmp(&(b.index, b.subject.label())));
        for call in unanswered {
            for (path, state) in &call.subject.files {
                self.files.record(path, call.index, *state);
            }
            record_written_code(&mut self.files, &call.subject, call.index);
        }
        ConversationFacts {
            files: self.files.into_traces(&self.names),
            errors: self.errors.into_unresolved(),
            todos: self.todos.into_list(),
            ..self.facts
        }
    }

    fn read_text(&mut self, index: usize, message: &Message, text: &str) {
        if message.body.kind == MessageKind::ToolSummary || message.body.kind == MessageKind::SystemEvent {
            return;
        }
        let words = match message.body.role {
            Role::User => requests::text_typed_by_user(text),
            Role::Assistant => text.into(),
        };
        if words.is_empty() {
            return;
        }
        if message.body.role == Role::User {
            self.facts.requests.push(UserRequest { message: message.id, text: words.clone().into_owned() });
        }
        self.names.record_file_names(index, &words);
        self.todos.read_checklist(&words);
        for sentence in sentences::prose_sentences(&words) {
            self.read_sentence(message, sentence);
        }
    }

    fn read_sentence(&mut self, message: &Message, sentence: &str) {
        let by = message.body.role;
        // A colon introduces something other than prose, and a question by the assistant commits to nothing.
        if sentence.ends_with(':') || (by == Role::Assistant && sentence.ends_with('?')) {
            return;
        }
        let cues = SentenceCues::from_sentence(sentence);
        let binding = cues.statement_kind(by);
        let kind = cues.note_kind().filter(|_| by == Role::Assistant);
        if binding.is_none() && kind.is_none() {
            return;
        }
        let text = one_line(&sentence.replace("**", ""), MAX_SENTENCE_CHARS);
        if !self.known_texts.insert(text.clone()) {
            return;
        }
        let message = message.id;
        match (binding, kind) {
            (Some(StatementKind::Constraint), _) => {
                self.facts.constraints.push(Statement { message, by, text });
            }
            (Some(StatementKind::Decision), _) => self.facts.decisions.push(Statement { message, by, text }),
            (None, Some(kind)) => self.facts.notes.push(Note { message, kind, text }),
            (None, None) => {}
        }
    }

    fn read_result(
        &mut self,
        index: usize,
        message: MessageId,
        call: OpenCall<'a>,
        call_id: &str,
        content: &[ResultPart],
        outcome: ToolOutcome,
    ) {
        let text = content.iter().find_map(ResultPart::text).unwrap_or_default();
        let start = clip::head(text, OUTCOME_PREFIX_BYTES);
        let ended = if has_failure_exit_code(start, call.purpose) {
            StepOutcome::Badly
        } else {
            StepOutcome::from(outcome)
        };
        if call.todos == todos::TodoToolEffect::Create && ended == StepOutcome::Well {
            self.todos.read_task_number(call_id, start);
        }
        for (path, intended) in &call.subject.files {
            let creates = *intended == FileState::Edited && start.contains("created");
            let state = if creates && !self.files.has_path(path) { FileState::Created } else { *intended };
            self.files.record(path, index, files::resulting_state(state, ended));
            if state == FileState::Read && ended != StepOutcome::Badly && call.subject.files.len() == 1 {
                self.files.record_description(path, describe::describe_file(text).as_deref(), None);
            }
        }
        if ended != StepOutcome::Badly {
            record_written_code(&mut self.files, &call.subject, index);
        }
        if let Some(command) = call.command.and_then(|at| self.facts.commands.get_mut(at)) {
            command.ended = ended;
        }
        if USER_REFUSAL_PHRASES.iter().any(|refusal| start.contains(refusal)) {
            return;
        }
        let error = UnresolvedError {
            message,
            tool: call.tool.to_owned(),
            text: if ended == StepOutcome::Badly { errors::error_message(text) } else { String::new() },
            about: call.subject.label().map(|about| one_line(about, MAX_SENTENCE_CHARS)),
        };
        failure_keys(&call)
            .into_iter()
            .for_each(|cause| self.errors.record_outcome(cause, ended, || error.clone()));
    }
}

/// Records the code that a successful call wrote to its files.
fn record_written_code(files: &mut FileTraces, subject: &CallSubject, at: usize) {
    if let (Some(about), [(path, _)]) = (subject.about.as_deref(), subject.files.as_slice()) {
        files.record_description(path, Some(about), None);
    }
    for (path, code) in &subject.changes {
        files.record_description(path, None, Some(LastChange { at, code: code.clone() }));
    }
}

/// Returns what must succeed to repair this call if it failed, or what it repairs if it succeeded.
fn failure_keys(call: &OpenCall<'_>) -> Vec<FailureKey> {
    if !call.subject.files.is_empty() {
        let cause = |(path, state): &(String, FileState)| {
            let path = files::normalize_path(path).unwrap_or(path).to_owned();
            if *state == FileState::Read { FailureKey::Look(path) } else { FailureKey::Change(path) }
        };
        return call.subject.files.iter().map(cause).collect();
    }
    vec![match &call.subject.command {
        Some(command) => FailureKey::Command(errors::retry_invariant_command(command)),
        None => FailureKey::Call(call.tool.to_owned(), call.subject.label().map(str::to_owned)),
    }]
}

/// Whether the result of a command starts with a nonzero exit code. Some formats report failures only this
/// way.
fn has_failure_exit_code(start: &str, purpose: ToolPurpose) -> bool {
    if purpose != ToolPurpose::Command {
        return false;
    }
    let start = start.to_ascii_lowercase();
    ["exit code: ", "exit code ", "exit_code\":", "exit_code: ", "exit status "].iter().any(|mark| {
        let code = start.split_once(mark).map(|(_, rest)| rest.trim_start());
        code.is_some_and(|code| code.starts_with(|c: char| c.is_ascii_digit() && c != '0'))
    })
}
