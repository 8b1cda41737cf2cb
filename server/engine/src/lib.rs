//! The domain of Strata as synchronous, deterministic code: what a language model sees, and why. Does not do
//! I/O, read the clock or environment, spawn threads, await, use types of LSP or JSON-RPC, or call models.
//! Text, time and cancellation are arguments; results are values.

mod cache;
pub mod cancel;
pub mod code;
pub mod conversation;
pub mod external;
pub mod hash;
pub mod json;
pub mod key;
pub mod prompt;
pub mod sanitize;
pub mod text;
pub mod tokens;
