//! A list of names in one allocation: most of a repository's memory is names.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// An immutable list of names, none empty and none with a line break, kept as one text. Cheap to clone.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Names(Arc<str>);

impl Names {
    /// The names in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.split('\n').filter(|name| !name.is_empty())
    }

    /// The same list, which is sorted, with some names put in and others taken out. The changes are sorted, each name
    /// is in them once, and [`Change::In`] only for a name that is not in the list.
    pub(super) fn changed(&self, changes: &[(&str, Change)]) -> Self {
        let mut text = String::with_capacity(self.0.len() + 64);
        let mut rest = &*self.0;
        for (name, change) in changes {
            let at = line_not_before(rest, name);
            let (before, behind) = rest.split_at_checked(at).unwrap_or((rest, ""));
            text.push_str(before);
            rest = behind;
            match change {
                Change::In => {
                    if !text.is_empty() && !text.ends_with('\n') {
                        text.push('\n');
                    }
                    text.push_str(name);
                    if !rest.is_empty() {
                        text.push('\n');
                    }
                }
                Change::Out => {
                    if let Some(behind) = rest.strip_prefix(name) {
                        rest = behind.strip_prefix('\n').unwrap_or(behind);
                    }
                }
            }
        }
        text.push_str(rest);
        text.truncate(text.trim_end_matches('\n').len());
        Self::of_text(&text)
    }

    /// The first `count` names.
    pub(super) fn first(&self, count: usize) -> Self {
        self.iter().take(count).collect()
    }

    /// Most lists are empty, and those take no memory of their own.
    fn of_text(text: &str) -> Self {
        if text.is_empty() { Self::default() } else { Self(text.into()) }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }
}

/// A change to a name in a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Change {
    In,
    Out,
}

/// Where the first line of sorted lines starts that does not come before `name`.
fn line_not_before(text: &str, name: &str) -> usize {
    let bytes = text.as_bytes();
    // Both are always starts of lines, or the end.
    let (mut low, mut high) = (0, bytes.len());
    while low < high {
        let middle = low + (high - low) / 2;
        let upto = bytes.get(low..middle).unwrap_or_default();
        let start = upto.iter().rposition(|&byte| byte == b'\n').map_or(low, |found| low + found + 1);
        let behind = bytes.get(start..high).unwrap_or_default();
        let end = behind.iter().position(|&byte| byte == b'\n').map_or(high, |found| start + found);
        if bytes.get(start..end).unwrap_or_default() < name.as_bytes() {
            low = (end + 1).min(high);
        } else {
            high = start;
        }
    }
    low
}

impl<S: AsRef<str>> FromIterator<S> for Names {
    /// Keeps names that are not empty and have no line break.
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
        Self::of_text(&text)
    }
}

impl fmt::Debug for Names {
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
        fn a_list_is_changed_as_a_set_would_be(
            before in prop::collection::btree_set("[a-c]{1,3}", 0..12),
            toggled in prop::collection::btree_set("[a-c]{1,3}", 0..6),
        ) {
            let changes: Vec<(&str, Change)> = toggled
                .iter()
                .map(|name| (&**name, if before.contains(name) { Change::Out } else { Change::In }))
                .collect();
            let after: Names = before.symmetric_difference(&toggled).collect();
            prop_assert_eq!(before.iter().collect::<Names>().changed(&changes), after);
        }
    }

    #[test]
    fn names_come_back_in_order_without_what_cannot_be_one() {
        let names: Names = ["b", "", "a", "x\ny"].into_iter().collect();
        assert_eq!(names.iter().collect::<Vec<_>>(), ["b", "a"]);
        assert!(!names.is_empty() && Names::default().is_empty());
        let json = serde_json::to_string(&names).unwrap();
        assert_eq!(serde_json::from_str::<Names>(&json).unwrap(), names);
    }
}
