//! An index of the words in the path, definitions and mentions of every file. Built for all files at once;
//! stores no text.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use strata_base::key::FileKey;

use super::companions::{is_changelog, stem_without_test_markers};
use super::role::FileRole;
use crate::symbols::index::{FileSymbols, SymbolIndex};
use crate::symbols::words::{each_subword_in, is_stop_word, stem};

/// The part of a file's data in which a word occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LexicalField {
    /// The file name.
    Name,
    /// The directories that contain the file.
    Directory,
    /// Definitions: names with parameters, types and bases, and attributes set on instances.
    Symbol,
    /// Imports, and mentioned names that other files define.
    Mention,
}

pub(super) const LEXICAL_FIELD_COUNT: usize = 4;

/// Number of occurrences of a word in each field of a file.
pub(super) type FieldCounts = [u16; LEXICAL_FIELD_COUNT];

/// An index from words to files. Does not depend on the order of files.
#[derive(Debug, Default)]
pub struct LexicalIndex {
    /// Files in key order, indexed by number.
    files: Vec<FileTerms>,
    terms: FxHashMap<Box<str>, u32>,
    /// Files that contain each term, indexed by term.
    postings: Vec<Vec<Posting>>,
    /// Number of words in each field, over all files.
    totals: [u64; LEXICAL_FIELD_COUNT],
    /// Files with outlines, grouped by the subject of their names: a source file and its tests are in one group.
    companions: BTreeMap<Box<str>, Vec<u32>>,
}

/// The word counts and kind of one file.
#[derive(Debug)]
pub(crate) struct FileTerms {
    pub(crate) key: FileKey,
    lengths: [u32; LEXICAL_FIELD_COUNT],
    pub(crate) role: FileRole,
    pub(super) is_changelog: bool,
}

/// The occurrences of a term in a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Posting {
    pub(super) file: u32,
    pub(super) counts: FieldCounts,
}

impl LexicalIndex {
    /// Builds the index for `files`. Files without symbols in `index` are indexed by path only.
    pub fn build(index: &SymbolIndex, files: &[FileKey]) -> Self {
        let mut lexical = Self::default();
        let mut all: Vec<&FileKey> = files.iter().chain(index.keys()).collect();
        all.sort_unstable();
        all.dedup();
        for key in all {
            lexical.push(key, index.get(key).map(|symbols| &**symbols));
        }
        lexical
    }

    /// Adds a file, whose key must be greater than all others. Without symbols, it is indexed by path only.
    fn push(&mut self, key: &FileKey, symbols: Option<&FileSymbols>) {
        let number = u32::try_from(self.files.len()).unwrap_or(u32::MAX);
        let mut counts: FxHashMap<u32, FieldCounts> = FxHashMap::default();
        let mut lengths = [0; LEXICAL_FIELD_COUNT];
        each_word(key, symbols, |field, word| {
            let term = self.intern_term(word);
            let count = counts.entry(term).or_default();
            if let Some(count) = count.get_mut(field as usize) {
                *count = count.saturating_add(1);
            }
            if let Some(length) = lengths.get_mut(field as usize) {
                *length += 1;
            }
        });
        for (total, length) in self.totals.iter_mut().zip(lengths) {
            *total += u64::from(length);
        }
        for (term, counts) in counts {
            if let Some(postings) = self.postings.get_mut(term as usize) {
                postings.push(Posting { file: number, counts });
            }
        }
        if symbols.is_some() {
            self.companions.entry(stem_without_test_markers(key).into()).or_default().push(number);
        }
        let role = FileRole::for_file(key, symbols.map(|symbols| symbols.language));
        self.files.push(FileTerms { key: key.clone(), lengths, role, is_changelog: is_changelog(key) });
    }

    /// Returns the number of files, which is greater than any file number.
    pub(super) fn len(&self) -> usize {
        self.files.len()
    }

    /// Returns all files in key order, with their numbers.
    pub(crate) fn files(&self) -> impl Iterator<Item = (u32, &FileTerms)> {
        (0_u32..).zip(&self.files)
    }

    /// Returns the groups of files with outlines whose names have the same subject, in a fixed order.
    pub(super) fn companions(&self) -> impl Iterator<Item = &[u32]> {
        self.companions.values().map(|group| &**group)
    }

    /// Returns the numbers of files in key order, or `None` for files that are not indexed.
    pub(super) fn numbers<'a>(&'a self, keys: &'a [FileKey]) -> impl Iterator<Item = Option<u32>> + 'a {
        let mut files = self.files().peekable();
        keys.iter().map(move |key| {
            while files.next_if(|(_, file)| file.key < *key).is_some() {}
            files.peek().filter(|(_, file)| file.key == *key).map(|(number, _)| *number)
        })
    }

    /// Returns the files that contain a word, which must be in lower case and stemmed.
    pub(super) fn postings(&self, word: &str) -> &[Posting] {
        let term = self.terms.get(word).copied();
        term.and_then(|term| self.postings.get(term as usize)).map_or(&[], |postings| postings)
    }

    /// Returns the number of words in each field of a file.
    pub(super) fn field_lengths(&self, number: u32) -> [u32; LEXICAL_FIELD_COUNT] {
        self.files.get(number as usize).map_or([0; LEXICAL_FIELD_COUNT], |file| file.lengths)
    }

    /// Returns the average number of words in a field.
    pub(super) fn average_length(&self, field: usize) -> f64 {
        self.totals.get(field).map_or(0.0, |total| *total as f64) / self.len().max(1) as f64
    }

    fn intern_term(&mut self, word: &str) -> u32 {
        if let Some(&term) = self.terms.get(word) {
            return term;
        }
        let term = u32::try_from(self.postings.len()).unwrap_or(u32::MAX);
        self.terms.insert(word.into(), term);
        self.postings.push(Vec::new());
        term
    }
}

/// Calls `add` with every word of a file, in lower case and stemmed. Names of several words are also added as a whole.
fn each_word(key: &FileKey, symbols: Option<&FileSymbols>, mut add: impl FnMut(LexicalField, &str)) {
    each_name_word(key.file_name(), |word| add(LexicalField::Name, word));
    each_name_word(key.directory(), |word| add(LexicalField::Directory, word));
    let Some(symbols) = symbols else { return };
    for symbol in symbols.outline.symbols.iter() {
        each_name_word(&symbol.head, |word| add(LexicalField::Symbol, word));
        symbol
            .attributes
            .iter()
            .for_each(|text| each_name_word(text, |word| add(LexicalField::Symbol, word)));
        symbol.instance.iter().for_each(|text| each_name_word(text, |word| add(LexicalField::Symbol, word)));
    }
    for name in symbols.outline.imports.iter().chain(symbols.outline.references.iter()) {
        each_name_word(name, |word| add(LexicalField::Mention, word));
    }
}

/// Calls `add` with every word of a name, in lower case and stemmed. Names of several words are also added as a whole.
pub(crate) fn each_name_word(name: &str, mut add: impl FnMut(&str)) {
    let (mut joined, mut buffer) = (String::new(), String::new());
    for name in name.split(|c: char| !c.is_alphanumeric() && c != '_') {
        let mut words = 0;
        joined.clear();
        each_subword_in(&mut buffer, name, |word| {
            words += 1;
            joined.push_str(word);
            if word.len() > 1 && !is_stop_word(word) {
                add(stem(word));
            }
        });
        if words > 1 {
            add(&joined);
        }
    }
}
