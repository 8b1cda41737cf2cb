//! Which parts of which files a question is about: whole definitions, or ranges of lines where a file has none, best
//! first, until a budget of tokens is full. It works in two steps, so that few files are read: [`candidate_files`] names the
//! files whose texts are wanted, [`choose()`] chooses among what stands in them. It reads no file, knows no prompt, and gives the
//! same answer for the same question, files and history.

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
