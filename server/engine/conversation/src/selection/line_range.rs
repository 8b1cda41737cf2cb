//! Ranges of lines as users and clients write them.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use strata_base::text::ParseTextError;

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
    type Err = ParseTextError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad =
            || ParseTextError(format!("`{text}` is not a line range; write L10 or L10-40, counting from 1"));
        // `parse` would also accept a sign.
        let number = |digits: &str| {
            let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
            digits.parse::<u32>().ok().filter(|_| is_number).ok_or_else(bad)
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

/// Adds a range to ranges that are in order and have gaps between them.
pub(super) fn merge_range(lines: &[LineRange], range: LineRange) -> Vec<LineRange> {
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
}
