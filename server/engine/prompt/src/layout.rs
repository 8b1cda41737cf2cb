//! A prompt before it is written as a request body: the content it may contain, and the resulting messages and blocks.
//! A policy (`tiers`) orders the cached content, and a dialect (`wire`) writes the blocks.

mod blocks;
mod compose;
mod content;
mod excerpt_key;
mod item;
mod quote;
mod spans;

pub use blocks::{Layout, LayoutBlock, Part, Tier};
pub(crate) use compose::{GROUP_ITEMS, GROUP_TOKENS};
pub(crate) use compose::{LayoutBuilder, WORKING_FILES};
pub use content::{Content, CountedBlock, FileListInput, Piece, RetainedExcerpts, SentMessage, TierSeeds};
pub(crate) use content::{CountFn, FileListCoverage};
pub use excerpt_key::{ExcerptKey, ExcerptPlace};
pub use item::ItemKey;
pub use quote::{fence, inline_code};
pub(crate) use spans::spans;
pub use spans::spans_of;
