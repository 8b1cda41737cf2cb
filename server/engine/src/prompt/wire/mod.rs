//! Writes request bodies. Each file writes layouts in one dialect (`anthropic`, `openai`, `responses`, `gemini`,
//! `bedrock`, `markdown`) without adding to the layout or joining texts. `conversation::dialect` writes messages and
//! checks the providers' rules. Breakpoints are already placed, so this module does not depend on tiers, budgets or
//! policies.

mod anthropic;
mod bedrock;
mod body;
mod gemini;
mod markdown;
mod openai;
mod responses;

use crate::conversation::dialect::{Breakpoints, Format, Speaker};
use crate::conversation::history::{ContentBlock, Message, project};
use crate::prompt::layout::{Layout, LayoutBlock, Part, Tier};

pub(crate) use body::RenderedBody;
pub use body::{Body, Envelope, Tool, ToolChoice};
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

/// Writes `messages` followed by `prompt` in `format`, as the model would see them, without a system prompt, files or
/// breakpoints, for exports. Without a prompt, the conversation
/// may end with an assistant message, which a provider would reject.
pub fn request<'a>(
    messages: impl IntoIterator<Item = &'a Message>,
    prompt: &[ContentBlock],
    format: Format,
    model: &str,
) -> Body {
    let projection = project(messages, prompt, format.provider());
    let mut layout = Layout::default();
    let history = projection.history.into_iter().map(|said| (Speaker::from(said.role), said.content));
    let coming = projection.results.into_iter().chain(projection.prompt).collect();
    for (speaker, blocks) in history.chain([(Speaker::User, coming)]) {
        for content in blocks {
            let part = Part::History;
            layout.push(
                speaker,
                LayoutBlock { content, part, items: vec![], tier: Tier::Active, tokens: 0, mark: None },
            );
        }
    }
    let breakpoints = Breakpoints::Automatic;
    render(
        &layout,
        format,
        &Envelope { model, tools: &[], tool_choice: ToolChoice::Auto, cache_key: None, breakpoints },
    )
    .body
}

#[cfg(test)]
mod tests;
