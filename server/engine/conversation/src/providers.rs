//! What each provider does: a folder for each, one trait for request formats ([`Dialect`]), one type for addresses and
//! keys ([`Endpoint`]), and one list, below. Bodies are written from messages of blocks and an [`Envelope`], so that
//! this room knows neither the layout of prompts nor what their content means. Does not place breakpoints or connect to
//! anything.

#[macro_use]
mod list;

pub(crate) mod anthropic;
pub(crate) mod bedrock;
mod check;
pub(crate) mod cohere;
mod dialect;
mod endpoint;
mod findings;
pub(crate) mod gemini;
pub(crate) mod json_fields;
pub(crate) mod ollama;
pub(crate) mod openai;
mod piece;
pub mod reply;
mod request;
pub(crate) mod responses;
mod rule;
mod spoken;

pub use check::violations;
#[cfg(test)]
pub(crate) use check::violations_with_prompt;
pub use dialect::{Dialect, DialectProperties};
pub(crate) use endpoint::BEARER;
pub use endpoint::{Endpoint, KeyHeader, QuestionEndpoint, WindowLookupStep};
pub(crate) use findings::{Findings, is_web_address, is_word_byte};
pub use list::check;
pub use piece::{TextOrImage, texts_and_images};
pub use reply::{Framing, StreamedReply};
pub(crate) use request::Fields;
pub use request::{BreakpointMode, Envelope, RequestBody, Tool, ToolChoice};
pub use rule::{Rule, Violation};
pub(crate) use spoken::build_message;
pub use spoken::{BreakpointTargets, Speaker, SpokenBlock, SpokenMessage, order_results_first};

providers! {
    /// Anthropic's Messages API.
    Anthropic "anthropic" anthropic::AnthropicMessages, anthropic::ENDPOINT;
    /// OpenAI's Chat Completions API, which OpenRouter, LiteLLM, vLLM and many others also accept, with
    /// `provider.base_url`.
    OpenAi "openai" openai::ChatCompletionsDialect, openai::ENDPOINT;
    /// OpenAI's Responses API.
    Responses "responses" responses::ResponsesDialect, responses::ENDPOINT;
    /// Google's `generateContent` API.
    Gemini "gemini" gemini::GenerateContentDialect, gemini::ENDPOINT;
    /// Amazon Bedrock's Converse API. The body also contains `modelId`, which belongs in the request's URL. Strata sends
    /// requests with a Bedrock API key; AWS access keys are not supported.
    Bedrock "bedrock" bedrock::BedrockConverse, bedrock::ENDPOINT;
    /// Cohere's v2 chat API.
    Cohere "cohere" cohere::CohereChat, cohere::ENDPOINT;
    shared:
    /// Ollama on this machine. Needs no key.
    Ollama "ollama" OpenAi, ollama::ENDPOINT;
}

#[cfg(test)]
mod tests;
