//! The excerpts of one prompt, with their current text.

use std::ops::Range;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use strata_base::hash::ContentHash;
use strata_code::excerpts::ExcerptReason;
use strata_code::symbols::FileSymbols;

use super::anchor::Anchor;
use super::shown_excerpt::ShownExcerpt;
use crate::assembly::{FileText, Source};
use crate::layout::ExcerptKey;

/// A file that can provide excerpts, with its current text.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// Text of the file, with secrets replaced by placeholders.
    pub file: FileText,
    /// Outline of the file; `None` if its language is not supported.
    pub symbols: Option<Arc<FileSymbols>>,
}

/// Why an excerpt is in a prompt.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExcerptStanding {
    /// You pinned the excerpt.
    Pinned,
    /// The excerpt is relevant to the last question.
    Wanted,
    /// The excerpt is relevant only to an earlier question, or its file no longer contains it. It stays only as long as
    /// its part of the prompt is not rewritten.
    Lingering,
}

/// An excerpt in a prompt.
#[derive(Clone, PartialEq, Debug)]
pub struct CurrentExcerpt {
    pub key: ExcerptKey,
    /// Text of the excerpt; empty if its file no longer contains it.
    pub body: Arc<str>,
    /// Current lines, zero-based, end exclusive; `None` if the file no longer contains the excerpt.
    pub lines: Option<Range<u32>>,
    /// Origin and version of the file's text.
    pub source: Source,
    /// Hash of the file's whole text.
    pub hash: ContentHash,
    /// Number of secrets in the excerpt that were replaced by placeholders.
    pub redacted: usize,
    /// Why the excerpt was chosen for a question; `None` if the user pinned it and it was not chosen for any question.
    pub reason: Option<ExcerptReason>,
    /// Whether the excerpt is pinned, relevant to the last question, or left from an earlier one.
    pub standing: ExcerptStanding,
    /// One-based number of the last question for which the excerpt was chosen.
    pub(super) question: u64,
    pub(super) rank: u32,
}

impl CurrentExcerpt {
    pub(super) fn to_record(&self) -> ShownExcerpt {
        ShownExcerpt {
            reason: self.reason,
            question: self.question,
            rank: self.rank,
            lines: self.lines.clone().unwrap_or_default(),
            anchor: Anchor::from_text(&self.body),
        }
    }
}

/// The excerpts of one prompt.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ExcerptSelection {
    /// Excerpts in order: pinned ones, then those for the question, best first, then retained ones, latest first.
    pub items: Vec<CurrentExcerpt>,
    /// Number of questions asked in the session so far.
    pub question: u64,
    /// Number of tokens of retained excerpts that may stay without counting as outdated text, which the policy
    /// `ledger` limits.
    pub allowance: usize,
    /// Number of files that may be relevant and were not read, because more relevant ones are too large together.
    pub not_read: usize,
}

impl ExcerptSelection {
    /// Returns the excerpts to place in the prompt, most important first.
    pub(crate) fn placed_excerpts(&self) -> impl Iterator<Item = &CurrentExcerpt> {
        self.items.iter().filter(|item| item.standing != ExcerptStanding::Lingering)
    }

    /// Returns the excerpts that are not placed again but may keep their positions.
    pub(crate) fn retained_excerpts(&self) -> impl Iterator<Item = &CurrentExcerpt> {
        self.items.iter().filter(|item| item.standing == ExcerptStanding::Lingering)
    }
}
