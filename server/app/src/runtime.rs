//! Runs commands and jobs on sessions: applies their effects, stores changes, and holds a workspace without an editor.

pub mod diagnostics;
pub mod effects;
pub mod executor;
pub mod headless;
pub mod token_usage;
