//! The words of every file, from its path, definitions and mentions. Built for all files at once; keeps no text.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::companions::{is_changelog, subject};
use crate::code::symbols::index::{FileSymbols, SymbolIndex};
use crate::code::symbols::words::{each_subword, says_nothing, stem};
use crate::key::FileKey;

/// The field of a file's description in which a word occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    /// Its own name.
    Name,
    /// The directories around it.
    Directory,
    /// Definitions: names with parameters, types and bases, and attributes set on instances.
    Symbol,
    /// Imports, and names of others that it mentions.
    Mention,
}

/// How many fields there are.
pub(super) const FIELDS: usize = 4;

/// Occurrences of a word in each field of a file.
pub(super) type Counts = [u16; FIELDS];

/// Words in files. The same for the same files, whatever order they came in.
#[derive(Debug, Default)]
pub struct LexicalIndex {
    /// In key order; the index is the file's number.
    files: Vec<FileTerms>,
    terms: FxHashMap<Box<str>, u32>,
    /// By term: the files that contain it.
    postings: Vec<Vec<Posting>>,
    /// The words of all files together, by field.
    totals: [u64; FIELDS],
    /// Files with outlines by what their names are about: a source and its tests are together.
    companions: BTreeMap<Box<str>, Vec<u32>>,
}

/// The terms of one file.
#[derive(Debug)]
pub(in crate::code) struct FileTerms {
    pub(in crate::code) key: FileKey,
    lengths: [u32; FIELDS],
    /// Whether it is read as code, not as a document or not at all.
    pub(in crate::code) is_code: bool,
    /// Whether changes are noted in it.
    pub(super) is_changelog: bool,
}

/// A term in a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Posting {
    pub(super) file: u32,
    pub(super) counts: Counts,
}

impl LexicalIndex {
    /// The words of `files`; those in the index are known by more than their paths.
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

    /// Takes in a file, whose key comes after all others; without symbols it is known by its path.
    fn push(&mut self, key: &FileKey, symbols: Option<&FileSymbols>) {
        let number = u32::try_from(self.files.len()).unwrap_or(u32::MAX);
        let mut counts: FxHashMap<u32, Counts> = FxHashMap::default();
        let mut lengths = [0; FIELDS];
        each_word(key, symbols, |field, word| {
            let term = self.term(word);
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
            self.companions.entry(subject(key).into()).or_default().push(number);
        }
        let is_code = symbols.is_some_and(|symbols| !symbols.language.is_document());
        self.files.push(FileTerms { key: key.clone(), lengths, is_code, is_changelog: is_changelog(key) });
    }

    /// How many files there are; numbers are below it.
    pub(super) fn len(&self) -> usize {
        self.files.len()
    }

    /// All files in the order of their keys, with their numbers.
    pub(in crate::code) fn files(&self) -> impl Iterator<Item = (u32, &FileTerms)> {
        (0_u32..).zip(&self.files)
    }

    /// Groups of files with outlines whose names are about the same, in a fixed order.
    pub(super) fn companions(&self) -> impl Iterator<Item = &[u32]> {
        self.companions.values().map(|group| &**group)
    }

    pub(in crate::code) fn number(&self, key: &FileKey) -> Option<u32> {
        let at = self.files.binary_search_by(|file| file.key.cmp(key)).ok()?;
        u32::try_from(at).ok()
    }

    /// The files that have a word (lower case, stemmed).
    pub(super) fn postings(&self, word: &str) -> &[Posting] {
        let term = self.terms.get(word).copied();
        term.and_then(|term| self.postings.get(term as usize)).map_or(&[], |postings| postings)
    }

    /// How many words each field of a file has.
    pub(super) fn lengths(&self, number: u32) -> [u32; FIELDS] {
        self.files.get(number as usize).map_or([0; FIELDS], |file| file.lengths)
    }

    /// How many words a field has on average.
    pub(super) fn average(&self, field: usize) -> f64 {
        self.totals.get(field).map_or(0.0, |total| *total as f64) / self.len().max(1) as f64
    }

    fn term(&mut self, word: &str) -> u32 {
        if let Some(&term) = self.terms.get(word) {
            return term;
        }
        let term = u32::try_from(self.postings.len()).unwrap_or(u32::MAX);
        self.terms.insert(word.into(), term);
        self.postings.push(Vec::new());
        term
    }
}

/// Calls `add` with every word of a file, in lower case and stemmed, and with names of several words as a whole.
fn each_word(key: &FileKey, symbols: Option<&FileSymbols>, mut add: impl FnMut(Field, &str)) {
    name_words(key.file_name(), |word| add(Field::Name, word));
    name_words(key.directory(), |word| add(Field::Directory, word));
    let Some(symbols) = symbols else { return };
    for symbol in &symbols.outline.symbols {
        name_words(&symbol.head, |word| add(Field::Symbol, word));
        symbol.attributes.iter().for_each(|text| name_words(text, |word| add(Field::Symbol, word)));
        symbol.instance.iter().for_each(|text| name_words(text, |word| add(Field::Symbol, word)));
    }
    for name in symbols.outline.imports.iter().chain(symbols.outline.references.iter()) {
        name_words(name, |word| add(Field::Mention, word));
    }
}

/// The words of a name, stemmed; and a name of several words as one, in lower case.
pub(in crate::code) fn name_words(name: &str, mut add: impl FnMut(&str)) {
    let mut whole = String::new();
    for name in name.split(|c: char| !c.is_alphanumeric() && c != '_') {
        let mut words = 0;
        whole.clear();
        each_subword(name, |word| {
            words += 1;
            whole.push_str(word);
            if word.len() > 1 && !says_nothing(word) {
                add(stem(word));
            }
        });
        if words > 1 {
            add(&whole);
        }
    }
}
