//! A language model: its windows, tokenizer, cache rules, and costs of structure.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::counting::{ImageFormula, Ratio, Tokenizer};

/// A language model, known or assumed.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Model {
    /// Name in the model table, or the requested name if the table does not contain it.
    pub id: String,
    /// Family in the model table; empty for an unknown model.
    pub family: String,
    /// Company that makes the model.
    pub provider: ModelProvider,
    /// How to count the tokens of its input.
    pub tokenizer: Tokenizer,
    /// Token limit for a request.
    pub max_input: usize,
    /// Token limit for an answer.
    pub max_output: usize,
    /// How prompt prefixes are cached and what that costs.
    pub cache: CacheRules,
    /// List price; absent if it is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<ListPrice>,
    /// Higher price of long prompts, if any.
    pub(crate) long_context: Option<LongContext>,
    /// Token costs of images; `None` if the model does not accept images.
    pub image: Option<ImageFormula>,
    /// Whether the model can call tools.
    pub tools: bool,
    /// Tokens that the provider adds to the text of a request.
    pub overheads: TokenOverheads,
}

/// Company that makes a model. Does not determine the request format, since gateways serve any model in any format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ModelProvider {
    /// Maker of Claude.
    Anthropic,
    /// Maker of GPT, the o-series and gpt-oss.
    OpenAi,
    /// Maker of Gemini and Gemma.
    Google,
    DeepSeek,
    /// Maker of Mistral, Codestral, Devstral and Ministral.
    Mistral,
    /// Maker of Qwen.
    Alibaba,
    /// Maker of Llama.
    Meta,
    /// Maker of Kimi.
    Moonshot,
    /// Maker of GLM.
    Zai,
    /// Maker of Grok.
    Xai,
    /// Any other maker.
    Other,
}

/// How prompt prefixes are cached. Prices are multiples of the price of plain input.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CacheRules {
    /// How the end of a cached prefix is determined.
    pub kind: CacheKind,
    /// Minimum tokens of a cached prefix. Shorter ones are not cached, without an error.
    pub min_tokens: usize,
    /// Price of a token read from the cache.
    pub read: f64,
    /// Possible lifetimes of cache entries and their write prices, shortest first. Empty if the provider does
    /// not cache.
    pub lifetimes: Vec<CacheLifetime>,
}

/// How the end of a cached prefix is determined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum CacheKind {
    /// Markers in the request end the cached prefixes.
    Explicit {
        /// Maximum number of markers in one request that write a cache entry.
        max_breakpoints: usize,
        /// Maximum number of markers in one request, if only the last `max_breakpoints` of them write an entry and
        /// the others are only compared with existing entries. 0 if all markers write.
        #[serde(default)]
        max_matched: usize,
        /// Number of blocks, including its own, in which a marker looks for a cache entry.
        lookback: usize,
    },
    /// The provider caches every prefix and reads the longest known one.
    Automatic {
        /// Step, in tokens, to which the length of a cached prefix is rounded down.
        granularity: usize,
    },
    /// The provider does not cache.
    None,
}

impl CacheKind {
    /// Whether a request can have more markers than write entries, so that it finds the entries of earlier requests.
    pub fn has_lookup_only_markers(self) -> bool {
        matches!(self, Self::Explicit { max_breakpoints, max_matched, .. } if max_matched > max_breakpoints)
    }

    /// Returns the maximum number of markers in one request.
    pub fn max_markers(self) -> usize {
        match self {
            Self::Explicit { max_breakpoints, max_matched, .. } => max_breakpoints.max(max_matched),
            Self::Automatic { .. } | Self::None => 0,
        }
    }
}

/// A possible lifetime of cache entries.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CacheLifetime")]
pub struct CacheLifetime {
    /// Lifetime in seconds since the entry was last written or read.
    pub seconds: u32,
    /// Price of a token written to the cache; 1 if writes cost the same as plain input.
    pub write: f64,
}

/// A higher price for prompts above a size.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LongContext {
    /// Token limit for a prompt at the plain price. All tokens of a larger prompt cost more.
    pub above: usize,
    /// Price of a token in a larger prompt, as a multiple of the plain price.
    pub input: f64,
    /// Price of a token of the answer to a larger prompt, as a multiple of the plain price.
    #[serde(default = "LongContext::regular_price_factor")]
    pub output: f64,
}

impl LongContext {
    fn regular_price_factor() -> f64 {
        1.0
    }
}

/// Price of a model, in US dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListPrice {
    /// Price of plain input.
    pub input: f64,
    /// Price of output.
    pub output: f64,
}

/// Tokens that a provider adds to the text of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "TokenOverheads")]
pub struct TokenOverheads {
    /// Tokens per message, for its role and delimiters.
    pub message: usize,
    /// Tokens per request, for the beginning of the answer.
    pub reply: usize,
    /// Tokens per request, if it declares any tools.
    pub tool_prompt: usize,
    /// Tokens per declared tool, beyond its name, description and schema.
    pub tool: usize,
    /// Tokens per tool call and its result, in addition to their text.
    pub tool_round_trip: usize,
}

/// Counts of a request's structural elements, by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StructureCounts {
    /// Number of messages, including the system message.
    pub messages: usize,
    /// Number of declared tools.
    pub tools: usize,
    /// Number of tool calls with results.
    pub tool_round_trips: usize,
}

/// Lifetime of cache entries that a request asks for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema)]
pub enum Ttl {
    /// Five minutes after the last use.
    #[serde(rename = "5m")]
    FiveMinutes,
    /// One hour after the last use.
    #[serde(rename = "1h")]
    OneHour,
}

/// How the lifetimes of cache entries are chosen.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize, JsonSchema,
)]
pub enum CacheTtl {
    /// For each breakpoint, the lifetime that is expected to cost less.
    #[default]
    #[serde(rename = "auto")]
    Auto,
    /// Five minutes after the last use.
    #[serde(rename = "5m")]
    FiveMinutes,
    /// One hour after the last use.
    #[serde(rename = "1h")]
    OneHour,
}

impl CacheTtl {
    /// Returns the lifetime of a breakpoint for which no longer one was chosen.
    pub fn shortest(self) -> Ttl {
        match self {
            Self::Auto | Self::FiveMinutes => Ttl::FiveMinutes,
            Self::OneHour => Ttl::OneHour,
        }
    }
}

impl From<Ttl> for CacheTtl {
    fn from(ttl: Ttl) -> Self {
        match ttl {
            Ttl::FiveMinutes => Self::FiveMinutes,
            Ttl::OneHour => Self::OneHour,
        }
    }
}

impl Model {
    /// Returns the tokens of a request in addition to those of its text and images.
    pub fn structure_tokens(&self, structure: StructureCounts) -> usize {
        let TokenOverheads { message, reply, tool_prompt, tool, tool_round_trip } = self.overheads;
        let tools = if structure.tools == 0 { 0 } else { tool_prompt + tool * structure.tools };
        message * structure.messages + reply + tools + tool_round_trip * structure.tool_round_trips
    }

    /// Returns the values assumed for an unknown model: a window that nearly all models have, and a tokenizer
    /// that tends to overestimate.
    pub(super) fn unknown() -> Self {
        Self {
            id: String::new(),
            family: String::new(),
            provider: ModelProvider::Other,
            tokenizer: Ratio::new(1.2).map_or(Tokenizer::Chars, Tokenizer::O200kTimes),
            max_input: 128_000,
            max_output: 8_192,
            cache: CacheRules {
                kind: CacheKind::Automatic { granularity: 1 },
                min_tokens: 1_024,
                read: 0.5,
                lifetimes: vec![CacheLifetime { seconds: 300, write: 1.0 }],
            },
            price: None,
            long_context: None,
            image: Some(ImageFormula::UNKNOWN),
            tools: true,
            overheads: TokenOverheads {
                message: 4,
                reply: 3,
                tool_prompt: 350,
                tool: 12,
                tool_round_trip: 20,
            },
        }
    }
}
