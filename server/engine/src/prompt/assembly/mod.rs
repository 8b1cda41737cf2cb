//! Prompt assembly: from a session and the texts it speaks of to a layout and a request body. Reads no file,
//! and leaves the order of cached content to a policy (`tiers`).

mod assemble;
mod compose;
mod content;
mod fit;
mod frame;
mod gather;
mod layout;
mod measure;
mod piece;
mod preview;
mod reply;
mod request;
mod standing;
#[cfg(test)]
mod tests;
mod title;

pub use assemble::{IndexState, Means, Prepared, Workspace, assemble, weigh};
pub use compose::{Composer, WORKING_FILES};
pub(crate) use compose::{GROUP_ITEMS, GROUP_TOKENS};
pub use content::{Content, Count, Listed, Piece, Said, Seeds, Tree, Weighed};
pub use frame::{FrameItem, Surroundings, frame_items};
pub use layout::{Carriers, ItemKey, LaidBlock, LaidMessage, Layout, Part, Speaker, Tier, Ttl};
pub use measure::{history_tokens, map_budget, weigh_file, weigh_page, weigh_text, with_scales};
pub(crate) use piece::lines;
pub use piece::{FileText, Source, fence, inline};
pub use preview::{Preview, PreviewPart, changes_since, preview};
pub use reply::{
    AssembleError, Assembled, Breakpoint, Coverage, LargePart, TierReport, TokenReport, UsedFile, Warning,
    WarningCode,
};
pub use request::{Ask, Request, ToolResult};
pub use standing::{Skill, Standing, StandingText, SystemFiles};
pub use title::Titles;
