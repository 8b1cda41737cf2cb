//! Writes request bodies. Each file writes layouts in one dialect (`anthropic`, `openai`, `responses`, `gemini`,
//! `bedrock`, `markdown`) without adding to the layout or joining texts. `conversation::dialect` writes messages and
//! checks the providers' rules. Breakpoints are already placed, so this module does not depend on tiers, budgets or
//! policies.

mod anthropic;
mod bare;
mod bedrock;
mod body;
mod gemini;
mod markdown;
mod openai;
mod responses;

use crate::conversation::dialect::Format;
use crate::prompt::layout::Layout;

pub use bare::request;
pub(crate) use body::RenderedBody;
pub use body::{Body, Envelope, Tool};
pub(crate) use markdown::Passage;
pub(crate) use markdown::readable;

/// Writes a layout in the given format. The same layout gives the same bytes.
pub fn render(layout: &Layout, format: Format, envelope: &Envelope<'_>) -> RenderedBody {
    match format {
        Format::Anthropic => anthropic::render(layout, envelope),
        Format::OpenAi => openai::render(layout, envelope),
        Format::Responses => responses::render(layout, envelope),
        Format::Gemini => gemini::render(layout, envelope),
        Format::Bedrock => bedrock::render(layout, envelope),
        Format::Markdown => markdown::render(layout),
    }
}

/// Whether a client may add this field to a request body. Fields that Strata writes or counts are reserved, and a
/// Markdown prompt has no fields.
pub fn has_room_for(format: Format, field: &str) -> bool {
    match format {
        Format::Anthropic => !anthropic::FIELDS.contains(&field),
        Format::OpenAi => !openai::FIELDS.contains(&field),
        Format::Responses => !responses::FIELDS.contains(&field),
        Format::Gemini => !gemini::FIELDS.contains(&field),
        Format::Bedrock => !bedrock::FIELDS.contains(&field),
        Format::Markdown => false,
    }
}

#[cfg(test)]
mod tests;
