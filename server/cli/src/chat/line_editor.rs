//! Reads lines with editing, history and completion. Without a terminal, reads lines as they are.

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Config, Context, Editor, Helper};

use crate::failure::Failure;

/// Maximum number of completions to offer.
const MAX_COMPLETIONS: usize = 100;

/// What was read.
pub(super) enum ReadOutcome {
    Line(String),
    /// Ctrl-C was pressed.
    Interrupted,
    /// The input has ended.
    End,
}

/// Reads lines at a prompt.
pub(super) struct LineEditor(Editor<LineCompleter, rustyline::history::MemHistory>);

/// Words that can complete a line.
struct LineCompleter {
    commands: Vec<&'static str>,
    files: Vec<String>,
}

impl LineEditor {
    /// Creates an editor that completes these commands.
    pub(super) fn new(commands: Vec<&'static str>) -> Result<Self, Failure> {
        let history = rustyline::history::MemHistory::new();
        let mut editor = Editor::with_history(Config::builder().auto_add_history(true).build(), history)
            .map_err(|error| Failure::new(format!("cannot use the terminal: {error}")))?;
        editor.set_helper(Some(LineCompleter { commands, files: Vec::new() }));
        Ok(Self(editor))
    }

    /// Reads the next line, whose paths may be completed to these files.
    pub(super) fn read(&mut self, files: Vec<String>) -> Result<ReadOutcome, Failure> {
        if let Some(completions) = self.0.helper_mut() {
            completions.files = files;
        }
        match self.0.readline("> ") {
            Ok(line) => Ok(ReadOutcome::Line(line.replace("\\\n", "\n"))),
            Err(ReadlineError::Interrupted) => Ok(ReadOutcome::Interrupted),
            Err(ReadlineError::Eof) => Ok(ReadOutcome::End),
            Err(error) => Err(Failure::new(format!("cannot read the next line: {error}"))),
        }
    }
}

impl Completer for LineCompleter {
    type Candidate = String;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        let before = line.get(..at).unwrap_or_default();
        let start = before.rfind(' ').map_or(0, |space| space + 1);
        let word = before.get(start..).unwrap_or_default();
        if !before.starts_with('/') {
            return Ok((start, Vec::new()));
        }
        let mut candidates: Vec<String> = match start {
            0 => self.commands.iter().map(|command| format!("{command} ")).collect(),
            _ => self.files.clone(),
        };
        candidates.retain(|candidate| candidate.starts_with(word));
        candidates.truncate(MAX_COMPLETIONS);
        Ok((start, candidates))
    }
}

impl Validator for LineCompleter {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(match context.input().ends_with('\\') {
            true => ValidationResult::Incomplete,
            false => ValidationResult::Valid(None),
        })
    }
}

impl Hinter for LineCompleter {
    type Hint = String;
}

impl Highlighter for LineCompleter {}

impl Helper for LineCompleter {}
