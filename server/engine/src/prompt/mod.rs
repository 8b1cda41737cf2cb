//! Prompt assembly: from a session and the texts it speaks of to a layout and a request body.

mod layout;

pub use layout::{ItemKey, LaidBlock, LaidMessage, Layout, Part, Speaker, Tier, Ttl};
