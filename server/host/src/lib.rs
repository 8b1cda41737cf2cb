//! Provides access to the outside world: roots and paths, files on disk, scanning, Git, worker threads, settings
//! layers, stored sessions, and requests to language models. Knows nothing about LSP and does not decide what a model
//! sees. It reports facts, and rejects forbidden access with a reason.

pub mod config;
pub mod disk;
pub mod endpoint;
pub mod file_owner;
pub mod git;
pub mod index;
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
pub mod uri;
pub mod walk;
pub mod watch;

#[cfg(test)]
mod testing;
