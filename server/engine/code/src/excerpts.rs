//! Finds the parts of files that are relevant to a question: whole definitions, or line ranges if a file has none, best
//! first, within a token budget. Works in two steps so that few files are read: [`candidate_files`] selects the files
//! to read, and [`choose()`] picks from their text. Deterministic; does not read files itself.

mod candidates;
mod choose;
mod excerpt;
mod extent;
mod features;
mod line_ages;
mod passages;

mod score;
mod similar_commits;
mod stack_trace;

#[cfg(test)]
mod tests;

pub use candidates::{CandidateFile, ExcerptCandidate, candidate_files};
pub use choose::choose;
pub use excerpt::{
    DismissedExcerpt, Excerpt, ExcerptBudget, ExcerptQuery, ExcerptReason, ShownDefinition, join_questions,
};
pub use extent::definition_range;
pub use features::{is_self_contained, worthwhile_token_limit};
pub use line_ages::LineAges;
pub use passages::PassageCache;
pub use similar_commits::PastCommit;
