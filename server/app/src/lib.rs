//! The application: typed commands over a session and a snapshot of the workspace, the session store, the index,
//! effective settings, and compaction jobs. Its three front ends are the language server, the server for agents, and
//! the command line. The application uses no types of their protocols and does not depend on which one runs it.

pub mod clock;
pub mod commands;
pub mod faults;
pub mod format;
pub mod jobs;
pub mod model;
pub mod runtime;
pub mod schema;
pub mod services;
pub mod table;

/// Text from outside, which front ends print.
pub use strata_base::external;
/// Parses JSON from outside.
pub use strata_base::json;
/// Allocator for syntax trees, which the binary installs at startup.
pub use strata_grammars::allocator as tree_allocator;
