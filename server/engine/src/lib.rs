//! The whole domain of Strata as plain, synchronous, deterministic code: what a language model gets to
//! see, and why. It never does I/O, reads a clock or the environment, spawns, awaits, names an LSP or
//! JSON-RPC type, or calls a model: text, time and cancellation come in as arguments, values go out.

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
