//! Rehearsals: recorded sessions played through the engine for the command line. Finds them (git histories, files of
//! traces, transcripts of agents), plays them on two threads, sums up. What a session costs and whether a prompt keeps
//! its promises the engine says; the clock is read here and its readings are only reported.

mod compactions;
mod gather;
mod play;
mod predictions;
mod summary;

pub use compactions::{Breach, CompactedConversation, Compactions, Cuts};
pub use gather::{GatherError, Material, Sources};
pub use play::{Cell, Conversation, Everything, Rehearsal, Session};
pub use predictions::{Predictions, Told};
pub use strata_engine::conversation::compaction::Family;
pub use strata_engine::prompt::tiers::PolicyName;
pub use strata_engine::replay::{
    ByChars, Column, Tally,
    fidelity::{FileShare, Share},
    predictions::Way,
};
pub use strata_host::git::SessionOptions;
pub use summary::{ConversationMeans, Line, Summary};

#[cfg(test)]
mod tests;
