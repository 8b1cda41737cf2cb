//! Excerpts in prompts: a question brings the code along that it is about. Which parts of which files those are is worked out in
//! `code::excerpts`; here they become items that a session shows, keeps, pins and dismisses. Reads no file and lays nothing out.

mod anchor;
mod choose;
mod current;
mod memory;
mod remembered;

pub use choose::{ExcerptSources, Question, candidates, choose, wanted_files};
pub use current::{CurrentExcerpt, ExcerptSelection, ExcerptStanding, SourceFile};
pub use memory::Excerpts;
