//! Excerpts in prompts: code that is relevant to a question. `code::excerpts` finds the code; this module turns it into
//! items that a session shows, keeps, pins and dismisses. It does not read files or arrange prompts.

mod anchor;
mod choose;
mod current;
mod memory;
mod shown_excerpt;

pub use choose::{ExcerptQuestion, ExcerptSources, choose_excerpts, rank_excerpts};
pub use current::{CurrentExcerpt, ExcerptSelection, ExcerptStanding, SourceFile};
pub(crate) use memory::Excerpts;
