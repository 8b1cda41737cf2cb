//! The reasons for which a text has no outline although its language has a grammar.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::depth::MAX_OPEN_ANGLES;

/// Maximum size of a file with an outline, in bytes. Larger files appear in prompts by name only, unless they are
/// selected.
pub const MAX_OUTLINE_BYTES: u64 = 1 << 20;

/// Why a text was not parsed. Displayed as a clause with its own subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unparsed {
    /// Parsing the text takes far more work than parsing real code of its size.
    TooMuchWork,
    /// Parsing the text takes far more memory than parsing real code of its size.
    TooMuchMemory,
    /// The text is larger than [`MAX_OUTLINE_BYTES`].
    TooLarge,
    /// The text has too many unclosed `<` in each other.
    NestedAngles,
    /// The text has too many comments in each other.
    NestedComments,
    /// Parsing the text took longer than the host allows, although it did not exceed the limit of work.
    TimedOut,
    /// A process ended while it was parsing the text.
    ProcessEnded,
    /// The other files of the index run had used up the work that all of them may take together.
    NoWorkLeft,
}

impl Unparsed {
    /// Whether parsing the same text again is pointless, because the result would be the same.
    pub fn is_permanent(self) -> bool {
        match self {
            Self::TooMuchWork | Self::TooMuchMemory | Self::NestedAngles | Self::NestedComments => true,
            Self::TooLarge | Self::TimedOut | Self::ProcessEnded | Self::NoWorkLeft => false,
        }
    }
}

impl fmt::Display for Unparsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooMuchWork => f.write_str("parsing it takes far more work than real code of its size"),
            Self::TooMuchMemory => f.write_str("parsing it takes far more memory than real code of its size"),
            Self::TooLarge => write!(f, "the file is larger than {MAX_OUTLINE_BYTES} bytes"),
            Self::NestedAngles => write!(f, "more than {MAX_OPEN_ANGLES} nested `<` are not closed"),
            Self::NestedComments => f.write_str("its comments are nested too deeply"),
            Self::TimedOut => f.write_str("parsing it took too long"),
            Self::ProcessEnded => f.write_str("processes ended while parsing it"),
            Self::NoWorkLeft => f.write_str("other files used up the work budget of this index run"),
        }
    }
}
