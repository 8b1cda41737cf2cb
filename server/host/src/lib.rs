//! The outside world behind small interfaces: folders and paths, files on disk, the repository walk, git, worker threads,
//! layers of settings, the store of sessions, questions to language models. It never names an LSP type and decides nothing about
//! what a model gets to see: it says what is there, refuses what must not be touched, and gives the reason.

pub mod canonical;
pub mod config;
pub mod deadline;
pub mod disk;
pub mod git;
pub mod index;
pub mod line_search;
pub mod loop_file;
pub mod outline_cache;
pub mod path_patterns;
pub mod placeholder_key;
pub mod pool;
pub mod preview_file;
pub mod provider;
pub mod roots;
pub mod rule_files;
pub mod secrets;
pub mod store;
pub mod summarise;
pub mod tokenizer_file;
pub mod trace_file;
pub mod transcript_file;
pub mod uri;
pub mod walk;
pub mod watch;
pub mod working_folder;

#[cfg(test)]
mod testing;
