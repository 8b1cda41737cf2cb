//! Runs commands and jobs on sessions: applies their effects, stores changes, and holds a workspace without an editor.

pub mod diagnostics;
pub mod effects;
mod executor;
pub mod headless;
pub mod session_runtime;
pub mod token_usage;
