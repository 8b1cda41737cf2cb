//! Ranks files by earlier commits: files changed by a commit with a similar subject are likely to change again.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use strata_base::key::FileKey;

use crate::symbols::{ParsedQuery, each_name_word};

/// Constant added to the number of words in a commit's subject, since a match with a one-word subject is weak
/// evidence.
const SUBJECT_LENGTH_SMOOTHING: f64 = 2.0;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PastCommit {
    /// First line of the commit message.
    pub subject: String,
    /// Files that the commit changed.
    pub files: Vec<FileKey>,
}

/// Returns, for each file, the similarity between a question and the most similar commit that changed the file,
/// between 0 and 1. Files without a similar commit are absent. Rare words count more, and a commit that changed many
/// files counts less for each of them.
pub(super) fn commit_similarity<'a>(
    past: &'a [PastCommit],
    parsed_query: &ParsedQuery,
) -> BTreeMap<&'a FileKey, f64> {
    let word_indices: FxHashMap<&str, usize> =
        parsed_query.words.iter().enumerate().map(|(index, (word, _))| (word.as_str(), index)).collect();
    let mut frequencies = vec![0.0_f64; parsed_query.words.len()];
    let mut commits: Vec<(&PastCommit, FxHashSet<usize>, f64)> = Vec::new();
    for commit in past {
        let (mut common, mut words) = (FxHashSet::default(), 0.0);
        each_name_word(&commit.subject, |word| {
            words += 1.0;
            common.extend(word_indices.get(word));
        });
        for index in &common {
            if let Some(frequency) = frequencies.get_mut(*index) {
                *frequency += 1.0;
            }
        }
        if !common.is_empty() {
            commits.push((commit, common, words));
        }
    }
    let count = past.len() as f64;
    let rarity = |index: usize| {
        let frequency = frequencies.get(index).copied().unwrap_or(0.0);
        let weight = parsed_query.words.get(index).map_or(0.0, |(_, weight)| *weight);
        weight * (1.0 + (count - frequency + 0.5) / (frequency + 0.5)).ln()
    };
    let mut scores: BTreeMap<&FileKey, f64> = BTreeMap::new();
    for (commit, common, words) in commits {
        // Sort the words, so that the floating-point sum is deterministic.
        let mut common: Vec<usize> = common.into_iter().collect();
        common.sort_unstable();
        let similarity =
            common.into_iter().map(rarity).sum::<f64>() / (words + SUBJECT_LENGTH_SMOOTHING).sqrt();
        let share = similarity / (commit.files.len().max(1) as f64).sqrt();
        for file in &commit.files {
            let score = scores.entry(file).or_default();
            *score = score.max(share);
        }
    }
    let best = scores.values().copied().fold(f64::MIN_POSITIVE, f64::max);
    scores.values_mut().for_each(|score| *score /= best);
    scores
}
