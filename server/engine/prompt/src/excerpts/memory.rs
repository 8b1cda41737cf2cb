//! The excerpts that a session has shown, pinned and dismissed.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde::{Deserialize, Serialize};
use strata_base::key::FileKey;

use super::current::{CurrentExcerpt, ExcerptSelection};
use super::shown_excerpt::ShownExcerpt;
use crate::layout::{ExcerptKey, ItemKey, Layout};

/// Excerpts that a session has shown, pinned or dismissed.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Excerpts {
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) shown: BTreeMap<ExcerptKey, ShownExcerpt>,
    /// Excerpts to include in every prompt.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub pinned: BTreeSet<ExcerptKey>,
    /// Excerpts that are never chosen again.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub dismissed: BTreeSet<ExcerptKey>,
    /// Number of questions asked so far.
    pub(super) questions: u64,
}

impl Excerpts {
    /// Whether nothing was chosen, pinned or dismissed, and no question was asked.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the excerpts in the last recorded prompt, in key order.
    pub(crate) fn shown_keys(&self) -> impl Iterator<Item = &ExcerptKey> {
        self.shown.keys()
    }

    /// Returns the zero-based line ranges of the excerpts in the last recorded prompt, each with its file.
    pub fn shown_lines(&self) -> impl Iterator<Item = (&FileKey, &Range<u32>)> {
        self.shown.iter().map(|(key, shown)| (&key.file, &shown.lines))
    }

    /// Pins an excerpt, so that every prompt includes it.
    pub fn pin(&mut self, key: ExcerptKey) {
        self.dismissed.remove(&key);
        self.pinned.insert(key);
    }

    /// Removes an excerpt from prompts and prevents it from being chosen again.
    pub fn dismiss(&mut self, key: ExcerptKey) {
        self.pinned.remove(&key);
        self.shown.remove(&key);
        self.dismissed.insert(key);
    }

    /// Forgets excerpts when a new conversation starts. Only pinned excerpts are kept.
    pub(crate) fn forget_all_but_pinned(&mut self) {
        *self = Self { pinned: std::mem::take(&mut self.pinned), ..Self::default() };
    }

    pub fn files(&self) -> BTreeSet<&FileKey> {
        self.shown.keys().chain(&self.pinned).map(|key| &key.file).collect()
    }

    /// Renames the files of excerpts with `rename`. Excerpts whose file has no new name are forgotten.
    pub(crate) fn rename(&mut self, rename: impl Fn(&FileKey) -> Option<FileKey>) {
        let renamed = |key: ExcerptKey| Some(ExcerptKey { file: rename(&key.file)?, ..key });
        let Self { shown, pinned, dismissed, .. } = self;
        let before = std::mem::take(shown).into_iter();
        *shown = before.filter_map(|(key, excerpt)| Some((renamed(key)?, excerpt))).collect();
        for keys in [pinned, dismissed] {
            *keys = std::mem::take(keys).into_iter().filter_map(renamed).collect();
        }
    }

    /// Returns the excerpts to remember after a prompt that was made from `selection` and laid out as `layout`.
    pub(crate) fn state_after_prompt(&self, selection: &ExcerptSelection, layout: &Layout) -> Self {
        let placed = layout.blocks().flat_map(|block| &block.items).filter_map(|key| match key {
            ItemKey::Excerpt(key) => Some(key),
            _ => None,
        });
        let record_of = |key: &ExcerptKey| {
            let current = selection.items.iter().find(|item| item.key == *key).map(CurrentExcerpt::to_record);
            // If the excerpt's file is now selected, its old record is kept, so that the excerpt returns when the file
            // is deselected.
            current.or_else(|| self.shown.get(key).cloned())
        };
        let shown = placed.filter_map(|key| Some((key.clone(), record_of(key)?))).collect();
        Self { shown, questions: selection.question, ..self.clone() }
    }
}
