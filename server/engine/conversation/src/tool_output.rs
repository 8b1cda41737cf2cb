//! Processes new tool results: decides how much of each to keep, and reads line ranges of stored outputs.
//! Overlong outputs are returned to the caller for storage, and replaced with a notice.
//! `tool_result_archival` decides which results the model sees later.

mod cut;
mod intake;
#[cfg(test)]
mod tests;

use crate::settings::ToolOutputSettings;

pub(crate) use cut::TruncationSizes;
pub use cut::{OutputSize, ResultPage, result_page};
pub use intake::IncomingToolResult;

/// Maximum length of a truncated output, in characters. Applies only if `max_bytes` is 0 or larger, because a text never
/// has more characters than bytes.
const MAX_TRUNCATED_CHARS: usize = 200 << 10;

/// What to do with a tool output.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum OutputHandling {
    /// Keep the output unchanged.
    Kept,
    /// Truncate the output, and add a line that reports how much was removed.
    Truncated {
        /// Truncated text, including the line that reports the truncation.
        text: String,
        report: TruncationSizes,
    },
    /// Write the output to a file, and replace it with a [`notice`].
    Spill(OutputSize),
}

/// An output that was written to a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SpilledOutput {
    /// Id of the output for `toolOutput.read`.
    pub id: String,
    pub path: String,
    pub bytes: u64,
    pub lines: usize,
    /// SHA-256 hash of the bytes, in hexadecimal digits.
    pub sha256: String,
}

/// Decides how to handle an output, including the outputs of failed tools. Outputs above
/// `large_output_threshold` characters are spilled; others are truncated by lines, then characters, then
/// bytes.
pub(crate) fn decide_output_handling(text: &str, settings: &ToolOutputSettings) -> OutputHandling {
    // A text has at least as many bytes as characters, so short outputs need no counting.
    if exceeds_nonzero_limit(text.len(), settings.large_output_threshold) {
        let before = OutputSize::from_text(text);
        if exceeds_nonzero_limit(before.chars, settings.large_output_threshold) {
            return OutputHandling::Spill(before);
        }
    }
    truncated(text, settings, MAX_TRUNCATED_CHARS)
        .map_or(OutputHandling::Kept, |(text, report)| OutputHandling::Truncated { text, report })
}

/// Returns the notice that replaces a spilled output.
pub(crate) fn notice(SpilledOutput { id, path, bytes, lines, sha256 }: &SpilledOutput) -> String {
    format!(
        "[output too long to show: {lines} lines, {bytes} bytes, SHA-256 {sha256}; saved as {path}; read the lines you \
         need with toolOutput.read {id}]"
    )
}

/// Truncates `text` to fit all limits, and adds a line that reports the truncation. `None` if it already fits.
fn truncated(
    text: &str,
    settings: &ToolOutputSettings,
    max_chars: usize,
) -> Option<(String, TruncationSizes)> {
    let mode = settings.truncate_mode;
    let limits = [
        (cut::truncate_lines as cut::TruncateFn, settings.max_lines),
        (cut::truncate_chars, max_chars),
        (cut::truncate_bytes, settings.max_bytes),
    ];
    let mut shortened: Option<String> = None;
    for (cut, limit) in limits.into_iter().filter(|(_, limit)| *limit > 0) {
        let so_far = shortened.as_deref().unwrap_or(text);
        shortened = cut(so_far, limit, mode).or(shortened);
    }
    let mut shortened = shortened?;
    let report =
        TruncationSizes { before: OutputSize::from_text(text), after: OutputSize::from_text(&shortened) };
    if !shortened.is_empty() && !shortened.ends_with('\n') {
        shortened.push('\n');
    }
    shortened.push_str(&report.to_string());
    Some((shortened, report))
}

/// Whether `amount` exceeds `limit`, where 0 means no limit.
fn exceeds_nonzero_limit(amount: usize, limit: usize) -> bool {
    limit > 0 && amount > limit
}
