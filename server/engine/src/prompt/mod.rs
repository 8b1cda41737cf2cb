//! The prompt: which texts it holds, in which order and behind which breakpoints, within which budget, and the request body
//! that it becomes. Sessions and the tree of all settings live here, on top of the other floors.

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
