//! What counts toward the tokens of a finished body, read independently of the code that writes bodies.

mod anthropic;
mod bedrock;
mod cohere;
mod gemini;
mod openai;
mod responses;

use serde_json::Value;
use strata_conversation::providers::{Format, TextOrImage};

/// Returns the text and images of a body's system prompt and messages. They equal the pieces of the original blocks
/// (`texts_and_images`), except that their order may differ and long strings may be split. Empty for Markdown.
pub(crate) fn pieces(format: Format, body: &Value) -> Vec<TextOrImage<'_>> {
    match format {
        Format::Anthropic => anthropic::pieces(body),
        Format::OpenAi => openai::pieces(body),
        Format::Responses => responses::pieces(body),
        Format::Gemini => gemini::pieces(body),
        Format::Bedrock => bedrock::pieces(body),
        Format::Cohere => cohere::pieces(body),
        Format::Markdown => Vec::new(),
    }
}
