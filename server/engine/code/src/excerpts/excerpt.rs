//! Types of the requests for excerpts and of their results.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_base::key::FileKey;

use super::line_ages::LineAges;
use super::similar_commits::PastCommit;
use crate::symbols::ParsedQuery;

/// A definition or a range of lines that is relevant to a question.
#[derive(Clone, Debug, PartialEq)]
pub struct Excerpt {
    pub file: FileKey,
    /// Qualified name of the definition that the excerpt consists of, such as `Session.send`. `None` for other line
    /// ranges, such as a part of a large definition or several small ones.
    pub definition: Option<String>,
    /// Zero-based index among the definitions with the same name in the file.
    pub ordinal: u32,
    /// Zero-based line range; the end is exclusive.
    pub lines: Range<u32>,
    /// Byte range of the lines, including line breaks.
    pub bytes: Range<usize>,
    /// Relevance to the question, between 0 and 1.
    pub score: f64,
    pub reason: ExcerptReason,
    /// The definitions that the excerpt shows at least in part, most relevant first.
    pub definitions: Vec<ShownDefinition>,
}

/// A definition of which an excerpt shows some lines.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownDefinition {
    /// Qualified name of the definition.
    pub name: String,
    /// Zero-based index among the definitions with the same name in the file.
    pub ordinal: u32,
    /// Relevance to the question, between 0 and 1.
    pub score: f64,
}

/// The main reason for choosing an excerpt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExcerptReason {
    /// A stack trace in the question points at the excerpt.
    Trace,
    /// The question spells the name of a definition in the excerpt.
    Defines,
    /// The question names the excerpt's file.
    Named,
    /// More relevant code mentions a definition in the excerpt.
    Called,
    /// The excerpt's name or text contains words of the question.
    Words,
    /// The excerpt's file matches the question, or is close to files that do.
    File,
    /// The excerpt's file is open.
    Open,
    /// The excerpt's file changed recently.
    Recent,
}

/// A question and other signals of relevance.
#[derive(Clone, Copy, Debug)]
pub struct ExcerptQuery<'a> {
    /// The task in the user's words. The first line carries more weight.
    pub text: &'a str,
    /// Earlier requests of the conversation, newest first, whose words count too.
    pub earlier: &'a str,
    /// Files that are open in the editor.
    pub open: &'a [FileKey],
    /// Files that the prompt shows in full. They yield no excerpts, and code that they refer to is ranked higher.
    pub selected: &'a [FileKey],
    /// Files that must not be shown.
    pub excluded: &'a BTreeSet<FileKey>,
    /// Number of commits since each file last changed; 0 for the newest commit. Files that have not changed recently
    /// are absent.
    pub recency: &'a BTreeMap<FileKey, u32>,
    /// The ages of the lines of files that changed recently.
    pub line_ages: &'a BTreeMap<FileKey, LineAges>,
    /// The most recent commits, newest first.
    pub past: &'a [PastCommit],
    /// Excerpts that must not be suggested again.
    pub dismissed: &'a [DismissedExcerpt],
    /// Zero-based line ranges, by file, that the prompt already shows. They may be chosen like any others, but do not
    /// count against [`ExcerptBudget::new`].
    pub shown: &'a BTreeMap<FileKey, Vec<Range<u32>>>,
}

impl ExcerptQuery<'_> {
    /// Parses the request together with the earlier ones.
    pub(super) fn parse(&self) -> ParsedQuery {
        ParsedQuery::read(&join_questions(self.text, self.earlier))
    }
}

/// Returns the text to search for a question and the questions before.
pub fn join_questions(text: &str, earlier: &str) -> String {
    format!("{text}\n{earlier}")
}

/// Limits on the tokens of the chosen excerpts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExcerptBudget {
    /// Maximum total number of tokens in all excerpts.
    pub all: usize,
    /// Maximum total number of tokens in the excerpts that the prompt does not show yet.
    pub new: usize,
}

impl From<usize> for ExcerptBudget {
    fn from(all: usize) -> Self {
        Self { all, new: all }
    }
}

/// An excerpt that the user dismissed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct DismissedExcerpt {
    /// The file that contains the excerpt.
    pub file: FileKey,
    /// Qualified name of the dismissed definition; `None` for a range of lines.
    pub definition: Option<String>,
    /// Zero-based index among the definitions with the same name in the file.
    pub ordinal: u32,
    /// Zero-based line range at the time of dismissal; the end is exclusive.
    pub lines: Range<u32>,
}

impl DismissedExcerpt {
    /// Whether a part of `file` was dismissed: it is the dismissed definition or inside it, or more than half
    /// of its lines were dismissed.
    pub(super) fn covers(&self, file: &FileKey, definition: Option<(&str, u32)>, lines: &Range<u32>) -> bool {
        if self.file != *file {
            return false;
        }
        match (&self.definition, definition) {
            (Some(dismissed), Some((name, ordinal))) => match name.strip_prefix(dismissed.as_str()) {
                Some("") => self.ordinal == ordinal,
                Some(suffix) => suffix.starts_with('.'),
                None => false,
            },
            (Some(_), None) => false,
            (None, _) => {
                let overlap = lines.end.min(self.lines.end).saturating_sub(lines.start.max(self.lines.start));
                overlap * 2 > lines.end.saturating_sub(lines.start)
            }
        }
    }
}
