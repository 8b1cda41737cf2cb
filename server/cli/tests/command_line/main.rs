//! Runs the real binary as a user would, and checks its output and exit code.

#![expect(clippy::unwrap_used, reason = "test support outside of test functions")]

mod config;
mod definitions;
mod doctor;
mod iteration;
mod map;
mod memory;
mod pack;
mod prompt;
mod query;
mod replay;
mod repo;
mod serve;
mod sessions;
mod settings;
mod status;
mod tokens;
// The page is written for a Unix shell.
#[cfg(unix)]
mod tutorial;
mod usage;
mod working_folder;
