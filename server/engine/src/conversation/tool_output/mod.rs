//! Tool results as they arrive: what to keep of each, and reading the rest later. Writes no file: overlong outputs are returned
//! for storage elsewhere, and replaced by a notice. Does not decide which results are shown later (`tool_result_archival`).

mod cut;
mod intake;
mod page;
#[cfg(test)]
mod tests;

use crate::conversation::settings::ToolOutputSettings;

pub use cut::OutputSize;
pub(crate) use cut::Report;
pub use intake::Intake;
pub use page::{Page, output_of, page};

/// How to handle an output.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum OutputHandling {
    /// Kept unchanged.
    Kept,
    /// This is kept of it, with a last line that says how much went.
    Truncated {
        /// The kept text.
        text: String,
        /// How much there was, and how much is kept.
        report: Report,
    },
    /// It is so long that it belongs into a file, with a [`notice`] in its place.
    Spill(OutputSize),
}

/// An output that was put into a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SpilledOutput {
    /// Its id for `toolOutput.read`.
    pub id: String,
    /// Its path.
    pub path: String,
    /// Its size in bytes.
    pub bytes: u64,
    pub lines: usize,
    /// The SHA-256 of its bytes, in hexadecimal digits.
    pub sha256: String,
}

/// Decides how to handle an output, including those of failed tools. Outputs above `large_output_threshold` characters are
/// spilled; others are cut by lines, then characters, then bytes.
pub(crate) fn arrive(text: &str, settings: &ToolOutputSettings) -> OutputHandling {
    // No text has more characters than bytes; most outputs are short and need not be counted.
    if exceeds(text.len(), settings.large_output_threshold) {
        let before = OutputSize::of(text);
        if exceeds(before.chars, settings.large_output_threshold) {
            return OutputHandling::Spill(before);
        }
    }
    truncated(text, settings)
        .map_or(OutputHandling::Kept, |(text, report)| OutputHandling::Truncated { text, report })
}

/// The notice that replaces a spilled output.
pub(crate) fn notice(SpilledOutput { id, path, bytes, lines, sha256 }: &SpilledOutput) -> String {
    format!(
        "[output too long to show: {lines} lines, {bytes} bytes, SHA-256 {sha256}; saved as {path}; read the lines you \
         need with toolOutput.read {id}]"
    )
}

/// Within all limits, with the last line; `None` when it is so already.
fn truncated(text: &str, settings: &ToolOutputSettings) -> Option<(String, Report)> {
    let mode = settings.truncate_mode;
    let limits = [
        (cut::lines as cut::Cut, settings.max_lines),
        (cut::chars, settings.max_chars),
        (cut::bytes, settings.max_bytes),
    ];
    let mut kept: Option<String> = None;
    for (cut, limit) in limits.into_iter().filter(|(_, limit)| *limit > 0) {
        let so_far = kept.as_deref().unwrap_or(text);
        kept = cut(so_far, limit, mode).or(kept);
    }
    let mut kept = kept?;
    let report = Report { before: OutputSize::of(text), after: OutputSize::of(&kept) };
    if !kept.is_empty() && !kept.ends_with('\n') {
        kept.push('\n');
    }
    kept.push_str(&report.to_string());
    Some((kept, report))
}

/// A limit of 0 is none.
fn exceeds(amount: usize, limit: usize) -> bool {
    limit > 0 && amount > limit
}
