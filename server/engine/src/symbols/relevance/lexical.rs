//! The words of every file: of its path, of what it defines, of what it mentions. A value that is updated file by file; it keeps
//! no text.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::companions::{is_changelog, subject};
use crate::key::FileKey;
use crate::symbols::index::{FileSymbols, SymbolIndex};
use crate::symbols::words::{each_subword, says_nothing, stem};

/// Where in a file's description a word stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    /// Its own name.
    Name,
    /// The directories around it.
    Directory,
    /// What it defines: names with parameters, types, bases; what is set on instances.
    Symbol,
    /// Imports, and names of others that it mentions.
    Mention,
}

/// How many fields there are.
pub(super) const FIELDS: usize = 4;

/// How often a word stands in each field of a file.
pub(super) type Counts = [u16; FIELDS];

/// Words in files. The same for the same files, whatever order they came in.
#[derive(Clone, Debug, Default)]
pub struct LexicalIndex {
    numbers: BTreeMap<FileKey, u32>,
    /// By number; the places of files that are gone are given to others.
    files: Vec<Option<Described>>,
    free: Vec<u32>,
    terms: FxHashMap<Box<str>, u32>,
    /// By term: the files that have it.
    postings: Vec<Vec<Posting>>,
    /// The words of all files together, by field.
    totals: [u64; FIELDS],
    /// Files of code by what their names are about: a source and its tests are together.
    companions: BTreeMap<Box<str>, Vec<u32>>,
}

/// What is kept of one file.
#[derive(Clone, Debug)]
pub(super) struct Described {
    terms: Box<[u32]>,
    lengths: [u32; FIELDS],
    /// Whether it is read as code, not as a document or not at all.
    pub(super) is_code: bool,
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
        let mut all: Vec<&FileKey> = files.iter().chain(index.iter().map(|(key, _)| key)).collect();
        all.sort_unstable();
        all.dedup();
        for key in all {
            lexical.insert(key, index.get(key).map(|symbols| &**symbols));
        }
        lexical
    }

    /// Puts a file in, in place of what was known of it; without symbols it is known by its path.
    pub fn insert(&mut self, key: &FileKey, symbols: Option<&FileSymbols>) {
        self.remove(key);
        let number = self.free.pop().unwrap_or_else(|| {
            self.files.push(None);
            u32::try_from(self.files.len() - 1).unwrap_or(u32::MAX)
        });
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
        let terms = counts.keys().copied().collect();
        for (term, counts) in counts {
            if let Some(postings) = self.postings.get_mut(term as usize) {
                postings.push(Posting { file: number, counts });
            }
        }
        if symbols.is_some() {
            let group = self.companions.entry(subject(key).into()).or_default();
            if let Err(at) = group.binary_search(&number) {
                group.insert(at, number);
            }
        }
        if let Some(slot) = self.files.get_mut(number as usize) {
            let is_code = symbols.is_some_and(|symbols| !symbols.language.is_document());
            *slot = Some(Described { terms, lengths, is_code, is_changelog: is_changelog(key) });
        }
        self.numbers.insert(key.clone(), number);
    }

    /// Takes a file out.
    pub fn remove(&mut self, key: &FileKey) {
        let Some(number) = self.numbers.remove(key) else { return };
        let Some(described) = self.files.get_mut(number as usize).and_then(Option::take) else { return };
        for term in described.terms {
            if let Some(postings) = self.postings.get_mut(term as usize) {
                postings.retain(|posting| posting.file != number);
            }
        }
        for (total, length) in self.totals.iter_mut().zip(described.lengths) {
            *total -= u64::from(length);
        }
        let subject = subject(key);
        if let Some(group) = self.companions.get_mut(&*subject) {
            group.retain(|other| *other != number);
            if group.is_empty() {
                self.companions.remove(&*subject);
            }
        }
        self.free.push(number);
    }

    /// How many files there are.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Whether there are no files.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// All files in the order of their keys, with their numbers.
    pub(super) fn files(&self) -> impl Iterator<Item = (&FileKey, u32, &Described)> {
        let described = |number: u32| self.files.get(number as usize).and_then(Option::as_ref);
        self.numbers.iter().filter_map(move |(key, number)| Some((key, *number, described(*number)?)))
    }

    /// Groups of files of code whose names are about the same, in a fixed order.
    pub(super) fn companions(&self) -> impl Iterator<Item = &[u32]> {
        self.companions.values().map(|group| &**group)
    }

    /// Numbers are below it.
    pub(super) fn bound(&self) -> usize {
        self.files.len()
    }

    pub(super) fn number(&self, key: &FileKey) -> Option<u32> {
        self.numbers.get(key).copied()
    }

    /// The files that have a word (lower case, stemmed).
    pub(super) fn postings(&self, word: &str) -> &[Posting] {
        let term = self.terms.get(word).copied();
        term.and_then(|term| self.postings.get(term as usize)).map_or(&[], |postings| postings)
    }

    /// How many words each field of a file has.
    pub(super) fn lengths(&self, number: u32) -> [u32; FIELDS] {
        let described = self.files.get(number as usize).and_then(Option::as_ref);
        described.map_or([0; FIELDS], |described| described.lengths)
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
pub(super) fn name_words(name: &str, mut add: impl FnMut(&str)) {
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
