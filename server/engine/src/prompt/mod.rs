//! The prompt: its texts, their order and breakpoints, its budget, and the request body. Builds on the engine's other
//! parts, so sessions and the tree of all settings are here.

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
