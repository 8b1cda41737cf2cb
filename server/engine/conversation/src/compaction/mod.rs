//! Compaction: shortening a conversation that has grown too long (`docs/compaction.md`). A profile decides
//! when and how, a run provides the questions for a model and takes the answers, and a commit installs or
//! rejects the result. All of them are plain values: nothing here calls a model or reads a clock.

mod answer;
mod commit;
mod pins;
mod profile;
mod question;
mod rebuild;
mod run;
mod split;
mod status;
mod transcript;
mod trigger;

pub use commit::{DraftRefusal, Record, commit};
pub use pins::{LAST_REQUEST, PINNED_PATHS_TOKENS};
pub(crate) use profile::KEPT_RESULTS;
#[cfg(test)]
pub(crate) use profile::{Digest, First, Keep, Reserve, Trigger};
pub use profile::{Family, Lists, Moment, NoSuchProfile, Profile, ProfileOptions};
#[cfg(test)]
pub(crate) use question::{DETECT_CHARS, DETECT_CONFIDENCE, DETECT_MESSAGES, KNOWN_FILES};
pub use question::{Purpose, Question};
#[cfg(test)]
pub(crate) use rebuild::{CONTINUED, LEFT_OUT, PREVIOUS_SUMMARY, READ_AGAIN, TOOL_DIGEST};
pub use run::{
    AuthorKind, Draft, EMERGENCY, NotCompacted, Run, Scales, Size, Strategy, Summariser, SummaryAuthor,
    Topics,
};
#[cfg(test)]
pub(crate) use split::split;
pub(crate) use status::AutoCompaction;
pub use status::CompactionStatus;
pub use trigger::{Pressure, RequestSize, TriggerMetric, TriggerReading};

#[cfg(test)]
mod tests;
