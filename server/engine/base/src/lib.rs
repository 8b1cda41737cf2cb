//! What all crates of the engine use: hashes, names of files, text, JSON, text from outside, and a cache. Uses no other
//! crate of Strata.

pub mod cache;
pub mod cancel;
pub mod external;
pub mod hash;
pub mod json;
pub mod key;
pub mod sanitize;
pub mod text;
