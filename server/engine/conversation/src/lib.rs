//! The conversation: its messages and the providers' rules for them, the selected files and web pages, facts,
//! and compaction. Independent of source code and of the layout of requests.

pub mod compaction;
pub mod conversation_facts;
pub mod exchange;
pub(crate) mod extractive;
pub mod history;
pub mod iteration;
pub mod providers;
pub(crate) mod screening;
pub mod selection;
pub mod settings;
pub mod tool_output;
pub mod tool_result_archival;
pub mod trace;
pub mod transcript;
pub mod urls;
