//! What compactions promise: each statement of a profile by example (a module per profile), the rest for any conversation (`promises`,
//! `questions`, `effort`).

mod checkpoint;
mod continuation;
mod effort;
mod fixture;
mod handoff;
mod promises;
mod questions;
mod topic;
