//! Traces: recorded sessions of a repository, in a format that other tools also read and write.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use strata_base::text::ParseTextError;

/// A recorded session. Unknown fields, which other tools may add, are ignored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trace {
    pub name: String,
    /// Content of the files before the first turn, keyed by path. Paths use `/` as the separator.
    pub files0: BTreeMap<String, String>,
    /// Number of first-parent commits since the last change of each path, as of the start of the session. Omits
    /// paths that were not changed within the last 400 commits.
    pub recency: BTreeMap<String, u32>,
    /// Rule for selecting files in each turn.
    pub sel: SelectionRule,
    pub turns: Vec<TraceTurn>,
}

/// Rule for selecting files among those touched. Written `grow` or, for a window of three turns, `win3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SelectionRule {
    /// Selects every file touched so far.
    Grow,
    /// Selects every file touched in the current turn, or in the given number of turns before it.
    Window(u32),
}

/// A turn: the prompt, the answer, and the resulting changes to files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceTurn {
    pub prompt: String,
    pub answer: String,
    /// New contents of the files that the answer changed or created; `None` for deleted files.
    pub edits: BTreeMap<String, Option<String>>,
    /// Files that the turn is about and that exist when it starts, in order.
    pub touched: Vec<String>,
    /// Changes made outside the session after the answer, in the form of `edits`.
    #[serde(default)]
    pub ext: BTreeMap<String, Option<String>>,
    /// Tokens of the diff of each edited file, as counted by the tool that wrote the trace.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub diff_tokens: BTreeMap<String, usize>,
}

impl SelectionRule {
    /// Returns the number of earlier turns in the window; `None` for all of them.
    pub fn window_turns(self) -> Option<u32> {
        match self {
            Self::Grow => None,
            Self::Window(turns) => Some(turns),
        }
    }
}

impl fmt::Display for SelectionRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Grow => f.write_str("grow"),
            Self::Window(turns) => write!(f, "win{turns}"),
        }
    }
}

impl FromStr for SelectionRule {
    type Err = ParseTextError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let unknown = || {
            let start: String = text.chars().take(40).collect();
            ParseTextError(format!(
                "unknown selection rule {start:?} (known: \"grow\", and \"win3\" for a window of three turns)"
            ))
        };
        if text == "grow" {
            return Ok(Self::Grow);
        }
        let digits = text.strip_prefix("win").ok_or_else(unknown)?;
        // `parse` would also accept a sign.
        if !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(unknown());
        }
        digits.parse().map(Self::Window).map_err(|_| unknown())
    }
}

impl Serialize for SelectionRule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for SelectionRule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const WRITTEN_BY_OTHERS: &str = r#"{
        "name": "demo-0", "files0": {"a.py": "x = 1\n"}, "recency": {"a.py": 7}, "sel": "win3", "freq": {"a.py": 2},
        "turns": [{"prompt": "p", "answer": "a", "edits": {"a.py": "x = 2\n", "b.py": null}, "touched": ["a.py"], "id": 1}]
    }"#;

    #[test]
    fn a_trace_of_another_tool_is_read() {
        let trace: Trace = serde_json::from_str(WRITTEN_BY_OTHERS).unwrap();
        assert_eq!(trace.sel, SelectionRule::Window(3));
        assert_eq!(trace.recency["a.py"], 7);
        let turn = &trace.turns[0];
        assert_eq!(turn.edits["a.py"].as_deref(), Some("x = 2\n"));
        assert_eq!(turn.edits["b.py"], None);
        assert!(turn.ext.is_empty() && turn.diff_tokens.is_empty());
        let written = serde_json::to_string(&trace).unwrap();
        assert!(written.contains(r#""sel":"win3""#) && written.contains(r#""ext":{}"#));
        assert!(!written.contains("diff_tokens"), "{written}");
    }

    #[test]
    fn a_wrong_shape_is_an_error() {
        for (from, to) in [
            (r#""sel": "win3""#, r#""sel": "rand""#),
            (r#""sel": "win3""#, r#""sel": "win+3""#),
            (r#""sel": "win3""#, r#""sel": "win""#),
            (r#""touched": ["a.py"]"#, r#""touched": "a.py""#),
            (r#""prompt": "p","#, ""),
            (r#""a.py": 7"#, r#""a.py": -7"#),
        ] {
            let broken = WRITTEN_BY_OTHERS.replace(from, to);
            assert_ne!(broken, WRITTEN_BY_OTHERS, "{from}");
            assert!(serde_json::from_str::<Trace>(&broken).is_err(), "{to}");
        }
    }

    proptest! {
        #[test]
        fn a_rule_is_read_as_it_is_written(turns in proptest::option::of(any::<u32>())) {
            let rule = turns.map_or(SelectionRule::Grow, SelectionRule::Window);
            prop_assert_eq!(rule.to_string().parse(), Ok(rule));
        }
    }
}
