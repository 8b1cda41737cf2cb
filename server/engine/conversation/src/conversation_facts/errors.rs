//! Tracks unrepaired failures. A later success of the same command, of a call on the same file, or of the
//! same call repairs a failure.

use std::collections::HashMap;

use super::clip::{self, one_line};
use super::{StepOutcome, UnresolvedError};

/// Maximum characters of an error message.
const MAX_ERROR_CHARS: usize = 400;
/// Number of bytes at the beginning and at the end of a result that are searched for error messages.
const ERROR_SEARCH_BYTES: usize = 16 * 1024;
/// Maximum number of lines of a result that are kept as the error message.
const MAX_ERROR_LINES: usize = 3;

/// Identifies a failure by what must succeed to repair it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum FailureKey {
    /// Changing the file with this path.
    Change(String),
    /// Reading the file with this path, or changing it.
    Look(String),
    /// Running a command that starts with these words.
    Command(String),
    /// Calling this tool with this subject.
    Call(String, Option<String>),
}

/// Failures so far that no later call has repaired.
#[derive(Default)]
pub(super) struct UnresolvedErrors {
    errors: Vec<Option<UnresolvedError>>,
    open: HashMap<FailureKey, Vec<usize>>,
}

impl UnresolvedErrors {
    /// Records the outcome of a call.
    pub(super) fn record_outcome(
        &mut self,
        cause: FailureKey,
        ended: StepOutcome,
        error: impl FnOnce() -> UnresolvedError,
    ) {
        match ended {
            StepOutcome::Unanswered => {}
            StepOutcome::Badly => {
                // A repeated failure replaces the earlier one, because the last message is the most
                // informative.
                self.resolve(&cause);
                self.open.entry(cause).or_default().push(self.errors.len());
                self.errors.push(Some(error()));
            }
            StepOutcome::Well => {
                if let FailureKey::Change(path) = &cause {
                    self.resolve(&FailureKey::Look(path.clone()));
                }
                self.resolve(&cause);
            }
        }
    }

    /// Records an error from an earlier summary.
    pub(super) fn add_from_summary(&mut self, error: UnresolvedError) {
        let cause = match &error.about {
            Some(about) => FailureKey::Command(retry_invariant_command(about)),
            None => FailureKey::Call(error.text.clone(), None),
        };
        self.record_outcome(cause, StepOutcome::Badly, || error);
    }

    /// Returns the unrepaired errors, in order.
    pub(super) fn into_unresolved(self) -> Vec<UnresolvedError> {
        self.errors.into_iter().flatten().collect()
    }

    fn resolve(&mut self, cause: &FailureKey) {
        for at in self.open.remove(cause).unwrap_or_default() {
            if let Some(error) = self.errors.get_mut(at) {
                *error = None;
            }
        }
    }
}

/// Returns the part of a command line that stays the same when the command is retried with other options: the
/// program and its first one or two arguments. Skips changing directories, setting variables and waiting.
pub(crate) fn retry_invariant_command(command: &str) -> String {
    let parts = clip::head(command, 2_000).split(['\n', ';', '|']).flat_map(|part| part.split("&&"));
    let words = parts.map(retry_invariant_words).find(|words| !words.is_empty());
    words.unwrap_or_default().join(" ")
}

fn retry_invariant_words(part: &str) -> Vec<&str> {
    const PRELUDE: [&str; 7] = ["cd", "export", "source", "set", "sleep", "pushd", "true"];
    const WRAPPERS: [&str; 5] = ["sudo", "time", "env", "timeout", "nice"];
    let is_variable = |word: &str| word.contains('=') && !word.starts_with('-');
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit() || byte == b's');
    let mut rest = part.split_whitespace().skip_while(|word| {
        is_variable(word) || WRAPPERS.contains(word) || is_number(word) || word.starts_with('#')
    });
    let Some(program) = rest.next().filter(|program| !PRELUDE.contains(program)) else { return Vec::new() };
    let mut words = vec![program];
    let is_plain = |word: &str| {
        word.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b':'))
    };
    for word in rest.filter(|word| !word.starts_with('-')).take(2) {
        if is_plain(word) {
            words.push(word);
        } else if words.len() == 1 {
            words.push(word);
            break;
        } else {
            break;
        }
    }
    words
}

/// Returns the lines of a failed result that describe the error, joined into one line.
pub(super) fn error_message(text: &str) -> String {
    let begin = clip::head(text, ERROR_SEARCH_BYTES);
    let end = clip::tail(&text[begin.len()..], ERROR_SEARCH_BYTES);
    let lines = || begin.lines().chain(end.lines()).map(str::trim).filter(|line| !line.is_empty());
    let error_lines: Vec<&str> = lines().filter(|line| describes_error(line)).take(MAX_ERROR_LINES).collect();
    if error_lines.is_empty() {
        let rest: Vec<&str> = lines().filter(|line| !is_exit_code(line)).take(MAX_ERROR_LINES).collect();
        let shown = if rest.is_empty() { lines().take(1).collect() } else { rest };
        one_line(&shown.join(" · "), MAX_ERROR_CHARS)
    } else {
        one_line(&error_lines.join(" · "), MAX_ERROR_CHARS)
    }
}

fn is_exit_code(line: &str) -> bool {
    line.len() < 24 && line.to_ascii_lowercase().starts_with("exit code")
}

fn describes_error(line: &str) -> bool {
    const WORDS: [&str; 14] = [
        "error",
        "fail",
        "panic",
        "not found",
        "no such",
        "undefined",
        "cannot",
        "can't",
        "unable",
        "denied",
        "invalid",
        "unexpected",
        "missing",
        "timed out",
    ];
    let line = clip::head(line, 300).to_lowercase();
    WORDS.iter().any(|word| line.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_identified_by_its_first_words() {
        for (command, expected) in [
            ("go test ./...", "go test"),
            ("cd /x && RUST_LOG=1 cargo test -p a --lib | tail -3", "cargo test a"),
            ("git commit -m 'x y'", "git commit"),
            ("python run.py --fast", "python run.py"),
            ("timeout 60s mise run test:ci", "mise run test:ci"),
            ("", ""),
            ("cd /x", ""),
        ] {
            assert_eq!(retry_invariant_command(command), expected, "{command}");
        }
    }

    #[test]
    fn an_error_message_consists_of_the_lines_that_describe_the_error() {
        let output = "Exit code 1\nok  pkg/a\n--- FAIL: TestX (0.1s)\n    x_test.go:3: expected 1\nFAIL\n";
        assert_eq!(
            error_message(output),
            "--- FAIL: TestX (0.1s) · x_test.go:3: expected 1 · FAIL"
                .replace(" · x_test.go:3: expected 1", "")
        );
        assert_eq!(error_message("Exit code 2\nsomething odd"), "something odd");
        assert_eq!(error_message("Exit code 2"), "Exit code 2");
        assert_eq!(error_message(""), "");
    }
}
