//! Writes finished request bodies: hands a layout to the format's own code in `conversation::providers`, or writes it as
//! Markdown. Breakpoints are already placed, so this module does not depend on tiers, budgets or policies.

mod body;
mod markdown;

use strata_conversation::history::{Message, project};
use strata_conversation::providers::{Envelope, Format, Speaker};

use crate::layout::{Layout, LayoutBlock, Part, Tier};

pub use body::Body;
pub(crate) use body::RenderedBody;
pub(crate) use markdown::RenderedBlock;
pub(crate) use markdown::render_readable;

/// Writes a layout in the given format. The same layout gives the same bytes.
pub fn render(layout: &Layout, format: Format, envelope: &Envelope<'_>) -> RenderedBody {
    match format.dialect() {
        Some(dialect) => dialect.body(&layout.to_messages(), envelope).into(),
        None => markdown::render_markdown(layout),
    }
}

/// Writes `messages` in `format`, as the model would see them, without a system prompt, files or breakpoints, for
/// exports. The conversation may end with an assistant message, which a provider would reject.
pub fn request_body<'a>(
    messages: impl IntoIterator<Item = &'a Message>,
    format: Format,
    model: &str,
) -> Body {
    let projection = project(messages, &[], format.foreign_provider());
    let mut layout = Layout::default();
    let history =
        projection.history.into_iter().map(|message| (Speaker::from(message.role), message.content));
    let request_blocks = projection.results.into_iter().chain(projection.prompt).collect();
    for (speaker, blocks) in history.chain([(Speaker::User, request_blocks)]) {
        for content in blocks {
            let part = Part::History;
            layout.push(
                speaker,
                LayoutBlock { content, part, items: vec![], tier: Tier::Active, tokens: 0, mark: None },
            );
        }
    }
    render(&layout, format, &Envelope::without_tools(model)).body
}

#[cfg(test)]
pub(crate) mod tests;
