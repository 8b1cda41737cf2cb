//! The files that a session shows in full or excludes, and content that the client provided. All other files
//! are deselected: they appear as a map block or by name. Does not read files or check that they exist.
//!
//! Selected lines follow edits above and inside them ([`Selection::relocate_lines`]).

mod line_anchor;
mod line_range;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_base::key::FileKey;

pub use line_range::LineRange;

use line_anchor::{HashedLines, LineAnchor};
use line_range::merge_range;

/// Part of a selected file to show.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Extent {
    Whole,
    /// Ranges of lines, in order and with gaps between them. Empty if the file no longer has any of the selected lines.
    Lines(Vec<LineRange>),
}

/// How a session treats a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// The whole file or its selected lines are shown.
    Selected,
    /// Only the file's map block is shown.
    Deselected,
    /// The file is not shown at all.
    Excluded,
}

/// The files of a session that are selected, excluded, or provided by the client.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Selection {
    /// Selected files, with the part of each to show.
    pub selected: BTreeMap<FileKey, Extent>,
    /// Excluded files. None of them is selected.
    pub excluded: BTreeSet<FileKey>,
    /// Content that the client provided, shown instead of the content on disk.
    pub given: BTreeMap<FileKey, Arc<str>>,
    /// Files that the user allows to be shown unredacted.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub confirmed: BTreeSet<FileKey>,
    /// Where the selected lines of each file were, to find them after edits.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    anchors: BTreeMap<FileKey, Vec<LineAnchor>>,
    /// Selected lines that the current text of their file does not have, as they were numbered last.
    #[serde(skip)]
    pub missing: BTreeMap<FileKey, Vec<LineRange>>,
}

impl Selection {
    /// Selects a whole file instead of any selected lines, and ends its exclusion.
    pub fn select(&mut self, key: FileKey) {
        self.excluded.remove(&key);
        self.forget_lines(&key);
        self.selected.insert(key, Extent::Whole);
    }

    /// Adds lines to the selection of a file, and ends its exclusion. Adds nothing if the whole file is selected.
    pub fn select_lines(&mut self, key: FileKey, range: LineRange) {
        self.excluded.remove(&key);
        // Whoever selects lines again has seen that those before are missing.
        if let (Some(missing), Some(anchors)) = (self.missing.remove(&key), self.anchors.get_mut(&key)) {
            anchors.retain(|anchor| !missing.contains(&anchor.range));
        }
        match self.selected.entry(key).or_insert_with(|| Extent::Lines(Vec::new())) {
            Extent::Whole => {}
            Extent::Lines(lines) => *lines = merge_range(lines, range),
        }
    }

    /// Finds the selected lines of a file in its current text, which may have changed since. Lines that the text does
    /// not have are [missing](Self::missing) until it has them again.
    pub fn relocate_lines(&mut self, key: &FileKey, text: &str) {
        let Some(Extent::Lines(ranges)) = self.selected.get_mut(key) else { return };
        let lines = HashedLines::new(text);
        let anchors = self.anchors.entry(key.clone()).or_default();
        let mut missing: Vec<LineRange> = Vec::new();
        // Lines without an anchor were selected just now, or before anchors existed.
        for range in std::mem::take(ranges) {
            if !anchors.iter().any(|anchor| anchor.range == range) {
                match LineAnchor::new(&lines, range) {
                    Some(anchor) => anchors.push(anchor),
                    None => missing.push(range),
                }
            }
        }
        let mut found_ranges = Vec::new();
        for anchor in anchors.iter_mut() {
            match anchor.relocate(&lines) {
                Some(moved) => {
                    found_ranges = merge_range(&found_ranges, moved.range);
                    *anchor = moved;
                }
                None => missing.push(anchor.range),
            }
        }
        // Ranges that have grown together have one anchor.
        if found_ranges.len() + missing.len() < anchors.len() {
            anchors.retain(|anchor| missing.contains(&anchor.range));
            anchors.extend(found_ranges.iter().filter_map(|range| LineAnchor::new(&lines, *range)));
        }
        *ranges = found_ranges;
        if missing.is_empty() {
            self.missing.remove(key);
        } else {
            self.missing.insert(key.clone(), missing);
        }
    }

    /// Returns the files of which only lines are selected.
    pub fn files_with_lines(&self) -> impl Iterator<Item = &FileKey> {
        self.selected.iter().filter(|(_, extent)| matches!(extent, Extent::Lines(_))).map(|(key, _)| key)
    }

    fn forget_lines(&mut self, key: &FileKey) {
        self.anchors.remove(key);
        self.missing.remove(key);
    }

    /// Deselects a file, and returns the part that was selected.
    pub fn deselect(&mut self, key: &FileKey) -> Option<Extent> {
        self.forget_lines(key);
        self.given.remove(key);
        self.confirmed.remove(key);
        self.selected.remove(key)
    }

    pub fn exclude(&mut self, key: FileKey) {
        self.deselect(&key);
        self.excluded.insert(key);
    }

    /// Ends the exclusion of a file, without selecting the file.
    pub fn remove_exclusion(&mut self, key: &FileKey) {
        self.excluded.remove(key);
    }

    /// Selects a file with `text` from the client, which is shown instead of the file until the file is
    /// deselected.
    pub fn select_with_text(&mut self, key: FileKey, text: Arc<str>) {
        self.select(key.clone());
        self.given.insert(key, text);
    }

    /// Allows a selected file to be shown unredacted until it is deselected.
    pub fn allow_unredacted(&mut self, key: FileKey) {
        if self.selected.contains_key(&key) {
            self.confirmed.insert(key);
        }
    }

    /// Deselects all files, but keeps exclusions.
    pub fn deselect_all(&mut self) {
        self.selected.clear();
        self.given.clear();
        self.confirmed.clear();
        self.anchors.clear();
        self.missing.clear();
    }

    /// Renames every file with `rename`, and removes those for which it returns `None`.
    pub fn rename(&mut self, rename: impl Fn(&FileKey) -> Option<FileKey>) {
        let Self { selected, excluded, given, confirmed, anchors, missing } = std::mem::take(self);
        let renamed = |key: FileKey| rename(&key);
        self.selected =
            selected.into_iter().filter_map(|(key, extent)| Some((renamed(key)?, extent))).collect();
        self.excluded = excluded.into_iter().filter_map(renamed).collect();
        self.confirmed = confirmed.into_iter().filter_map(renamed).collect();
        self.given = given.into_iter().filter_map(|(key, text)| Some((renamed(key)?, text))).collect();
        self.anchors = anchors.into_iter().filter_map(|(key, lines)| Some((renamed(key)?, lines))).collect();
        self.missing = missing.into_iter().filter_map(|(key, lines)| Some((renamed(key)?, lines))).collect();
    }

    pub fn choice(&self, key: &FileKey) -> Choice {
        if self.selected.contains_key(key) {
            Choice::Selected
        } else if self.excluded.contains(key) {
            Choice::Excluded
        } else {
            Choice::Deselected
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Extent {
        Extent::Lines(text.split(',').map(|range| range.parse().unwrap()).collect())
    }

    #[test]
    fn line_ranges_are_joined_and_a_whole_file_replaces_them() {
        let mut selection = Selection::default();
        let key = FileKey::from("a.rs");
        for range in ["L10-20", "L40", "L21-30", "L15-25"] {
            selection.select_lines(key.clone(), range.parse().unwrap());
        }
        assert_eq!(selection.selected[&key], lines("L10-30,L40"));
        selection.select(key.clone());
        selection.select_lines(key.clone(), "L1".parse().unwrap());
        assert_eq!(selection.selected[&key], Extent::Whole);
    }

    #[test]
    fn selected_lines_follow_edits_and_return_with_their_text() {
        let mut selection = Selection::default();
        let key = FileKey::from("a.rs");
        let text = "one\ntwo\nthree\nfour\nfive\n";
        let missing = |selection: &Selection| selection.missing.get(&key).cloned().unwrap_or_default();
        selection.select_lines(key.clone(), "L2-3".parse().unwrap());
        selection.select_lines(key.clone(), "L5-9".parse().unwrap());
        selection.select_lines(key.clone(), "L20".parse().unwrap());
        selection.relocate_lines(&key, text);
        assert_eq!(selection.selected[&key], lines("L2-3,L5"));
        assert_eq!(missing(&selection), ["L20".parse().unwrap()]);
        selection.relocate_lines(&key, &format!("new\n{text}"));
        assert_eq!((&selection.selected[&key], missing(&selection)), (&lines("L3-4,L6"), vec![]));
        selection.relocate_lines(&key, "new\n");
        assert_eq!(selection.selected[&key], Extent::Lines(Vec::new()));
        assert_eq!(missing(&selection), ["L3-4".parse().unwrap(), "L6".parse().unwrap()]);
        let stored = serde_json::to_string(&selection).unwrap();
        let mut selection: Selection = serde_json::from_str(&stored).unwrap();
        selection.relocate_lines(&key, text);
        assert_eq!((&selection.selected[&key], missing(&selection)), (&lines("L2-3,L5"), vec![]));
        selection.relocate_lines(&key, "one\ntwo\nthree\nfive\n");
        assert_eq!(selection.selected[&key], lines("L2-4"), "they have grown together");
        selection.relocate_lines(&key, "zero\none\ntwo\nthree\nfive\n");
        assert_eq!(selection.selected[&key], lines("L3-5"));
        let other = "other\ntexts\nin\nall\nlines\n";
        selection.relocate_lines(&key, other);
        selection.select_lines(key.clone(), "L3-5".parse().unwrap());
        selection.relocate_lines(&key, other);
        assert_eq!(
            (&selection.selected[&key], missing(&selection)),
            (&lines("L3-5"), vec![]),
            "selected again"
        );
        selection.select(key.clone());
        assert!(selection.anchors.is_empty());
    }

    #[test]
    fn a_file_is_in_one_state_at_a_time() {
        let mut selection = Selection::default();
        let key = FileKey::from("a.rs");
        assert_eq!(selection.choice(&key), Choice::Deselected);
        selection.select_with_text(key.clone(), "text".into());
        assert_eq!(selection.choice(&key), Choice::Selected);
        assert_eq!(selection.given.get(&key).map(|text| &**text), Some("text"));
        selection.exclude(key.clone());
        assert_eq!((selection.choice(&key), selection.given.get(&key)), (Choice::Excluded, None));
        selection.select(key.clone());
        assert_eq!(selection.choice(&key), Choice::Selected);
        selection.deselect(&key);
        assert_eq!(selection.choice(&key), Choice::Deselected);
    }

    #[test]
    fn a_confirmation_lasts_while_the_file_is_selected() {
        let mut selection = Selection::default();
        let key = FileKey::from("a.rs");
        selection.allow_unredacted(key.clone());
        assert!(!selection.confirmed.contains(&key), "nothing is shown of it");
        selection.select(key.clone());
        selection.allow_unredacted(key.clone());
        assert!(selection.confirmed.contains(&key));
        selection.deselect(&key);
        selection.select(key.clone());
        assert!(!selection.confirmed.contains(&key));
    }
}
