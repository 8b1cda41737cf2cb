//! The real binary as a user runs it: what it prints where, and how it ends.

#![expect(clippy::unwrap_used, reason = "test support outside of test functions")]

mod doctor;
mod iteration;
mod map;
mod memory;
mod prompt;
mod query;
mod replay;
mod repo;
mod serve;
mod sessions;
mod settings;
mod status;
mod tokens;
mod tutorial;
mod usage;
mod working_folder;
