//! Prompt assembly: turns a session and the texts of its files into a layout and a request body. It reads no files from
//! disk, and leaves the order of cached content to a policy (`tiers`).

mod assemble;
mod excerpt_piece;
mod fit;
mod forward;
mod frame;
mod gather;
mod measure;
mod piece;
mod preview;
mod reply;
mod request;
mod system_context;
#[cfg(test)]
mod tests;
mod title;
mod used_files;
mod workspace;

pub(crate) use assemble::largest_parts;
pub use assemble::{assemble, assemble_allowing_empty};
pub(crate) use excerpt_piece::excerpt_wrapper;
pub use forward::{ClientConversation, ForwardedRequest, build_forwarded_request};
pub use frame::context_frame;
pub(crate) use measure::request_size;
pub use measure::{
    count_file_tokens, count_page_tokens, history_size, map_budget, standalone_map_budget, token_counter,
    with_token_counters,
};
pub use piece::{FileText, Source, texts_of_line_ranges};

pub use preview::{Preview, changes_since, preview};
#[cfg(test)]
pub(crate) use reply::Breakpoint;
pub use reply::{
    AssembleError, AssembledPrompt, Coverage, InputCost, LargePart, PreparedPrompt, PromptCost, TokenReport,
    Warning, WarningCode,
};
pub(crate) use reply::{TierReport, UsedFile, format_parts};
pub use request::{PromptRequest, PromptServices, Request, ToolResult};
pub use system_context::{Skill, SystemContext, SystemContextText};
pub(crate) use title::Titles;
pub use workspace::{IndexState, Workspace};
