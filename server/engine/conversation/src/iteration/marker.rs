//! Parses the tags in an iteration's output, in time linear in its size.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const PROGRESS: (&str, &str) = ("<progress>", "</progress>");
const PROMISE_TAGS: (&str, &str) = ("<promise>", "</promise>");
const COMPLETE: &str = "COMPLETE";

/// Whether an iteration declared that the goal has been reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "LoopPromise")]
pub enum LoopPromise {
    /// The output contains no promise.
    Open,
    /// The output contains `<promise>COMPLETE</promise>`.
    Complete,
}

/// Returns the accomplishments in an output, in order and trimmed. Ignores unclosed tags.
pub(super) fn progress_tags(output: &str) -> impl Iterator<Item = &str> {
    tag_contents(output, PROGRESS).filter(|text| !text.is_empty())
}

/// Returns whether an output promises that the goal is reached.
pub(super) fn parse_promise(output: &str) -> LoopPromise {
    if tag_contents(output, PROMISE_TAGS).any(|text| text == COMPLETE) {
        LoopPromise::Complete
    } else {
        LoopPromise::Open
    }
}

/// Removes the tags from an output, but keeps their content.
pub(super) fn strip_tags(output: &str) -> String {
    [PROGRESS.0, PROGRESS.1, PROMISE_TAGS.0, PROMISE_TAGS.1]
        .iter()
        .fold(output.to_owned(), |text, tag| text.replace(tag, "\n"))
}

fn tag_contents<'a>(
    text: &'a str,
    (open, close): (&'static str, &'static str),
) -> impl Iterator<Item = &'a str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (_, opened) = rest.split_once(open)?;
        let Some((inside, after)) = opened.split_once(close) else {
            // Without a closing tag here, later tags are unclosed too.
            rest = "";
            return None;
        };
        rest = after;
        Some(inside.trim())
    })
}
