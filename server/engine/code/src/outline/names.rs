//! A list of names in one allocation. Names take most of the memory of an index.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// An immutable list of names, stored as one string. No name is empty or contains a line break. Cheap to clone.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NameList(Arc<str>);

impl NameList {
    /// Returns the names in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.split('\n').filter(|name| !name.is_empty())
    }

    /// Returns a copy of this sorted list with names added and removed. `changes` must be sorted, without
    /// duplicates, and must add only names that are not in the list.
    pub(super) fn with_changes(&self, changes: &[(&str, NameChange)]) -> Self {
        let mut text = String::with_capacity(self.0.len() + 64);
        let mut remaining = &*self.0;
        for (name, change) in changes {
            let at = lower_bound(remaining, name);
            let (before, after) = remaining.split_at_checked(at).unwrap_or((remaining, ""));
            text.push_str(before);
            remaining = after;
            match change {
                NameChange::Add => {
                    if !text.is_empty() && !text.ends_with('\n') {
                        text.push('\n');
                    }
                    text.push_str(name);
                    if !remaining.is_empty() {
                        text.push('\n');
                    }
                }
                NameChange::Remove => {
                    if let Some(after) = remaining.strip_prefix(name) {
                        remaining = after.strip_prefix('\n').unwrap_or(after);
                    }
                }
            }
        }
        text.push_str(remaining);
        text.truncate(text.trim_end_matches('\n').len());
        Self::from_text(&text)
    }

    /// Returns a list of the first `count` names.
    pub(super) fn first(&self, count: usize) -> Self {
        self.iter().take(count).collect()
    }

    /// Creates a list from its stored form. An empty list, which is the most common one, does not allocate.
    fn from_text(text: &str) -> Self {
        if text.is_empty() { Self::default() } else { Self(text.into()) }
    }

    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }
}

/// The addition or removal of a name in a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NameChange {
    Add,
    Remove,
}

/// Returns the byte offset of the first line that is not less than `name`, in a text of sorted lines.
fn lower_bound(text: &str, name: &str) -> usize {
    let bytes = text.as_bytes();
    // `low` and `high` are always the start of a line or the end of the text.
    let (mut low, mut high) = (0, bytes.len());
    while low < high {
        let middle = low + (high - low) / 2;
        let before_middle = bytes.get(low..middle).unwrap_or_default();
        let start =
            before_middle.iter().rposition(|&byte| byte == b'\n').map_or(low, |found| low + found + 1);
        let after = bytes.get(start..high).unwrap_or_default();
        let end = after.iter().position(|&byte| byte == b'\n').map_or(high, |found| start + found);
        if bytes.get(start..end).unwrap_or_default() < name.as_bytes() {
            low = (end + 1).min(high);
        } else {
            high = start;
        }
    }
    low
}

impl<S: AsRef<str>> FromIterator<S> for NameList {
    /// Skips names that are empty or contain a line break.
    fn from_iter<I: IntoIterator<Item = S>>(names: I) -> Self {
        let mut text = String::new();
        for name in names {
            let name = name.as_ref();
            if name.is_empty() || name.contains('\n') {
                continue;
            }
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(name);
        }
        Self::from_text(&text)
    }
}

impl fmt::Debug for NameList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn changes_have_the_same_effect_as_on_a_set(
            before in prop::collection::btree_set("[a-c]{1,3}", 0..12),
            toggled in prop::collection::btree_set("[a-c]{1,3}", 0..6),
        ) {
            let changes: Vec<(&str, NameChange)> = toggled
                .iter()
                .map(|name| (&**name, if before.contains(name) { NameChange::Remove } else { NameChange::Add }))
                .collect();
            let after: NameList = before.symmetric_difference(&toggled).collect();
            prop_assert_eq!(before.iter().collect::<NameList>().with_changes(&changes), after);
        }
    }

    #[test]
    fn names_keep_their_order_and_invalid_ones_are_skipped() {
        let names: NameList = ["b", "", "a", "x\ny"].into_iter().collect();
        assert_eq!(names.iter().collect::<Vec<_>>(), ["b", "a"]);
        assert!(!names.is_empty() && NameList::default().is_empty());
        let json = serde_json::to_string(&names).unwrap();
        assert_eq!(serde_json::from_str::<NameList>(&json).unwrap(), names);
    }
}
