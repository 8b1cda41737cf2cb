//! The excerpts of one prompt with their current text.

use std::ops::Range;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::anchor::Anchor;
use super::remembered::ShownExcerpt;
use crate::code::excerpts::ExcerptReason;
use crate::code::symbols::FileSymbols;
use crate::hash::ContentHash;
use crate::prompt::assembly::{FileText, Source};
use crate::prompt::layout::ExcerptKey;

/// A file that can provide excerpts, as read.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// Its text, as a model may see it.
    pub file: FileText,
    /// Its outline; none where the language is not known.
    pub symbols: Option<Arc<FileSymbols>>,
}

/// How an excerpt comes to be in a prompt.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExcerptStanding {
    /// You pinned it.
    Pinned,
    /// The last question is about it.
    Wanted,
    /// An earlier question was about it. It stays where it costs nothing to leave it.
    Lingering,
}

/// One excerpt.
#[derive(Clone, PartialEq, Debug)]
pub struct CurrentExcerpt {
    /// Its name.
    pub key: ExcerptKey,
    /// Its text; empty when it is gone from its file.
    pub body: Arc<str>,
    /// Its lines now, from 0, end exclusive; `None` when it is gone.
    pub lines: Option<Range<u32>>,
    /// Where the file's text came from.
    pub source: Source,
    /// The hash of the file's whole text.
    pub hash: ContentHash,
    /// Number of its secrets replaced by placeholders.
    pub redacted: usize,
    /// Why it was chosen; nothing when you pinned it unasked.
    pub reason: Option<ExcerptReason>,
    /// Why it is there.
    pub standing: ExcerptStanding,
    /// The last question that it was chosen for, and its place among those chosen then.
    pub(super) question: u64,
    pub(super) rank: u32,
}

impl CurrentExcerpt {
    /// The record that the session keeps.
    pub(super) fn remembered(&self) -> ShownExcerpt {
        ShownExcerpt {
            reason: self.reason,
            question: self.question,
            rank: self.rank,
            lines: self.lines.clone().unwrap_or_default(),
            anchor: Anchor::of(&self.body),
        }
    }
}

/// The excerpts of one prompt.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ExcerptSelection {
    /// Pinned ones, then those for the question, best first, then lingering ones, latest first.
    pub items: Vec<CurrentExcerpt>,
    /// The question's number in the session.
    pub question: u64,
    /// Maximum tokens of lingering ones before they count as ballast.
    pub allowance: usize,
}

impl ExcerptSelection {
    /// Those to lay out, most important first.
    pub(crate) fn laid(&self) -> impl Iterator<Item = &CurrentExcerpt> {
        self.items.iter().filter(|item| item.standing != ExcerptStanding::Lingering)
    }

    /// Those that only keep their position.
    pub(crate) fn lingering(&self) -> impl Iterator<Item = &CurrentExcerpt> {
        self.items.iter().filter(|item| item.standing == ExcerptStanding::Lingering)
    }
}
