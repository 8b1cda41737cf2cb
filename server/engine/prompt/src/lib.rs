//! The prompt: its content, order and breakpoints, its budget, and the request body. This is the top layer of the
//! engine, so it also contains sessions and the tree of all settings.

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
