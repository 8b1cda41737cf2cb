//! The prompt: its content, order and breakpoints, its budget, and the request body. It is the top floor of the engine,
//! so sessions and the tree of all settings are here too.

pub mod assembly;
pub mod budget;
pub mod diff;
pub mod excerpts;
pub mod layout;
pub mod session;
pub mod settings;
pub mod tiers;
pub mod trust;
pub mod wire;
