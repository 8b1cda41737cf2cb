//! The parts of one result on their way in. Writes nothing: it hands out what must be kept elsewhere and takes
//! back where that went.

use super::{OutputHandling, SpilledOutput, arrive, notice, truncated};
use crate::conversation::history::ResultPart;
use crate::conversation::settings::ToolOutputSettings;

/// The parts of one result, truncated except for those still to be spilled. Pictures are unchanged.
#[derive(Clone, PartialEq, Debug)]
pub struct Intake {
    parts: Vec<Part>,
    settings: ToolOutputSettings,
}

#[derive(Clone, PartialEq, Debug)]
enum Part {
    Settled(ResultPart),
    /// The text is too long for any prompt.
    Long(String),
}

impl Intake {
    /// Cuts what has to be cut.
    pub fn new(parts: Vec<ResultPart>, settings: &ToolOutputSettings) -> Self {
        let part = |part| match part {
            ResultPart::Text { text } => match arrive(&text, settings) {
                OutputHandling::Kept => Part::Settled(ResultPart::Text { text }),
                OutputHandling::Truncated { text, .. } => Part::Settled(ResultPart::Text { text }),
                OutputHandling::Spill(_) => Part::Long(text),
            },
            other => Part::Settled(other),
        };
        Self { parts: parts.into_iter().map(part).collect(), settings: settings.clone() }
    }

    /// The texts that should be put into files, in order.
    pub fn spills(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Long(text) => Some(text.as_str()),
            Part::Settled(_) => None,
        })
    }

    /// The final parts. `spilled` gives the location of each of [`spills`](Self::spills); parts that could not be written to a
    /// file (`None`, or missing) are truncated.
    pub fn finish(self, spilled: impl IntoIterator<Item = Option<SpilledOutput>>) -> Vec<ResultPart> {
        let Self { parts, settings } = self;
        let mut spilled = spilled.into_iter();
        let part = |part| match part {
            Part::Settled(part) => part,
            Part::Long(text) => match spilled.next().flatten() {
                Some(file) => ResultPart::Text { text: notice(&file) },
                None => ResultPart::Text { text: truncated(&text, &settings).map_or(text, |(kept, _)| kept) },
            },
        };
        parts.into_iter().map(part).collect()
    }
}
