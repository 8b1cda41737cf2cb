//! A conversation as a request by itself: no system prompt, no files, no breakpoints. What an export is, and how a
//! conversation is tried before it is kept.

use crate::conversation::history::{ContentBlock, Message, project};
use crate::prompt::assembly::{LaidBlock, Layout, Part, Speaker, Tier};

use super::{Body, Breakpoints, Envelope, Format, Violation, check, render};

/// What the model would get to see of `messages` when `prompt` follows, in the form of `format`. Without a prompt the
/// conversation stands for itself; it may then end with the assistant, which a provider would not take.
pub fn request<'a>(
    messages: impl IntoIterator<Item = &'a Message>,
    prompt: &[ContentBlock],
    format: Format,
    model: &str,
) -> Body {
    let projection = project(messages, prompt, format.provider());
    let mut layout = Layout::new();
    let history = projection.history.into_iter().map(|said| (Speaker::from(said.role), said.content));
    let coming = projection.results.into_iter().chain(projection.prompt).collect();
    for (speaker, blocks) in history.chain([(Speaker::User, coming)]) {
        for content in blocks {
            let part = Part::History;
            layout.push(
                speaker,
                LaidBlock { content, part, items: vec![], tier: Tier::Active, tokens: 0, mark: None },
            );
        }
    }
    let breakpoints = Breakpoints::Automatic;
    render(&layout, format, &Envelope { model, tools: &[], cache_key: None, breakpoints }).body
}

/// What providers would refuse in `messages` when the user goes on with a word. Empty for a conversation that every one of
/// them takes.
pub fn violations(messages: &[&Message]) -> Vec<Violation> {
    let prompt = [ContentBlock::text("Go on.")];
    let formats = [Format::Anthropic, Format::OpenAi];
    let found = formats.into_iter().flat_map(|format| {
        match request(messages.iter().copied(), &prompt, format, "any") {
            Body::Json(body) => check(format, &body),
            Body::Text(_) => Vec::new(),
        }
    });
    found.collect()
}
