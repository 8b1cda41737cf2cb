//! Reads bodies back, independently of how they were written: which provider rules they break, and what in them has weight.

use serde_json::{Value, json};

use super::format::{Breakpoints, Format};
use super::piece::Piece;
use super::rule::Violation;
use super::spoken::{Speaker, SpokenBlock, SpokenMessage};
use super::{anthropic, bedrock, gemini, openai, responses};
use crate::conversation::history::{ContentBlock, Message, project};

/// Reads a finished body and names every provider rule it breaks; empty for one that a provider would
/// accept. Markdown has no rules.
pub fn check(format: Format, body: &Value) -> Vec<Violation> {
    match format {
        Format::Anthropic => anthropic::check(body),
        Format::OpenAi => openai::check(body),
        Format::Responses => responses::check(body),
        Format::Gemini => gemini::check(body),
        Format::Bedrock => bedrock::check(body),
        Format::Markdown => Vec::new(),
    }
}

/// The parts of a body that count: each text and picture of its system prompt and messages. A layout's blocks (`pieces_of`) and
/// the body written from it have the same pieces, though not always in the same order, except for texts that a dialect has to
/// split. Empty for Markdown.
pub fn pieces(format: Format, body: &Value) -> Vec<Piece<'_>> {
    match format {
        Format::Anthropic => anthropic::pieces(body),
        Format::OpenAi => openai::pieces(body),
        Format::Responses => responses::pieces(body),
        Format::Gemini => gemini::pieces(body),
        Format::Bedrock => bedrock::pieces(body),
        Format::Markdown => Vec::new(),
    }
}

/// What providers would reject in `messages` if the user continued, by the rules of Anthropic's messages and OpenAI's chat, which
/// include those of the other dialects. Empty if all of them accept the conversation.
pub fn violations(messages: &[&Message]) -> Vec<Violation> {
    let prompt = [ContentBlock::text("Go on.")];
    let found = [Format::Anthropic, Format::OpenAi].into_iter().flat_map(|format| {
        let projection = project(messages.iter().copied(), &prompt, format.provider());
        let coming: Vec<ContentBlock> = projection.results.into_iter().chain(projection.prompt).collect();
        let history = projection.history.iter().map(|said| (Speaker::from(said.role), &said.content));
        let mut spoken: Vec<SpokenMessage<'_>> = Vec::new();
        for (speaker, contents) in history.chain([(Speaker::User, &coming)]) {
            let blocks = contents.iter().map(|content| SpokenBlock { content, mark: None });
            match spoken.last_mut() {
                Some(last) if last.speaker == speaker => last.blocks.extend(blocks),
                _ if contents.is_empty() => {}
                _ => spoken.push(SpokenMessage { speaker, blocks: blocks.collect(), volatile: 0 }),
            }
        }
        let written = match format {
            Format::Anthropic => anthropic::messages(&spoken).messages,
            _ => openai::messages(&spoken, Breakpoints::Automatic),
        };
        check(format, &json!({"model": "any", "messages": written}))
    });
    found.collect()
}
