//! Finds the parts of files that a question is about: whole definitions, or line ranges if a file has none, best first, within a
//! token budget. Works in two steps so that few files are read: [`candidate_files`] names the files to read, and [`choose()`]
//! picks from their text. Reads no files, knows no prompt, and is deterministic.

mod candidates;
mod choose;
mod excerpt;
mod extent;
mod passages;
mod past;

#[cfg(test)]
mod tests;

pub use candidates::{CandidateFile, candidate_files};
pub use choose::{Candidate, choose};
pub use excerpt::{DismissedExcerpt, Excerpt, ExcerptBudget, ExcerptQuery, ExcerptReason};
pub(crate) use extent::definition_range;
pub use passages::PassageCache;
pub use past::PastCommit;
