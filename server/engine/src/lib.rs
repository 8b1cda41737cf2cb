//! The domain of Strata as plain, synchronous, deterministic code: what a language model sees, and why. Does no I/O, reads no
//! clock or environment, spawns nothing, never awaits, names no LSP or JSON-RPC type, and calls no model. Text, time and
//! cancellation are arguments; results are values.

mod cache;
pub mod cancel;
pub mod code;
pub mod conversation;
pub mod hash;
pub mod key;
pub mod prompt;
pub mod sanitize;
pub mod text;
pub mod tokens;
