//! Writes a conversation as a request without a system prompt, files or breakpoints, for exports.

use crate::conversation::history::{ContentBlock, Message, project};
use crate::prompt::layout::{Layout, LayoutBlock, Part, Tier};

use super::{Body, Envelope, render};
use crate::conversation::dialect::{Breakpoints, Format, Speaker};

/// Writes `messages` followed by `prompt` in `format`, as the model would see them. Without a prompt, the conversation
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
    render(&layout, format, &Envelope { model, tools: &[], cache_key: None, breakpoints }).body
}
