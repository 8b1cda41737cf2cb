//! Ranks files by importance, using a random walk over the graph that starts from seeds.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use strata_base::key::FileKey;

use super::model::{FileNode, ReferenceGraph};
use super::walk::WalkDirection;
use crate::symbols::words::subwords;

/// Share of walks that start at any file, so that central files always receive some rank.
const UNSEEDED_SHARE: f64 = 0.15;
/// Weight of a file that the user selected.
const SELECTED_WEIGHT: f64 = 1.0;
/// Weight of a file that is open in the editor.
const OPEN_WEIGHT: f64 = 0.5;
/// Weight of a file that the question names.
const MENTIONED_WEIGHT: f64 = 1.0;
/// Weight of an identifier that the question mentions, divided among the files that define it.
const MENTIONED_IDENTIFIER_WEIGHT: f64 = 0.5;
/// Share of a seed's weight that goes to the other files of its directory.
const DIRECTORY_SHARE: f64 = 0.5;
/// Factor for test files, whose map blocks are only a line of counts.
const TEST_FACTOR: f64 = 0.1;
/// Factor for documents, so that unreferenced code ranks above unreferenced documents.
const DOCUMENT_FACTOR: f64 = 0.5;

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
    pub(crate) fn scored_files(&self) -> impl Iterator<Item = (&FileKey, f64)> {
        self.files.iter().zip(self.scores.iter().copied())
    }

    /// Ranks files by the given scores, and files with equal scores by key.
    pub(crate) fn from_scores(scored: impl Iterator<Item = (FileKey, f64)>) -> Self {
        let mut scored: Vec<(FileKey, f64)> = scored.collect();
        scored.sort_by(|(a_key, a), (b_key, b)| b.total_cmp(a).then_with(|| a_key.cmp(b_key)));
        let (files, scores) = scored.into_iter().unzip();
        Self { files, scores }
    }
}

impl ReferenceGraph {
    /// Ranks all files, most important first: files to which the seeds lead, and files to which much of the
    /// repository refers.
    pub fn rank(&self, seeds: &Seeds<'_>) -> Ranking {
        Ranking::from_scores(self.files().iter().cloned().zip(self.scores(seeds)))
    }

    /// Returns the scores of [`Self::rank`], in key order.
    pub(in crate::symbols) fn scores(&self, seeds: &Seeds<'_>) -> Vec<f64> {
        let ranks = self.random_walk(&self.restart_weights(seeds), WalkDirection::Forward);
        ranks.into_iter().zip(&self.nodes).map(|(rank, node)| rank * node.file_kind_factor()).collect()
    }

    /// Returns the ranks of all files, in key order, from walks along references in either direction. The
    /// walks restart according to `start`, or, if there are seeds, half of the time from the seeds. The ranks
    /// add up to 1.
    pub(in crate::symbols) fn personalized_rank(&self, start: &[f64], seeds: &Seeds<'_>) -> Vec<f64> {
        if seeds.is_empty() {
            return self.random_walk(start, WalkDirection::Either);
        }
        let seeded = self.restart_weights(seeds);
        let scale = |values: &[f64]| 1.0 / values.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let (start_scale, seed_scale) = (scale(start), scale(&seeded));
        let combined: Vec<f64> =
            start.iter().zip(&seeded).map(|(a, b)| a * start_scale + b * seed_scale).collect();
        self.random_walk(&combined, WalkDirection::Either)
    }

    /// Computes in advance how central files are and how often their definitions are mentioned.
    pub fn prepare_for_questions(&self) {
        self.centrality();
        self.definition_mention_counts();
    }

    /// Returns the importance of each file, in key order. It is computed by a random walk without seeds and scaled
    /// so that the highest value is 1.
    pub(in crate::symbols) fn centrality(&self) -> &[f64] {
        self.centrality.get_or_init(|| {
            let mut ranks = self.random_walk(&[], WalkDirection::Either);
            let highest = ranks.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
            ranks.iter_mut().for_each(|rank| *rank /= highest);
            ranks
        })
    }

    /// Returns the restart weights of a walk from seeds.
    fn restart_weights(&self, seeds: &Seeds<'_>) -> Vec<f64> {
        let count = self.nodes.len();
        let mut seeded: FxHashMap<u32, f64> = FxHashMap::default();
        let files = [
            (seeds.selected, SELECTED_WEIGHT),
            (seeds.open, OPEN_WEIGHT),
            (seeds.mentioned, MENTIONED_WEIGHT),
        ];
        for (keys, weight) in files {
            for number in keys.iter().filter_map(|key| self.number(key)) {
                let current = seeded.entry(number).or_default();
                *current = current.max(weight);
            }
        }
        for (number, weight) in self.definers_of_identifiers(seeds.identifiers) {
            *seeded.entry(number).or_default() += weight;
        }
        // Sort the seeds, so that floating-point sums are deterministic.
        let mut seeded: Vec<(u32, f64)> = seeded.into_iter().collect();
        seeded.sort_unstable_by_key(|(number, _)| *number);
        let total: f64 = seeded.iter().map(|(_, weight)| weight).sum();
        if total == 0.0 {
            return vec![1.0; count];
        }
        let mut start = vec![UNSEEDED_SHARE / count.max(1) as f64; count];
        // Add up the weights per directory first, since a directory may contain many seeds and many files.
        let mut directories: BTreeMap<u32, (&[u32], f64)> = BTreeMap::new();
        for (number, weight) in seeded {
            let part = (1.0 - UNSEEDED_SHARE) * weight / total;
            if let Some(slot) = start.get_mut(number as usize) {
                *slot += part;
            }
            let siblings = self.resolver.files_in_same_directory(number);
            if let Some(&first) = siblings.first() {
                directories.entry(first).or_insert((siblings, 0.0)).1 += part;
            }
        }
        for (siblings, part) in directories.into_values() {
            for &file in siblings {
                if let Some(slot) = start.get_mut(file as usize) {
                    *slot += DIRECTORY_SHARE * part / siblings.len() as f64;
                }
            }
        }
        start
    }

    /// Returns the files that define any of the identifiers, in any spelling, with their weights.
    fn definers_of_identifiers(&self, identifiers: &[String]) -> Vec<(u32, f64)> {
        let identifier_words: Vec<Vec<String>> = identifiers.iter().map(|name| subwords(name)).collect();
        let mut weighted_files = Vec::new();
        if identifier_words.is_empty() {
            return weighted_files;
        }
        for (name, text) in self.names.iter() {
            let is_named_by = |(identifier, words): (&String, &Vec<String>)| {
                identifier == text || !words.is_empty() && consists_of_words(text, words)
            };
            if identifiers.iter().zip(&identifier_words).any(is_named_by) {
                let definers = self.names.definers(name);
                let weight = MENTIONED_IDENTIFIER_WEIGHT / definers.len().max(1) as f64;
                weighted_files.extend(definers.iter().map(|definer| (definer.file, weight)));
            }
        }
        weighted_files
    }
}

impl FileNode {
    /// Returns the factor for the kind of file: test, document or code.
    fn file_kind_factor(&self) -> f64 {
        if self.is_test {
            TEST_FACTOR
        } else if self.language.is_document() {
            DOCUMENT_FACTOR
        } else {
            1.0
        }
    }
}

/// Whether a name consists of these words. Compares lengths first, which rules out most names.
fn consists_of_words(name: &str, words: &[String]) -> bool {
    let letters = name.bytes().filter(u8::is_ascii_alphanumeric).count();
    name.is_ascii() && letters == words.iter().map(String::len).sum::<usize>() && subwords(name) == words
}
