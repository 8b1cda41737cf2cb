//! Prompt assembly: from a session and the texts it speaks of to a layout and a request body. Reads no file,
//! and leaves the order of cached content to a policy (`tiers`).

mod assemble;
mod compose;
mod content;
mod fit;
mod gather;
mod layout;
mod piece;
#[cfg(test)]
mod tests;

pub use assemble::{
    Ask, AssembleError, Assembled, Breakpoint, Coverage, IndexState, LargePart, Means, Prepared, Request,
    TierReport, TokenReport, ToolResult, UsedFile, Warning, WarningCode, Workspace, assemble, weigh,
};
pub use compose::{Composer, WORKING_FILES};
pub use content::{Content, Count, Piece, Said, Seeds, Weighed};
pub use gather::{history_tokens, map_budget, weigh_file};
pub use layout::{ItemKey, LaidBlock, LaidMessage, Layout, Part, Speaker, Tier, Ttl};
pub use piece::{FileText, Source};
