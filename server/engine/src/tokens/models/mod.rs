//! What is known of language models: windows, tokenizers, cache rules, what images and structure cost, and
//! how a name that a client or a gateway spells leads to all that. It counts no text (`tokens` does) and
//! asks no provider.

mod names;
mod table;

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::tokens::counting::{GivenId, ImageFormula, Ratio, Tokenizer};

pub use table::{ModelTable, TableError};

/// The table that ships with Strata.
const BUILTIN: &str = include_str!("models.toml");

/// One model, or what is assumed of one.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Model {
    /// The name in the table, or the name as asked for when the table has none.
    pub id: String,
    /// The family in the table; empty for an unknown model.
    pub family: String,
    /// Who made it.
    pub provider: Provider,
    /// How its tokens are counted.
    pub tokenizer: Tokenizer,
    /// Tokens that a request may hold.
    pub max_input: usize,
    /// Tokens that an answer may hold.
    pub max_output: usize,
    /// How prompt prefixes are cached and what that costs.
    pub cache: CacheRules,
    /// A higher price for long prompts, where there is one.
    pub long_context: Option<LongContext>,
    /// What an image costs; `None` for a model that takes none.
    pub image: Option<ImageFormula>,
    /// Whether it can call tools.
    pub tools: bool,
    /// Tokens that belong to no text.
    pub overheads: Overheads,
}

/// Who made a model. It decides nothing by itself: gateways serve any model in any dialect.
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
    /// Who says where a cached prefix ends.
    pub kind: CacheKind,
    /// A shorter prefix is not cached, silently. Tokens.
    pub min_tokens: usize,
    /// Price of a cached read.
    pub read: f64,
    /// How long entries live and what writing them costs, shortest life first. Empty without a cache.
    pub lifetimes: Vec<Lifetime>,
}

/// Who says where a cached prefix ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum CacheKind {
    /// The request, by markers.
    Explicit {
        /// Markers that one request may carry.
        max_breakpoints: usize,
        /// A marker finds entries that end up to so many blocks before it, its own block counted.
        lookback: usize,
    },
    /// The provider: the longest known prefix is read.
    Automatic {
        /// Its length is rounded down to a multiple of this. Tokens.
        granularity: usize,
    },
    /// Nobody: nothing is cached.
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

/// Tokens that a provider adds to what the request spells.
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

/// What of a request belongs to no text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Structure {
    /// Messages, the system message included.
    pub messages: usize,
    /// Declared tools.
    pub tools: usize,
    /// Tool calls with their results.
    pub tool_round_trips: usize,
}

/// All known models. Cheap to clone.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Models {
    table: Arc<ModelTable>,
    /// Complete entries by canonical spelling, aliases included.
    by_name: Arc<BTreeMap<String, Arc<Model>>>,
    /// Complete families by canonical prefix of the names they claim.
    by_prefix: Arc<BTreeMap<String, Arc<Model>>>,
}

/// The answer to a model name.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolved {
    /// What holds for the model or is assumed.
    pub model: Arc<Model>,
    /// How sure that is.
    pub known: Known,
}

/// A name that no family and no model of the table has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no family and no model in the table is called `{0}`")]
pub struct NotInTable(String);

/// How sure a [`Resolved`] model is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Known {
    /// The table has it.
    Known,
    /// The table has its family only.
    Guessed {
        /// The family's name in the table.
        family: String,
    },
    /// The table has nothing like it.
    Unknown,
}

impl Models {
    /// The table that ships with Strata. Were it broken (a test proves it is not), every model would be
    /// unknown, and that works.
    pub fn builtin() -> Self {
        ModelTable::from_toml(BUILTIN).and_then(Self::new).unwrap_or_default()
    }

    /// The models of a table.
    ///
    /// # Errors
    /// [`TableError`] when an entry is not complete, a family is missing or a number makes no sense.
    pub fn new(table: ModelTable) -> Result<Self, TableError> {
        let (mut by_name, mut by_prefix) = (BTreeMap::new(), BTreeMap::new());
        for (family, prefixes, model) in table.families()? {
            let model = Arc::new(Model { family, ..model });
            for prefix in prefixes {
                by_prefix.insert(names::canonical(&prefix), Arc::clone(&model));
            }
        }
        for (aliases, model) in table.models()? {
            let model = Arc::new(model);
            for alias in aliases {
                by_name.insert(names::canonical(&alias), Arc::clone(&model));
            }
            by_name.insert(names::canonical(&model.id), model);
        }
        Ok(Self { table: Arc::new(table), by_name: Arc::new(by_name), by_prefix: Arc::new(by_prefix) })
    }

    /// These models with `overrides` laid over them, field by field: a new model, a new family, or other
    /// values for one that is there.
    ///
    /// # Errors
    /// As [`Models::new`]; the models in hand stay as they are.
    pub fn with_overrides(&self, overrides: ModelTable) -> Result<Self, TableError> {
        Self::new(self.table.overlaid_by(overrides))
    }

    /// These models with tokenizers that somebody gave, each for a family or a model.
    ///
    /// # Errors
    /// The first name that the table does not have.
    pub fn with_given<'a>(
        &self,
        given: impl IntoIterator<Item = (&'a str, GivenId)>,
    ) -> Result<Self, NotInTable> {
        let (mut by_name, mut by_prefix) = ((*self.by_name).clone(), (*self.by_prefix).clone());
        for (name, id) in given {
            let canonical = names::canonical(name);
            let of_family = |model: &Model| names::canonical(&model.family) == canonical;
            let of_name = |model: &Model| names::canonical(&model.id) == canonical;
            let mut found = false;
            for model in by_name.values_mut().filter(|model| of_family(model) || of_name(model)) {
                Arc::make_mut(model).tokenizer = Tokenizer::Given(id);
                found = true;
            }
            for model in by_prefix.values_mut().filter(|model| of_family(model)) {
                Arc::make_mut(model).tokenizer = Tokenizer::Given(id);
                found = true;
            }
            if !found {
                return Err(NotInTable(name.to_owned()));
            }
        }
        Ok(Self {
            table: Arc::clone(&self.table),
            by_name: Arc::new(by_name),
            by_prefix: Arc::new(by_prefix),
        })
    }

    /// What holds for the model called `name`, in the spelling of its maker, a cloud or a gateway
    /// (`anthropic/claude-opus-4.7`, `us.anthropic.claude-sonnet-4-5-20250929-v1:0`,
    /// `openrouter/openai/gpt-5.1`, `claude-haiku-4-5@20251001`). Always an answer.
    pub fn resolve(&self, name: &str) -> Resolved {
        let candidates = names::candidates(name);
        if let Some(model) = candidates.iter().find_map(|candidate| self.by_name.get(candidate)) {
            return Resolved { model: Arc::clone(model), known: Known::Known };
        }
        let family = candidates.iter().find_map(|candidate| self.family_of(candidate));
        let (model, known) = match family {
            Some(family) => (family.clone(), Known::Guessed { family: family.family.clone() }),
            None => (Model::unknown(), Known::Unknown),
        };
        Resolved { model: Arc::new(Model { id: name.to_owned(), ..model }), known }
    }

    /// Every model in the table, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Model> {
        let is_alias = |(name, model): &(&String, &Arc<Model>)| names::canonical(&model.id) != **name;
        self.by_name.iter().filter(move |entry| !is_alias(entry)).map(|(_, model)| &**model)
    }

    /// The family with the longest prefix that the candidate begins with.
    fn family_of(&self, candidate: &str) -> Option<&Model> {
        let mut families = self.by_prefix.iter().filter(|(prefix, _)| candidate.starts_with(prefix.as_str()));
        families.by_ref().max_by_key(|(prefix, _)| prefix.len()).map(|(_, model)| &**model)
    }
}

impl Resolved {
    /// One sentence for the user when the model is not known for sure.
    pub fn warning(&self) -> Option<String> {
        let Model { id, max_input, max_output, .. } = &*self.model;
        let known_as = match &self.known {
            Known::Known => return None,
            Known::Guessed { family } => {
                format!("not in the model table; taken for one of family `{family}`")
            }
            Known::Unknown => "unknown".to_owned(),
        };
        Some(format!(
            "model `{id}` is {known_as}: assuming {max_input} tokens of input, {max_output} of output and an \
             estimated tokenizer. The setting `models` can say what holds."
        ))
    }
}

impl Model {
    /// The tokens of a request beyond its texts and images.
    pub fn structure_tokens(&self, structure: Structure) -> usize {
        let Overheads { message, reply, tool_prompt, tool, tool_round_trip } = self.overheads;
        let tools = if structure.tools == 0 { 0 } else { tool_prompt + tool * structure.tools };
        message * structure.messages + reply + tools + tool_round_trip * structure.tool_round_trips
    }

    /// Values that fit most models on offer: a window that nearly all have, and a count that errs upwards.
    fn unknown() -> Self {
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

#[cfg(test)]
mod tests;
