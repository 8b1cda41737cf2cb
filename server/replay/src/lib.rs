//! Replays recorded sessions through the real engine, with the same selection, edits, tiers and assembly as in an
//! editor. Finds the records (Git histories, trace files, agents' transcripts), replays them, and reports the cost of
//! each layout, what compactions keep, and whether every prompt keeps the promises of `docs/tiers.md`. Reads the clock
//! only to report times.

#![allow(missing_docs, reason = "comments say only what names cannot")]

mod baseline;
mod bound;
mod columns;
pub mod compaction;
mod conversation;
mod gap;
mod parallel;
mod people;
mod predictions;
mod promises;
mod record_file;
mod replay;
mod report;
mod rng;
mod runner;
mod scenario;
mod session;
mod sources;
mod summary;
mod varied;

pub use replay::Replay;
pub use sources::{Material, SourceError, Sources, Workload};
pub use strata_host::git::TraceOptions;
pub use strata_prompt::tiers::PolicyName;

#[cfg(test)]
mod tests;
