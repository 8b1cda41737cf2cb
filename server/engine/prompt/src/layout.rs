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
pub(crate) use compose::{GROUP_TOKENS, MAX_GROUPED_MAP_BLOCKS};
pub(crate) use compose::{LayoutBuilder, WORKING_FILES};
pub(crate) use content::{CountFn, FileListCoverage};
pub use content::{
    CountedBlock, FileListInput, LayoutContent, PromptPiece, RetainedExcerpts, SentMessage, TierSeeds,
};
pub use excerpt_key::{ExcerptKey, ExcerptPlace};
pub use item::ItemKey;
pub use quote::{fence_for, inline_code};
pub use spans::block_spans;
pub(crate) use spans::spans;
