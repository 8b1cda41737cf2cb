//! A prompt before it is written: what it may hold, piece by piece, and the messages of blocks that it becomes. It leaves the
//! order of cached content to a policy (`tiers`), and how a block is written to a dialect.

mod blocks;
mod compose;
mod content;
mod excerpt_key;
mod item;
mod quote;
mod spans;

pub use blocks::{Layout, LayoutBlock, Part, Tier};
pub(crate) use compose::{Composer, WORKING_FILES};
pub(crate) use compose::{GROUP_ITEMS, GROUP_TOKENS};
pub use content::{Content, Lingering, Piece, Seeds, SentMessage, Tree, WeighedBlock};
pub(crate) use content::{Count, FileListCoverage};
pub use excerpt_key::{ExcerptKey, ExcerptPlace};
pub use item::ItemKey;
pub use quote::{fence, inline};
pub use spans::{spans, spans_of};
