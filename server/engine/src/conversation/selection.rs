//! The files that a session shows in full or excludes, and content that the client provided. All other files
//! are deselected: they appear as a map block or by name. Does not read files or check that they exist.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::key::FileKey;
use crate::text::Unreadable;

/// A range of line numbers, starting at 1 and inclusive. Written `L10-40` or `L10`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LineRange {
    first: u32,
    last: u32,
}

impl LineRange {
    /// Creates the range `first..=last`, or `None` unless `1 <= first <= last`.
    pub fn new(first: u32, last: u32) -> Option<Self> {
        (1 <= first && first <= last).then_some(Self { first, last })
    }

    /// Returns the first line, starting at 1.
    pub fn first(self) -> u32 {
        self.first
    }

    /// Returns the last line, which is included.
    pub fn last(self) -> u32 {
        self.last
    }
}

impl fmt::Display for LineRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first == self.last {
            write!(f, "L{}", self.first)
        } else {
            write!(f, "L{}-{}", self.first, self.last)
        }
    }
}

impl FromStr for LineRange {
    type Err = Unreadable;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad =
            || Unreadable(format!("`{text}` is not a line range; write L10 or L10-40, counting from 1"));
        // `parse` would also accept a sign.
        let number = |digits: &str| {
            let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
            digits.parse::<u32>().ok().filter(|_| plain).ok_or_else(bad)
        };
        let lines = text.strip_prefix('L').ok_or_else(bad)?;
        let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
        Self::new(number(first)?, number(last.strip_prefix('L').unwrap_or(last))?).ok_or_else(bad)
    }
}

impl Serialize for LineRange {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl JsonSchema for LineRange {
    fn schema_name() -> Cow<'static, str> {
        "LineRange".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "Lines of a file, counted from 1: `L10` or `L10-40`.",
            "pattern": "^L[0-9]+(-[0-9]+)?$",
        })
    }
}

impl<'de> Deserialize<'de> for LineRange {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// Part of a selected file to show.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Extent {
    Whole,
    /// Ranges of lines, in order and with gaps between them; never empty.
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
}

impl Selection {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Selects a whole file instead of any selected lines, and ends its exclusion.
    pub fn select(&mut self, key: FileKey) {
        self.excluded.remove(&key);
        self.selected.insert(key, Extent::Whole);
    }

    /// Adds lines to the selection of a file, and ends its exclusion. Adds nothing if the whole file is selected.
    pub fn select_lines(&mut self, key: FileKey, range: LineRange) {
        self.excluded.remove(&key);
        match self.selected.entry(key).or_insert_with(|| Extent::Lines(Vec::new())) {
            Extent::Whole => {}
            Extent::Lines(lines) => *lines = joined(lines, range),
        }
    }

    /// Deselects a file, and returns the part that was selected.
    pub fn deselect(&mut self, key: &FileKey) -> Option<Extent> {
        self.given.remove(key);
        self.confirmed.remove(key);
        self.selected.remove(key)
    }

    /// Excludes a file from the prompt, and deselects it.
    pub fn exclude(&mut self, key: FileKey) {
        self.deselect(&key);
        self.excluded.insert(key);
    }

    /// Ends the exclusion of a file, without selecting the file.
    pub fn include(&mut self, key: &FileKey) {
        self.excluded.remove(key);
    }

    /// Selects a file with `text` from the client, which is shown instead of the file until the file is
    /// deselected.
    pub fn add(&mut self, key: FileKey, text: Arc<str>) {
        self.select(key.clone());
        self.given.insert(key, text);
    }

    /// Allows a selected file to be shown unredacted until it is deselected.
    pub fn confirm(&mut self, key: FileKey) {
        if self.selected.contains_key(&key) {
            self.confirmed.insert(key);
        }
    }

    /// Deselects all files, but keeps exclusions.
    pub fn clear(&mut self) {
        self.selected.clear();
        self.given.clear();
        self.confirmed.clear();
    }

    /// Renames every file with `rename`, and removes those for which it returns `None`.
    pub(crate) fn rename(&mut self, rename: impl Fn(&FileKey) -> Option<FileKey>) {
        let Self { selected, excluded, given, confirmed } = std::mem::take(self);
        let renamed = |key: FileKey| rename(&key);
        self.selected =
            selected.into_iter().filter_map(|(key, extent)| Some((renamed(key)?, extent))).collect();
        self.excluded = excluded.into_iter().filter_map(renamed).collect();
        self.confirmed = confirmed.into_iter().filter_map(renamed).collect();
        self.given = given.into_iter().filter_map(|(key, text)| Some((renamed(key)?, text))).collect();
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

fn joined(lines: &[LineRange], range: LineRange) -> Vec<LineRange> {
    let mut all: Vec<LineRange> = lines.iter().copied().chain([range]).collect();
    all.sort();
    let mut joined: Vec<LineRange> = Vec::with_capacity(all.len());
    for next in all {
        match joined.last_mut() {
            Some(last) if next.first <= last.last.saturating_add(1) => last.last = last.last.max(next.last),
            _ => joined.push(next),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Extent {
        Extent::Lines(text.split(',').map(|range| range.parse().unwrap()).collect())
    }

    #[test]
    fn lines_join_and_a_whole_file_swallows_them() {
        let mut selection = Selection::new();
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
    fn a_line_range_is_read_as_it_is_written() {
        for text in ["L1", "L10-40"] {
            assert_eq!(text.parse::<LineRange>().unwrap().to_string(), text);
        }
        assert_eq!("L10-L40".parse::<LineRange>().unwrap().to_string(), "L10-40");
        for text in ["", "L", "L0", "L4-3", "10-20", "L-1", "L1-", "L99999999999", "LL1", "L+1", "L1-+2"] {
            assert!(text.parse::<LineRange>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_file_is_in_one_state_at_a_time() {
        let mut selection = Selection::new();
        let key = FileKey::from("a.rs");
        assert_eq!(selection.choice(&key), Choice::Deselected);
        selection.add(key.clone(), "text".into());
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
    fn what_is_confirmed_holds_for_as_long_as_the_file_is_selected() {
        let mut selection = Selection::new();
        let key = FileKey::from("a.rs");
        selection.confirm(key.clone());
        assert!(!selection.confirmed.contains(&key), "nothing is shown of it");
        selection.select(key.clone());
        selection.confirm(key.clone());
        assert!(selection.confirmed.contains(&key));
        selection.deselect(&key);
        selection.select(key.clone());
        assert!(!selection.confirmed.contains(&key));
    }
}
