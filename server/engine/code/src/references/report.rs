//! What a search for references finds.

use std::collections::BTreeSet;
use std::ops::Range;

use schemars::JsonSchema;
use serde::Serialize;
use strata_base::key::FileKey;
use strata_base::text::{LineStarts, ellipsize, first_line, line_starts};

use crate::outline::SymbolKind;

/// Maximum length of a reported line, in characters.
const MAX_LINE: usize = 200;

/// How certain it is that a reference refers to the definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// Only the name matches; the type of the value is unknown.
    Guess,
    /// Scopes, imports or types lead from the reference to the definition.
    Certain,
}

/// A definition that matches the query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundDefinition {
    pub file: FileKey,
    /// One-based line number.
    pub line: usize,
    /// Byte range of the name.
    pub range: Range<usize>,
    /// Names of the enclosing types, outermost first.
    pub container: Vec<String>,
    /// Head of the definition in the outline, or the source line if the outline does not contain it.
    pub head: Box<str>,
    /// Kind of the symbol; `None` for a name set on instances.
    pub kind: Option<SymbolKind>,
}

/// A mention of one of the definitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReferenceHit {
    pub file: FileKey,
    /// One-based line number.
    pub line: usize,
    /// Byte range of the name.
    pub range: Range<usize>,
    /// The line without leading and trailing whitespace.
    pub text: Box<str>,
    pub confidence: Confidence,
    /// Indices of the definitions that the mention refers to; empty if it could be any of them.
    pub definition_indices: Vec<usize>,
    /// Whether the mention is the name in a definition.
    pub is_definition: bool,
}

/// The references to the target of a query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReferenceReport {
    /// The matching definitions, sorted by file and position.
    pub definitions: Vec<FoundDefinition>,
    /// All mentions including definitions, sorted by file and position.
    pub hits: Vec<ReferenceHit>,
    /// Number of omitted mentions that match only by name, where the name is also built into the language.
    /// Most of them refer to something else.
    pub unlikely: usize,
    /// Lines that contain the name as a word and are not among `hits`.
    pub other_lines: NonReferenceLineCounts,
    /// Number of indexed files that were not searched, because they cannot be read or the others were too large in
    /// total.
    pub unsearched: usize,
}

/// Numbers of lines that contain a name without being references.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NonReferenceLineCounts {
    /// Lines of code: something else has the name, or it could not be resolved.
    pub code: usize,
    /// Lines of comments, strings and documents.
    pub text: usize,
}

/// What was found in a part of the files.
#[derive(Default)]
pub struct SearchedPart {
    pub(super) hits: Vec<ReferenceHit>,
    pub(super) unlikely: usize,
    pub(super) other_lines: NonReferenceLineCounts,
    /// Files that were not searched.
    pub(super) skipped: BTreeSet<FileKey>,
    pub(super) is_cancelled: bool,
}

impl ReferenceHit {
    pub(super) fn new(
        file: &FileKey,
        text: &str,
        starts: &LineStarts,
        range: Range<usize>,
        confidence: Confidence,
        definition_indices: Vec<usize>,
    ) -> Self {
        Self {
            file: file.clone(),
            line: starts.line(range.start) as usize,
            text: line_text(text, range.start),
            range,
            confidence,
            definition_indices,
            is_definition: false,
        }
    }
}

impl ReferenceReport {
    pub(super) fn mark_definitions(&mut self) {
        let definition_starts: BTreeSet<(&FileKey, usize)> =
            self.definitions.iter().map(|definition| (&definition.file, definition.range.start)).collect();
        for hit in &mut self.hits {
            hit.is_definition = definition_starts.contains(&(&hit.file, hit.range.start));
        }
    }
}

pub(super) fn line_number(text: &str, byte: usize) -> usize {
    line_starts(text).take_while(|start| *start <= byte).count()
}

pub(super) fn line_text(text: &str, byte: usize) -> Box<str> {
    let before = text.get(..byte).unwrap_or_default();
    let start = before.rfind(['\n', '\r']).map_or(0, |end| end + 1);
    ellipsize(first_line(text.get(start..).unwrap_or_default()).trim(), MAX_LINE).into()
}
