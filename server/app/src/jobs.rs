//! Work of several commands or of minutes: a question to a model, the tools that it calls, archival.

pub(crate) mod archival;
pub mod send;
pub mod tools;
