//! Request bodies. One layout is written in several dialects, one file each (`anthropic`, `openai`,
//! `responses`, `gemini`, `bedrock`, `markdown`); a dialect adds nothing to what the layout says and joins no two texts. How messages are spelled, and which
//! rules a provider holds a body to, is `conversation::dialect`'s. Knows nothing about tiers, budgets or policies: which block
//! carries a mark was decided before.

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

/// Writes a layout in the given format. Same layout, same bytes.
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

/// Whether a request body may have this field from elsewhere: no one but Strata writes what it wrote or weighed. A text
/// has no fields.
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
