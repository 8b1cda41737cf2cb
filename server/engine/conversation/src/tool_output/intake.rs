//! Processes the parts of a new tool result. The caller writes long texts to files and reports their paths.

use super::{MAX_TRUNCATED_CHARS, OutputHandling, SpilledOutput, decide_output_handling, notice, truncated};
use crate::history::ResultPart;
use crate::settings::ToolOutputSettings;

/// Parts of a new tool result. Text is truncated unless it is to be written to a file. Images are unchanged.
#[derive(Clone, PartialEq, Debug)]
pub struct IncomingToolResult {
    parts: Vec<IncomingPart>,
    settings: ToolOutputSettings,
}

#[derive(Clone, PartialEq, Debug)]
enum IncomingPart {
    Settled(ResultPart),
    /// Text above `large_output_threshold`, to be written to a file.
    Long(String),
}

impl IncomingToolResult {
    /// Truncates text parts that exceed a limit, except those to be written to files.
    pub fn new(parts: Vec<ResultPart>, settings: &ToolOutputSettings) -> Self {
        let part = |part| match part {
            ResultPart::Text { text } => match decide_output_handling(&text, settings) {
                OutputHandling::Kept => IncomingPart::Settled(ResultPart::Text { text }),
                OutputHandling::Truncated { text, .. } => IncomingPart::Settled(ResultPart::Text { text }),
                OutputHandling::Spill(_) => IncomingPart::Long(text),
            },
            other => IncomingPart::Settled(other),
        };
        Self { parts: parts.into_iter().map(part).collect(), settings: settings.clone() }
    }

    /// In the order in which [`finish`](Self::finish) takes the spilled outputs.
    pub fn texts_to_spill(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            IncomingPart::Long(text) => Some(text.as_str()),
            IncomingPart::Settled(_) => None,
        })
    }

    /// Returns the final parts. `spilled` lists the file for each of [`texts_to_spill`](Self::texts_to_spill), in order. Text
    /// parts whose file is `None` or missing are truncated.
    pub fn finish(self, spilled: impl IntoIterator<Item = Option<SpilledOutput>>) -> Vec<ResultPart> {
        let Self { parts, settings } = self;
        let mut spilled = spilled.into_iter();
        let part = |part| match part {
            IncomingPart::Settled(part) => part,
            IncomingPart::Long(text) => match spilled.next().flatten() {
                Some(file) => ResultPart::Text { text: notice(&file) },
                None => ResultPart::Text {
                    text: truncated(&text, &settings, MAX_TRUNCATED_CHARS)
                        .map_or(text, |(shortened, _)| shortened),
                },
            },
        };
        parts.into_iter().map(part).collect()
    }
}
