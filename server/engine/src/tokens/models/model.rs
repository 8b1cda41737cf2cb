//! One model: its windows, tokenizer, cache, and costs of structure. Looks nothing up.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::tokens::counting::{ImageFormula, Ratio, Tokenizer};

/// A model, known or assumed.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Model {
    /// The name in the table, or the name as asked for when the table has none.
    pub id: String,
    /// The family in the table; empty for an unknown model.
    pub family: String,
    /// Its maker.
    pub provider: Provider,
    /// Its tokenizer.
    pub tokenizer: Tokenizer,
    /// Tokens that a request may hold.
    pub max_input: usize,
    /// Tokens that an answer may hold.
    pub max_output: usize,
    /// How prompt prefixes are cached and what that costs.
    pub cache: CacheRules,
    /// A higher price for long prompts, if there is one.
    pub long_context: Option<LongContext>,
    /// The cost of images; `None` if the model takes none.
    pub image: Option<ImageFormula>,
    /// Whether it can call tools.
    pub tools: bool,
    /// Tokens that belong to no text.
    pub overheads: Overheads,
}

/// The maker of a model. Does not determine the dialect, since gateways serve any model in any dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "ModelProvider")]
pub enum Provider {
    /// Claude.
    Anthropic,
    /// GPT, o-series, gpt-oss.
    OpenAi,
    /// Gemini, Gemma.
    Google,
    /// DeepSeek.
    DeepSeek,
    /// Mistral, Codestral, Devstral, Ministral.
    Mistral,
    /// Qwen.
    Alibaba,
    /// Llama.
    Meta,
    /// Kimi.
    Moonshot,
    /// GLM.
    Zai,
    /// Grok.
    Xai,
    /// Anything else.
    Other,
}

/// How prompt prefixes are cached. Prices are multiples of the price of plain input.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CacheRules {
    /// Who decides where a cached prefix ends.
    pub kind: CacheKind,
    /// A shorter prefix is not cached, silently. Tokens.
    pub min_tokens: usize,
    /// Price of a cached read.
    pub read: f64,
    /// How long entries live and what writing them costs, shortest life first. Empty without a cache.
    pub lifetimes: Vec<Lifetime>,
}

/// Who decides where a cached prefix ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum CacheKind {
    /// The request, by markers.
    Explicit {
        /// Markers that one request may carry.
        max_breakpoints: usize,
        /// Blocks a marker looks back for entries, including its own.
        lookback: usize,
    },
    /// The provider: the longest known prefix is read.
    Automatic {
        /// Its length is rounded down to a multiple of this. Tokens.
        granularity: usize,
    },
    /// No one: the provider does not cache.
    None,
}

/// One choice of how long a cache entry lives.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CacheLifetime")]
pub struct Lifetime {
    /// Seconds since the entry was last written or read.
    pub seconds: u32,
    /// Price of writing it; 1 where writes cost what plain input costs.
    pub write: f64,
}

/// A higher price for prompts that pass a size.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LongContext {
    /// Prompts of more tokens pay more, for all of their tokens.
    pub above: usize,
    /// The multiple of the plain price.
    pub input: f64,
}

/// Tokens that a provider adds to the text of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "TokenOverheads")]
pub struct Overheads {
    /// For each message, its role and delimiters.
    pub message: usize,
    /// Once, for the beginning of the answer.
    pub reply: usize,
    /// Once, when the request declares any tool.
    pub tool_prompt: usize,
    /// For each declared tool, beyond its name, description and schema.
    pub tool: usize,
    /// For each tool call with its result, beyond their texts.
    pub tool_round_trip: usize,
}

/// Structure of a request beyond its texts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Structure {
    /// Messages, the system message included.
    pub messages: usize,
    /// Declared tools.
    pub tools: usize,
    /// Tool calls with their results.
    pub tool_round_trips: usize,
}

/// How long to ask a provider to keep a prefix.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize, JsonSchema,
)]
pub enum Ttl {
    /// Five minutes after the last use.
    #[default]
    #[serde(rename = "5m")]
    FiveMinutes,
    /// One hour after the last use.
    #[serde(rename = "1h")]
    OneHour,
}

impl Model {
    /// The tokens of a request beyond its texts and images.
    pub fn structure_tokens(&self, structure: Structure) -> usize {
        let Overheads { message, reply, tool_prompt, tool, tool_round_trip } = self.overheads;
        let tools = if structure.tools == 0 { 0 } else { tool_prompt + tool * structure.tools };
        message * structure.messages + reply + tools + tool_round_trip * structure.tool_round_trips
    }

    /// Values that fit most models on offer: a window that nearly all have, and a count that errs upwards.
    pub(super) fn unknown() -> Self {
        Self {
            id: String::new(),
            family: String::new(),
            provider: Provider::Other,
            tokenizer: Ratio::new(1.2).map_or(Tokenizer::Chars, Tokenizer::O200kTimes),
            max_input: 128_000,
            max_output: 8_192,
            cache: CacheRules {
                kind: CacheKind::Automatic { granularity: 1 },
                min_tokens: 1_024,
                read: 0.5,
                lifetimes: vec![Lifetime { seconds: 300, write: 1.0 }],
            },
            long_context: None,
            image: Some(ImageFormula::UNKNOWN),
            tools: true,
            overheads: Overheads { message: 4, reply: 3, tool_prompt: 350, tool: 12, tool_round_trip: 20 },
        }
    }
}
