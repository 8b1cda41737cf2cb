//! Rates references in languages without reference rules: by the import graph if it covers the name,
//! otherwise by the name alone.

use std::collections::BTreeMap;

use strata_base::key::FileKey;

use super::report::Confidence;
use crate::symbols::{ReferenceGraph, SymbolIndex};

/// Files that may refer to a name, with the confidence that they do.
pub(super) struct LikelyReferrers {
    /// Files that refer to one of the definitions according to the graph, with the likelihood of each.
    likelihoods: BTreeMap<FileKey, f64>,
    definers: Vec<FileKey>,
    /// Whether the reference graph tracks the name.
    is_tracked: bool,
}

impl LikelyReferrers {
    pub(super) fn new(
        graph: &ReferenceGraph,
        index: &SymbolIndex,
        name: &str,
        definers: &[&FileKey],
    ) -> Self {
        let mut likelihoods: BTreeMap<FileKey, f64> = BTreeMap::new();
        for references in graph.references_to(name) {
            if definers.contains(&&references.definer) {
                for (referrer, likelihood) in references.referrers {
                    let highest = likelihoods.entry(referrer).or_default();
                    *highest = highest.max(likelihood);
                }
            }
        }
        let is_tracked = definers
            .iter()
            .any(|key| index.get(*key).is_some_and(|file| graph.is_name_tracked(file.language.family, name)));
        let definers = definers.iter().copied().cloned().collect();
        Self { likelihoods, definers, is_tracked }
    }

    /// Returns the confidence in a file's references, or `None` if its imports give the name another meaning.
    pub(super) fn confidence(&self, key: &FileKey) -> Option<Confidence> {
        if self.definers.contains(key) {
            return Some(Confidence::Certain);
        }
        match self.likelihoods.get(key) {
            Some(likelihood) if *likelihood >= 1.0 => Some(Confidence::Certain),
            Some(_) => Some(Confidence::Guess),
            None => (!self.is_tracked).then_some(Confidence::Guess),
        }
    }
}
