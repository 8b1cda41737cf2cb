//! Excerpts in prompts: relevant code that comes with a question. `code::excerpts` chooses it; here excerpts become items that a
//! session shows, keeps, pins and dismisses. Reads no file and lays nothing out.

mod anchor;
mod choose;
mod current;
mod memory;
mod remembered;

pub use choose::{ExcerptSources, Question, candidates, choose, wanted_files};
pub use current::{CurrentExcerpt, ExcerptSelection, ExcerptStanding, SourceFile};
pub use memory::Excerpts;
