//! The request and result types of excerpts.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::past::PastCommit;
use crate::key::FileKey;

/// One definition, or a range of lines, that a question is about.
#[derive(Clone, Debug, PartialEq)]
pub struct Excerpt {
    /// The file it is part of.
    pub file: FileKey,
    /// The definition that the lines make up, qualified by its containers: `Session.send`. `None` for other line ranges, such as
    /// a part of a large definition or several small ones.
    pub definition: Option<String>,
    /// Which of the definitions of this name in the file, from 0.
    pub ordinal: u32,
    /// Its lines, from 0; the end is exclusive.
    pub lines: Range<u32>,
    /// The same in bytes. Lines are whole: each but the last of a file ends with its line break.
    pub bytes: Range<usize>,
    /// How much the question is about it, between 0 and 1.
    pub score: f64,
    /// The main reason for the choice.
    pub reason: ExcerptReason,
}

/// The main reason for choosing an excerpt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExcerptReason {
    /// The question names its file.
    Named,
    /// Its name or its text has words of the question.
    Words,
    /// Its file matches the question, or is close to files that do.
    File,
    /// Its file is open.
    Open,
    /// Its file changed lately.
    Recent,
}

/// A question, with other hints about what is relevant.
#[derive(Clone, Copy, Debug)]
pub struct ExcerptQuery<'a> {
    /// The task in the user's words. The first line counts more.
    pub text: &'a str,
    /// Files that are open in the editor.
    pub open: &'a [FileKey],
    /// Files the prompt shows in full. They give no excerpts, and code they refer to counts more.
    pub selected: &'a [FileKey],
    /// Files that must not be shown.
    pub excluded: &'a BTreeSet<FileKey>,
    /// Commits since the last change of each file, 0 for the newest one. Files that did not change for long are absent.
    pub recency: &'a BTreeMap<FileKey, u32>,
    /// The last commits, newest first.
    pub past: &'a [PastCommit],
    /// Excerpts not to suggest again.
    pub dismissed: &'a [DismissedExcerpt],
    /// Lines of files, from 0, that the prompt shows already. They are chosen like any others and take nothing of
    /// [`ExcerptBudget::new`].
    pub shown: &'a BTreeMap<FileKey, Vec<Range<u32>>>,
}

/// Maximum tokens of all excerpts together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExcerptBudget {
    /// All of them.
    pub all: usize,
    /// Maximum tokens of excerpts the prompt does not show yet.
    pub new: usize,
}

impl From<usize> for ExcerptBudget {
    fn from(all: usize) -> Self {
        Self { all, new: all }
    }
}

/// An excerpt that was dismissed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct DismissedExcerpt {
    /// The file.
    pub file: FileKey,
    /// The definition; `None` for a range of lines.
    pub definition: Option<String>,
    /// Which of the definitions of this name, from 0.
    pub ordinal: u32,
    /// The lines it had, from 0.
    pub lines: Range<u32>,
}

impl DismissedExcerpt {
    /// The record that prevents this excerpt from being suggested again.
    pub fn of(excerpt: &Excerpt) -> Self {
        Self {
            file: excerpt.file.clone(),
            definition: excerpt.definition.clone(),
            ordinal: excerpt.ordinal,
            lines: excerpt.lines.clone(),
        }
    }

    /// Whether a part of `file` was dismissed: the same definition or one inside it, or lines of which more than half were.
    pub(super) fn covers(&self, file: &FileKey, definition: Option<(&str, u32)>, lines: &Range<u32>) -> bool {
        if self.file != *file {
            return false;
        }
        match (&self.definition, definition) {
            (Some(dismissed), Some((name, ordinal))) => match name.strip_prefix(dismissed.as_str()) {
                Some("") => self.ordinal == ordinal,
                Some(rest) => rest.starts_with('.'),
                None => false,
            },
            (Some(_), None) => false,
            (None, _) => {
                let shared = lines.end.min(self.lines.end).saturating_sub(lines.start.max(self.lines.start));
                shared * 2 > lines.end.saturating_sub(lines.start)
            }
        }
    }
}
