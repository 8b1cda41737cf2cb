//! A session's memory of excerpts between prompts: shown, pinned and dismissed ones.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::current::{CurrentExcerpt, ExcerptSelection};
use super::remembered::ShownExcerpt;
use crate::key::FileKey;
use crate::prompt::layout::{ExcerptKey, ItemKey, Layout};

/// The excerpts of one session.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Excerpts {
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) shown: BTreeMap<ExcerptKey, ShownExcerpt>,
    /// Those that stay whatever is asked.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub pinned: BTreeSet<ExcerptKey>,
    /// Those that are not proposed again.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub dismissed: BTreeSet<ExcerptKey>,
    /// How many questions were asked.
    pub(super) questions: u64,
}

impl Excerpts {
    /// Whether nothing was ever chosen, pinned or dismissed.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Excerpts in the last recorded prompt, in key order.
    pub(crate) fn shown(&self) -> impl Iterator<Item = &ExcerptKey> {
        self.shown.keys()
    }

    /// The lines, from 0, of which the last recorded prompt showed excerpts, file by file.
    pub fn shown_lines(&self) -> impl Iterator<Item = (&FileKey, &Range<u32>)> {
        self.shown.iter().map(|(key, shown)| (&key.file, &shown.lines))
    }

    /// Keeps an excerpt in every prompt.
    pub fn pin(&mut self, key: ExcerptKey) {
        self.dismissed.remove(&key);
        self.pinned.insert(key);
    }

    /// Takes an excerpt out of prompts, and does not propose it again.
    pub fn dismiss(&mut self, key: ExcerptKey) {
        self.pinned.remove(&key);
        self.shown.remove(&key);
        self.dismissed.insert(key);
    }

    /// Starts another conversation, keeping only pinned excerpts.
    pub(crate) fn begin_again(&mut self) {
        *self = Self { pinned: std::mem::take(&mut self.pinned), ..Self::default() };
    }

    /// The files that they are parts of.
    pub(crate) fn files(&self) -> BTreeSet<&FileKey> {
        self.shown.keys().chain(&self.pinned).map(|key| &key.file).collect()
    }

    /// Gives every file the name that `rename` says; excerpts of a file without one are forgotten.
    pub(crate) fn rename(&mut self, rename: impl Fn(&FileKey) -> Option<FileKey>) {
        let renamed = |key: ExcerptKey| Some(ExcerptKey { file: rename(&key.file)?, ..key });
        let Self { shown, pinned, dismissed, .. } = self;
        let before = std::mem::take(shown).into_iter();
        *shown = before.filter_map(|(key, excerpt)| Some((renamed(key)?, excerpt))).collect();
        for keys in [pinned, dismissed] {
            *keys = std::mem::take(keys).into_iter().filter_map(renamed).collect();
        }
    }

    /// The memory after sending a prompt with `layout`, made from `selection`.
    pub(crate) fn after(&self, selection: &ExcerptSelection, layout: &Layout) -> Self {
        let laid = layout.blocks().flat_map(|block| &block.items).filter_map(|key| match key {
            ItemKey::Excerpt(key) => Some(key),
            _ => None,
        });
        let remembered = |key: &ExcerptKey| {
            let now = selection.items.iter().find(|item| item.key == *key).map(CurrentExcerpt::remembered);
            // One whose file is selected now is after that, and comes back with it.
            now.or_else(|| self.shown.get(key).cloned())
        };
        let shown = laid.filter_map(|key| Some((key.clone(), remembered(key)?))).collect();
        Self { shown, questions: selection.question, ..self.clone() }
    }
}
