//! Code: open documents and their syntax trees, file outlines, and the index of symbols, imports and references. Does
//! not depend on conversations or prompts.

pub mod buffer;
pub mod document;
pub mod excerpts;
pub mod notebook;
pub mod outline;
pub mod references;
pub mod settings;
pub mod symbols;
