//! The application: typed commands over a session and a snapshot of the workspace, the session store, the index,
//! effective settings, and compaction jobs. Its three front ends are the language server, the server for agents, and
//! the command line. The application uses no types of their protocols and does not depend on which one runs it.

pub mod archival;
pub mod change_log;
pub mod clock;
pub mod commands;
pub mod compaction_job;
pub mod compaction_notice;
pub mod diagnostics;
pub mod documents;
pub mod effects;
mod excerpts;
pub mod executor;
pub mod faults;
pub mod format;
pub mod freshness;
pub mod front_end;
pub mod headless;
pub mod index;
mod line_search;
pub mod live_view;
pub mod lost_messages;
pub mod meter;
pub mod open_documents;
mod parse_attempt;
mod parsed_file;
mod parsing;
mod path_reference;
mod prompt_inputs;
pub mod provider_client;
mod recent_documents;
pub mod redaction;
mod references;
pub mod rule_scope;
pub mod running_compaction;
pub mod schema;
pub mod send;
pub mod services;
pub mod session_store;
pub mod sessions;
pub mod settings;
pub mod snapshot;
mod summarizer_client;
pub mod table;
pub mod token_count_client;
pub mod token_usage;
pub mod tools;
mod workspace_context;

/// Text from outside, which front ends print.
pub use strata_engine::external;
/// Parses JSON from outside.
pub use strata_engine::json;
/// Allocator for syntax trees, which the binary installs at startup.
pub use strata_grammars::allocator as tree_allocator;
