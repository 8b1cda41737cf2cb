//! Reads finished bodies, independently of how they were written: reports broken provider rules, and extracts
//! the parts that count toward tokens.

use serde_json::{Value, json};

use super::format::{Breakpoints, Format};
use super::piece::Piece;
use super::rule::Violation;
use super::spoken::{Speaker, SpokenBlock, SpokenMessage};
use super::{anthropic, bedrock, gemini, openai, responses};
use crate::conversation::history::{ContentBlock, Message, project};

/// Checks a finished body, and returns every broken provider rule. Empty if the provider would accept the
/// body, and always for Markdown.
pub(crate) fn check(format: Format, body: &Value) -> Vec<Violation> {
    match format {
        Format::Anthropic => anthropic::check(body),
        Format::OpenAi => openai::check(body),
        Format::Responses => responses::check(body),
        Format::Gemini => gemini::check(body),
        Format::Bedrock => bedrock::check(body),
        Format::Markdown => Vec::new(),
    }
}

/// Returns the text and images of a body's system prompt and messages, which count toward its tokens. They
/// equal the pieces of the original blocks (`pieces_of`), except that their order may differ and long strings
/// may be split. Empty for Markdown.
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

/// Returns the rules that the conversation would break if it were sent with another user message. Applies the
/// rules of Anthropic's Messages API and OpenAI's Chat Completions API, which include those of the other
/// dialects. Empty if every provider would accept the conversation.
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
