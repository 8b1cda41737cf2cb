//! Replays: recorded sessions played through the real engine, with the same selection, edits, tiers and assembly that editors
//! use. Finds the records (git histories, files of traces, transcripts of agents), plays them, and reports what a session costs
//! under each layout, what compactions keep, and whether every prompt keeps what `docs/tiers.md` promises. The clock is read to
//! report times; nothing else depends on it.

#![allow(missing_docs, reason = "a comment says what the name cannot")]

mod baseline;
mod bound;
mod columns;
pub mod compaction;
mod conversation;
mod parallel;
mod predictions;
mod promises;
mod replay;
mod report;
mod runner;
mod scenario;
mod session;
mod sources;
mod summary;

pub use replay::Replay;
pub use runner::Runner;
pub use scenario::{PromptParts, Scenario};
pub use sources::{Material, SourceError, Sources};
pub use strata_engine::prompt::tiers::PolicyName;
pub use strata_host::git::SessionOptions;

#[cfg(test)]
mod tests;
