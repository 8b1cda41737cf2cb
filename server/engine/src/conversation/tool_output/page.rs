//! Reads line ranges of stored outputs.

use schemars::JsonSchema;

use crate::conversation::history::{ContentBlock, NewMessage, ResultPart};

/// A range of lines from a tool output.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Page {
    /// Text of the lines, including line breaks.
    pub text: String,
    /// Number of the first line, starting at 1.
    pub from: usize,
    /// Number of the last line; `from - 1` if there are no lines.
    pub to: usize,
    /// Number of lines in the whole output.
    pub total: usize,
}

/// Returns up to `count` lines of `text` starting at line `from`, where the first line is 1.
pub fn page(text: &str, from: usize, count: usize) -> Page {
    let from = from.max(1);
    let total = text.split_inclusive('\n').count();
    let text: String = text.split_inclusive('\n').skip(from - 1).take(count).collect();
    let shown = text.split_inclusive('\n').count();
    Page { text, from, to: from - 1 + shown, total }
}

/// Concatenates the text of all tool results in a message, archived or not; `None` if there are no results.
pub fn output_of(message: &NewMessage) -> Option<String> {
    let results = || message.content.iter().filter(|block| block.is_tool_result());
    results().next()?;
    let mut output = String::new();
    for block in results() {
        let ContentBlock::ToolResult { content, .. } = block else { continue };
        for part in content {
            let text = match part {
                ResultPart::Text { text } => text,
                ResultPart::Foreign(foreign) => foreign.text().unwrap_or_default(),
                ResultPart::Image(_) => "",
            };
            if !output.is_empty() && !output.ends_with('\n') {
                output.push('\n');
            }
            output.push_str(text);
        }
    }
    Some(output)
}
