//! A list of names in one allocation: most of a repository's memory is names.

use std::fmt;

use serde::{Deserialize, Serialize};

/// An immutable list of names, none empty and none with a line break, kept as one text.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Names(Box<str>);

impl Names {
    /// The names in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.split('\n').filter(|name| !name.is_empty())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// Whether `name` is one of them; looks at all.
    pub fn contains(&self, name: &str) -> bool {
        self.iter().any(|other| other == name)
    }
}

impl<S: AsRef<str>> FromIterator<S> for Names {
    /// Keeps what is neither empty nor has a line break in it.
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
        Self(text.into())
    }
}

impl fmt::Debug for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_in_order_without_what_cannot_be_one() {
        let names: Names = ["b", "", "a", "x\ny"].into_iter().collect();
        assert_eq!(names.iter().collect::<Vec<_>>(), ["b", "a"]);
        assert!(names.contains("a") && !names.contains("x") && !names.is_empty());
        assert!(Names::default().is_empty());
        let json = serde_json::to_string(&names).unwrap();
        assert_eq!(serde_json::from_str::<Names>(&json).unwrap(), names);
    }
}
