//! Tests of compaction: the documented behavior of each profile by example (one module per profile), and
//! properties of any conversation (`promises`, `questions`, `effort`).

mod answers;
mod checkpoint;
mod continuation;
mod effort;
mod fixture;
mod handoff;
mod promises;
mod questions;
mod topic;
