//! The whole domain of Strata as plain, synchronous, deterministic code: what a language model gets to
//! see, and why. It never does I/O, reads a clock or the environment, spawns, awaits, names an LSP or
//! JSON-RPC type, or calls a model: text, time and cancellation come in as arguments, values go out.

pub mod ageing;
pub mod budget;
pub mod buffer;
mod cache;
pub mod calibration;
pub mod cancel;
pub mod compaction;
pub mod cost;
pub mod diff;
pub mod document;
mod enclosed;
pub mod exchange;
pub mod extractive;
pub mod facts;
pub mod hash;
pub mod history;
pub mod iteration;
pub mod key;
pub mod models;
pub mod outline;
pub mod prompt;
pub mod redaction;
pub mod replay;
pub mod selection;
pub mod session;
pub mod settings;
pub mod symbols;
pub mod text;
pub mod tiers;
pub mod tokens;
pub mod tool_output;
pub mod trust;
pub mod unseen;
pub mod urls;
pub mod wire;
