//! Recorded sessions as values: what a user asked, what changed, which files were at hand. A trace is made
//! elsewhere (the host reads git histories and files); this module never does I/O and measures nothing itself.

pub mod baseline;
pub mod transcript;
