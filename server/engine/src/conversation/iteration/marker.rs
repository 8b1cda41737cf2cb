//! What an iteration reports between tags. Read-only; linear in the output.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const PROGRESS: (&str, &str) = ("<progress>", "</progress>");
const PROMISE: (&str, &str) = ("<promise>", "</promise>");
const COMPLETE: &str = "COMPLETE";

/// Whether an iteration said that the goal is reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "LoopPromise")]
pub enum Promise {
    /// It did not.
    Open,
    /// It did: `<promise>COMPLETE</promise>`.
    Complete,
}

/// Accomplishments in an output, in order, trimmed. Ignores unclosed tags.
pub(super) fn progress(output: &str) -> impl Iterator<Item = &str> {
    between(output, PROGRESS).filter(|text| !text.is_empty())
}

/// Whether an output promises that the goal is reached.
pub(super) fn promise(output: &str) -> Promise {
    if between(output, PROMISE).any(|text| text == COMPLETE) { Promise::Complete } else { Promise::Open }
}

/// An output without its tags, but with their content.
pub(super) fn untagged(output: &str) -> String {
    [PROGRESS.0, PROGRESS.1, PROMISE.0, PROMISE.1]
        .iter()
        .fold(output.to_owned(), |text, tag| text.replace(tag, "\n"))
}

fn between<'a>(text: &'a str, (open, close): (&'static str, &'static str)) -> impl Iterator<Item = &'a str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (_, opened) = rest.split_once(open)?;
        let Some((inside, behind)) = opened.split_once(close) else {
            // Nothing after it is closed either.
            rest = "";
            return None;
        };
        rest = behind;
        Some(inside.trim())
    })
}
