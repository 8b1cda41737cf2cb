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

pub use commit::{CompactionRecord, DraftRefusal, commit};
pub use pins::{LAST_REQUEST, PINNED_PATHS_TOKENS};
pub(crate) use profile::DEFAULT_KEPT_TOOL_RESULTS;
pub use profile::{
    ActivityListUpdate, BuiltinProfile, CompactionMoment, NoSuchProfile, Profile, ProfileOptions,
};
#[cfg(test)]
pub(crate) use profile::{DigestLimits, FirstMessageRetention, KeepRules, Trigger, WindowReserve};
#[cfg(test)]
pub(crate) use question::{
    MAX_FILES_TO_NAME, MAX_TOPIC_DETECTION_MESSAGES, MAX_TOPIC_MESSAGE_CHARS, MIN_TOPIC_CONFIDENCE,
};
pub use question::{SummarizerQuestion, SummaryPurpose};
#[cfg(test)]
pub(crate) use rebuild::{CONTINUED, LEFT_OUT, PREVIOUS_SUMMARY, READ_AGAIN, TOOL_DIGEST};
pub use run::{
    AuthorKind, CompactionDraft, CompactionRun, CompactionStrategy, ConversationSize,
    DROP_OLDEST_LIMIT_FACTOR, NotCompacted, Summariser, SummaryAuthor, TokenCounters, TopicDetection,
};
#[cfg(test)]
pub(crate) use split::split;
pub(crate) use status::AutoCompaction;
pub use status::CompactionStatus;
pub use trigger::{ContextPressure, RequestSize, TriggerMetric, TriggerReading};

#[cfg(test)]
mod tests;
