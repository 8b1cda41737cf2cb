//! Ranks files by importance, using a random walk over the graph that starts from seeds.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use strata_base::key::FileKey;

use super::model::{Node, References};
use super::walk::Direction;
use crate::symbols::words::subwords;

/// Share of walks that start at any file, so that central files always receive some rank.
const ANYWHERE: f64 = 0.15;
/// Weight of a file that the user selected.
const SELECTED: f64 = 1.0;
/// Weight of a file that is open in the editor.
const OPEN: f64 = 0.5;
/// Weight of a file that the question names.
const MENTIONED: f64 = 1.0;
/// Weight of an identifier that the question mentions, divided among the files that define it.
const IDENTIFIER: f64 = 0.5;
/// Share of a seed's weight that goes to the other files of its directory.
const BESIDE: f64 = 0.5;
/// Factor for test files, whose map blocks are only a line of counts.
const TESTS: f64 = 0.1;
/// Factor for documents, so that unreferenced code ranks above unreferenced documents.
const DOCUMENTS: f64 = 0.5;

/// The files and names from which a ranking starts. If there are none, the ranking starts at all files alike.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seeds<'a> {
    /// Files that are open in the editor.
    pub open: &'a [FileKey],
    /// Files that the user selected.
    pub selected: &'a [FileKey],
    /// Files that the question names.
    pub mentioned: &'a [FileKey],
    /// Identifiers that the question mentions, in any spelling (`camelCase`, `snake_case`).
    pub identifiers: &'a [String],
}

impl Seeds<'_> {
    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty()
            && self.selected.is_empty()
            && self.mentioned.is_empty()
            && self.identifiers.is_empty()
    }
}

/// Files ordered by importance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranking {
    /// All files, most important first. Files of equal importance are in key order.
    pub files: Vec<FileKey>,
    scores: Vec<f64>,
}

impl Ranking {
    /// Returns all files with their scores, in the same order. The scores add up to about 1.
    pub(crate) fn scored(&self) -> impl Iterator<Item = (&FileKey, f64)> {
        self.files.iter().zip(self.scores.iter().copied())
    }

    /// Ranks files by the given scores, and files with equal scores by key.
    pub(crate) fn of_scores(scored: impl Iterator<Item = (FileKey, f64)>) -> Self {
        let mut scored: Vec<(FileKey, f64)> = scored.collect();
        scored.sort_by(|(a_key, a), (b_key, b)| b.total_cmp(a).then_with(|| a_key.cmp(b_key)));
        let (files, scores) = scored.into_iter().unzip();
        Self { files, scores }
    }
}

impl References {
    /// Ranks all files, most important first: files to which the seeds lead, and files to which much of the
    /// repository refers.
    pub fn rank(&self, seeds: &Seeds<'_>) -> Ranking {
        let start = self.start(seeds);
        let ranks = self.walk(&start, Direction::Forward);
        let weigh = |(rank, node): (f64, &Arc<Node>)| rank * node.worth();
        let mut scored: Vec<(f64, &FileKey)> =
            ranks.into_iter().zip(&self.nodes).map(weigh).zip(self.files()).collect();
        scored.sort_by(|(a, a_key), (b, b_key)| b.total_cmp(a).then_with(|| a_key.cmp(b_key)));
        let (scores, files) = scored.into_iter().map(|(score, key)| (score, key.clone())).unzip();
        Ranking { files, scores }
    }

    /// Returns the ranks of all files, in key order, from walks along references in either direction. The
    /// walks restart according to `start`, or, if there are seeds, half of the time from the seeds. The ranks
    /// add up to 1.
    pub(in crate::symbols) fn around(&self, start: &[f64], seeds: &Seeds<'_>) -> Vec<f64> {
        if seeds.is_empty() {
            return self.walk(start, Direction::Either);
        }
        let seeded = self.start(seeds);
        let share = |values: &[f64]| 1.0 / values.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let (one, other) = (share(start), share(&seeded));
        let both: Vec<f64> = start.iter().zip(&seeded).map(|(a, b)| a * one + b * other).collect();
        self.walk(&both, Direction::Either)
    }

    /// Returns the importance of each file, in key order. It is computed by a random walk without seeds and scaled
    /// so that the highest value is 1.
    pub(in crate::symbols) fn centrality(&self) -> &[f64] {
        self.centrality.get_or_init(|| {
            let mut ranks = self.walk(&[], Direction::Either);
            let most = ranks.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
            ranks.iter_mut().for_each(|rank| *rank /= most);
            ranks
        })
    }

    /// Returns the restart weights of a walk from seeds.
    fn start(&self, seeds: &Seeds<'_>) -> Vec<f64> {
        let count = self.nodes.len();
        let mut seeded: FxHashMap<u32, f64> = FxHashMap::default();
        let files = [(seeds.selected, SELECTED), (seeds.open, OPEN), (seeds.mentioned, MENTIONED)];
        for (keys, weight) in files {
            for number in keys.iter().filter_map(|key| self.number(key)) {
                let known = seeded.entry(number).or_default();
                *known = known.max(weight);
            }
        }
        for (number, weight) in self.identified(seeds.identifiers) {
            *seeded.entry(number).or_default() += weight;
        }
        // Sort the seeds, so that floating-point sums are deterministic.
        let mut seeded: Vec<(u32, f64)> = seeded.into_iter().collect();
        seeded.sort_unstable_by_key(|(number, _)| *number);
        let total: f64 = seeded.iter().map(|(_, weight)| weight).sum();
        if total == 0.0 {
            return vec![1.0; count];
        }
        let mut start = vec![ANYWHERE / count.max(1) as f64; count];
        // Add up the weights per directory first, since a directory may contain many seeds and many files.
        let mut directories: BTreeMap<u32, (&[u32], f64)> = BTreeMap::new();
        for (number, weight) in seeded {
            let part = (1.0 - ANYWHERE) * weight / total;
            if let Some(slot) = start.get_mut(number as usize) {
                *slot += part;
            }
            let beside = self.resolver.beside(number);
            if let Some(&first) = beside.first() {
                directories.entry(first).or_insert((beside, 0.0)).1 += part;
            }
        }
        for (beside, part) in directories.into_values() {
            for &file in beside {
                if let Some(slot) = start.get_mut(file as usize) {
                    *slot += BESIDE * part / beside.len() as f64;
                }
            }
        }
        start
    }

    /// Returns the files that define any of the identifiers, in any spelling, with their weights.
    fn identified(&self, identifiers: &[String]) -> Vec<(u32, f64)> {
        let wanted: Vec<Vec<String>> = identifiers.iter().map(|name| subwords(name)).collect();
        let mut found = Vec::new();
        if wanted.is_empty() {
            return found;
        }
        for (name, text) in self.names.iter() {
            let fits = |(exact, words): (&String, &Vec<String>)| {
                exact == text || !words.is_empty() && spelt(text, words)
            };
            if identifiers.iter().zip(&wanted).any(fits) {
                let definers = self.names.definers(name);
                let weight = IDENTIFIER / definers.len().max(1) as f64;
                found.extend(definers.iter().map(|definer| (definer.file, weight)));
            }
        }
        found
    }
}

impl Node {
    /// Returns the factor for the kind of file: test, document or code.
    fn worth(&self) -> f64 {
        if self.tests {
            TESTS
        } else if self.language.is_document() {
            DOCUMENTS
        } else {
            1.0
        }
    }
}

/// Whether a name consists of these words. Compares lengths first, which rules out most names.
fn spelt(name: &str, words: &[String]) -> bool {
    let letters = name.bytes().filter(u8::is_ascii_alphanumeric).count();
    name.is_ascii() && letters == words.iter().map(String::len).sum::<usize>() && subwords(name) == words
}
