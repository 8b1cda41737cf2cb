//! What commands read: settings, the workspace at one moment, its index, documents and sessions, and the store of
//! sessions. Knows no command.

pub mod change_log;
pub mod documents;
pub(crate) mod excerpts;
pub mod freshness;
pub mod index;
pub(crate) mod line_search;
pub mod live_view;
pub mod lost_messages;
pub mod meter;
pub mod open_documents;
pub(crate) mod parse_attempt;
pub(crate) mod parsed_file;
pub(crate) mod parsing;
pub(crate) mod path_reference;
pub(crate) mod prompt_inputs;
pub(crate) mod recent_documents;
pub mod redaction;
pub(crate) mod references;
pub mod rule_scope;
pub mod session_store;
pub mod sessions;
pub mod settings;
pub mod snapshot;
pub(crate) mod workspace_context;
