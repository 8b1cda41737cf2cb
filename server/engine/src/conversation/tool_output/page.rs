//! Reading an output in ranges of lines.

use schemars::JsonSchema;

use crate::conversation::history::{ContentBlock, NewMessage, ResultPart};

/// Some lines of an output.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Page {
    /// The lines with their ends.
    pub text: String,
    /// The first of them, counted from 1.
    pub from: usize,
    /// The last of them; one less than `from` when there are none.
    pub to: usize,
    /// How many lines the output has.
    pub total: usize,
}

/// `count` lines of `text` from line `from` on, counted from 1; as many of them as there are.
pub fn page(text: &str, from: usize, count: usize) -> Page {
    let from = from.max(1);
    let total = text.split_inclusive('\n').count();
    let text: String = text.split_inclusive('\n').skip(from - 1).take(count).collect();
    let shown = text.split_inclusive('\n').count();
    Page { text, from, to: from - 1 + shown, total }
}

/// The text of all results that a message holds, archived or not, one below the other; `None` when it holds none.
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
