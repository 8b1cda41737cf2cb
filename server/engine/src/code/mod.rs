//! Code: open documents and their syntax trees, the outline of each file, and the index of symbols, imports and references. Knows
//! no conversation and no prompt.

pub mod buffer;
pub mod document;
pub mod excerpts;
pub mod outline;
pub mod references;
pub mod settings;
pub mod symbols;
