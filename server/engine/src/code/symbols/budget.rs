//! Which map blocks fit a budget of tokens. Ranks and counts come in; it only chooses.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::index::SymbolIndex;
use crate::hash::ContentHash;
use crate::key::FileKey;

/// How many blocks in a row may fail to fit before the rest is not tried: counting all of a large
/// repository to fill the last corner of a budget would cost more than it gives.
const MAX_MISSES: usize = 24;

/// What a map may hold.
#[derive(Clone, Copy, Debug)]
pub struct MapRequest<'a> {
    /// The most tokens of all blocks together.
    pub budget: usize,
    /// Files that were in the map before. They come first, in this order: a change of rank never
    /// rewrites a map that a provider has cached.
    pub kept: &'a [FileKey],
    /// The candidates, best first.
    pub ranked: &'a [FileKey],
    /// Files that must not be in the map: excluded, or shown in full.
    pub without: &'a BTreeSet<FileKey>,
}

/// One block of a map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapEntry {
    /// Whose it is.
    pub key: FileKey,
    /// Its text.
    pub text: Arc<str>,
    /// The hash of its text.
    pub hash: ContentHash,
    /// Its tokens.
    pub tokens: usize,
}

/// The chosen blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MapSelection {
    /// In the order they belong in the prompt.
    pub blocks: Vec<MapEntry>,
    /// The tokens of all of them; at most the budget.
    pub total: usize,
}

/// Chooses blocks: those kept, then by rank as long as they fit. `count` gives a text's tokens and is
/// asked about each block at most once; blocks of empty outlines are left to the file list.
pub fn map_within(
    index: &SymbolIndex,
    request: &MapRequest<'_>,
    count: &dyn Fn(&str) -> usize,
) -> MapSelection {
    let mut selection = MapSelection::default();
    let mut seen: BTreeSet<&FileKey> = BTreeSet::new();
    let mut misses = 0;
    for key in request.kept.iter().chain(request.ranked) {
        if misses >= MAX_MISSES || selection.total >= request.budget {
            break;
        }
        if request.without.contains(key) || !seen.insert(key) {
            continue;
        }
        let Some(file) = index.get(key).filter(|file| !file.outline.is_empty()) else { continue };
        let tokens = count(&file.block.text);
        match selection.total.checked_add(tokens) {
            Some(total) if total <= request.budget => {
                selection.total = total;
                selection.blocks.push(MapEntry {
                    key: key.clone(),
                    text: Arc::clone(&file.block.text),
                    hash: file.block.text_hash,
                    tokens,
                });
                misses = 0;
            }
            _ => misses += 1,
        }
    }
    selection
}
