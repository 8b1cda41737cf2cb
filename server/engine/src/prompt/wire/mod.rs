//! Request bodies. One layout is written in several dialects, one file each (`anthropic`, `openai`,
//! `markdown`); a dialect adds nothing to what the layout says and joins no two texts. `check` reads a
//! finished body back, independently of how it was written, and names each provider rule it breaks. Knows
//! nothing about tiers, budgets or policies: which block carries a mark was decided before.

pub(crate) mod anthropic;
mod bare;
mod findings;
mod markdown;
pub(crate) mod openai;
mod piece;
mod rule;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use bare::{request, violations};
pub use markdown::{Passage, Readable, readable};
pub use piece::{Piece, pieces_of};
pub use rule::{Rule, Violation};

use crate::conversation::history::Provider;
use crate::prompt::assembly::{Carriers, LaidBlock, Layout};
use crate::tokens::models::{self, CacheKind, Model};

/// The form in which a prompt leaves the house.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// A body for Anthropic's Messages API.
    #[default]
    Anthropic,
    /// A body for OpenAI's Chat Completions API, which many others speak too.
    OpenAi,
    /// A text for reading and pasting.
    Markdown,
}

/// A tool as a client declares it, in no provider's form.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// What the model calls it by.
    pub name: String,
    /// What it does, told to the model.
    #[serde(default)]
    pub description: String,
    /// A JSON schema of its arguments, opaque to Strata.
    pub input_schema: Value,
}

/// What a request says beside its layout.
#[derive(Clone, Copy, Debug)]
pub struct Envelope<'a> {
    /// The model's name as the provider knows it, without any prefix.
    pub model: &'a str,
    /// The tools the client declares, in its order.
    pub tools: &'a [Tool],
    /// Routes requests with the same prefix to the same cache, where the dialect has such a field. More
    /// than 64 characters are replaced by their hash.
    pub cache_key: Option<&'a str>,
    /// How the model is told where cached prefixes end, as far as the dialect leaves that open.
    pub breakpoints: Breakpoints,
}

/// How a dialect that has both ways says where cached prefixes end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Breakpoints {
    /// Not at all: the provider finds known prefixes itself, and refuses breakpoints.
    #[default]
    Automatic,
    /// By breakpoints in the body, and nowhere else.
    Explicit,
}

impl Breakpoints {
    /// What `model` asks for: only OpenAI's own models with explicit caching take OpenAI's breakpoints.
    pub fn of(model: &Model) -> Self {
        match (model.provider, model.cache.kind) {
            (models::Provider::OpenAi, CacheKind::Explicit { .. }) => Self::Explicit,
            _ => Self::Automatic,
        }
    }
}

/// A finished prompt.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Body {
    /// Ready to POST once the client adds model parameters.
    Json(#[schemars(with = "Map<String, Value>")] Value),
    /// Ready to read or paste.
    Text(String),
}

/// What `render` made of a layout.
#[derive(Clone, PartialEq, Debug)]
pub struct Rendered {
    /// The prompt.
    pub body: Body,
    /// How many messages it holds, the system prompt counted as one: what a format's cost per message is
    /// multiplied with.
    pub messages: usize,
}

/// One way to write a layout, and the rules of those who read it.
trait Dialect {
    /// The fields at the top of a body that are Strata's alone, whether a prompt has them or not.
    fn fields(&self) -> &'static [&'static str];

    /// Writes the layout.
    fn render(&self, layout: &Layout, envelope: &Envelope<'_>) -> Rendered;

    /// The broken rules of a body, in the order of the body as far as possible.
    fn check(&self, body: &Value) -> Vec<Violation>;

    /// What has weight in a body's system prompt and messages, in order.
    fn pieces<'a>(&self, body: &'a Value) -> Vec<Piece<'a>>;
}

impl Body {
    /// Puts fields behind those of a request body. A field that is there stays as it is; a text takes none.
    pub fn extend(&mut self, extra: Map<String, Value>) {
        if let Self::Json(Value::Object(body)) = self {
            for (field, value) in extra {
                body.entry(field).or_insert(value);
            }
        }
    }

    /// All of it as one text: a request body as the bytes to POST, with its fields in their order.
    pub fn into_text(self) -> String {
        match self {
            Self::Json(body) => body.to_string(),
            Self::Text(text) => text,
        }
    }
}

impl Format {
    /// Whether a request body may have this field from elsewhere: nobody but Strata writes what it wrote or weighed. A text
    /// has no fields.
    pub fn has_room_for(self, field: &str) -> bool {
        self.provider().is_some() && !self.dialect().fields().contains(&field)
    }

    /// The form that a model's own provider takes.
    pub fn of(model: &Model) -> Self {
        match model.provider {
            models::Provider::Anthropic => Self::Anthropic,
            _ => Self::OpenAi,
        }
    }

    /// Which content blocks can carry a cache breakpoint.
    pub fn carriers(self) -> Carriers {
        match self {
            Self::Anthropic | Self::Markdown => Carriers::Any,
            Self::OpenAi => Carriers::Input,
        }
    }

    /// The provider whose form of messages it is; markdown is nobody's.
    pub fn provider(self) -> Option<Provider> {
        match self {
            Self::Anthropic => Some(Provider::Anthropic),
            Self::OpenAi => Some(Provider::OpenAi),
            Self::Markdown => None,
        }
    }

    fn dialect(self) -> &'static dyn Dialect {
        match self {
            Self::Anthropic => &anthropic::Anthropic,
            Self::OpenAi => &openai::OpenAi,
            Self::Markdown => &markdown::Markdown,
        }
    }
}

/// Writes a layout in the given format. Same layout, same bytes.
pub fn render(layout: &Layout, format: Format, envelope: &Envelope<'_>) -> Rendered {
    format.dialect().render(layout, envelope)
}

/// Reads a finished body and names every provider rule it breaks; empty for one that a provider would
/// accept. Markdown has no rules.
pub fn check(format: Format, body: &Value) -> Vec<Violation> {
    format.dialect().check(body)
}

/// What has weight in a body: each text and picture of its system prompt and messages as its own piece.
/// Pieces of the blocks of a layout (`pieces_of`) and of the body written from it are the same in number
/// and content, though not always in order, but for texts so long that a dialect has to cut them. Empty for markdown.
pub fn pieces(format: Format, body: &Value) -> Vec<Piece<'_>> {
    format.dialect().pieces(body)
}

/// The blocks of a message with its tool results in front, otherwise in order: providers want results
/// first, and the layout may hold other content of the same speaker before them.
fn results_first(blocks: &[LaidBlock]) -> impl Iterator<Item = &LaidBlock> {
    let is_result = |block: &&LaidBlock| block.content.is_tool_result();
    blocks.iter().filter(is_result).chain(blocks.iter().filter(move |block| !is_result(block)))
}

#[cfg(test)]
mod tests;
