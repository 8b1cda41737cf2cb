//! The model table as written: families with defaults, models with differences, and merging of tables.
//! Unknown fields and impossible numbers are errors.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::model::{
    CacheKind, CacheLifetime, CacheRules, ListPrice, LongContext, Model, ModelProvider, TokenOverheads,
};
use crate::counting::{ImageFormula, Tokenizer};

/// Families and models, keyed by name: additions to the built-in table, and overrides for its entries.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelTable {
    /// Source and date of the prices, as shown with costs.
    #[serde(default)]
    prices: Option<String>,
    /// Model families to add or override, keyed by family name.
    #[serde(default)]
    family: BTreeMap<String, ModelEntry>,
    /// Models to add or override, keyed by model name.
    #[serde(default)]
    model: BTreeMap<String, ModelEntry>,
}

/// Maximum price of a million tokens, in US dollars.
const MAX_LIST_PRICE_DOLLARS: f64 = 100_000.0;

/// Error for a model table that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// The text is not TOML, or does not match the format of the table.
    #[error("cannot read the model table: {0}")]
    Syntax(String),
    /// A model refers to a family that is not in the table.
    #[error("the family `{family}` of model `{model}` is not in the table")]
    NoFamily {
        /// Model that refers to the family.
        model: String,
        /// The missing family.
        family: String,
    },
    /// Neither the entry nor its family has a required field.
    #[error("`{entry}` in the model table has no `{field}`")]
    Missing {
        /// Name of the model or family.
        entry: String,
        field: &'static str,
    },
    /// A number is outside the possible range.
    #[error("`{entry}` in the model table has an invalid `{field}`")]
    Impossible {
        /// Name of the model or family.
        entry: String,
        field: &'static str,
    },
    /// Neither a family nor a model has this name.
    #[error("the table has no family or model named `{0}`")]
    NotInTable(String),
}

/// A model or family. Fields missing in a model come from its family.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "ModelEntry")]
struct ModelEntry {
    /// Family that supplies a model's defaults.
    family: Option<String>,
    /// Other names of a model.
    aliases: Option<Vec<String>>,
    /// Prefixes of the names of a family's models.
    prefixes: Option<Vec<String>>,
    /// Company that makes the model.
    provider: Option<ModelProvider>,
    /// How to count tokens.
    tokenizer: Option<Tokenizer>,
    /// Token limit for a request.
    max_input: Option<usize>,
    /// Token limit for an answer.
    max_output: Option<usize>,
    /// Rules of the provider's cache.
    cache: CacheEntry,
    /// Price in US dollars per million tokens. Costs in money are unknown without it.
    price: Option<ListPrice>,
    /// Higher price of long prompts.
    long_context: Option<LongContext>,
    /// Formula for the tokens of images, or `"none"` if the model does not accept images.
    image: Option<ImageEntry>,
    /// Whether the model can call tools: `"yes"` or `"none"`.
    tools: Option<Support>,
    /// Tokens that the provider adds to the text of a request.
    overheads: Option<TokenOverheads>,
}

/// Rules of the provider's cache.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct CacheEntry {
    /// How the end of a cached prefix is determined.
    mode: Option<CacheKind>,
    /// Minimum tokens of a cached prefix.
    min_tokens: Option<usize>,
    /// Price of a token read from the cache, as a multiple of the price of plain input.
    read: Option<f64>,
    /// Possible lifetimes of cache entries, shortest first.
    lifetimes: Option<Vec<CacheLifetime>>,
}

/// Formula for the tokens of images, or `"none"`, which overrides the family's formula.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum ImageEntry {
    Formula(ImageFormula),
    Support(Support),
}

/// Whether a model supports a feature.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Support {
    Yes,
    None,
}

impl ModelTable {
    /// Parses a table in TOML.
    ///
    /// # Errors
    /// [`TableError::Syntax`] with the position and the reason.
    pub fn from_toml(text: &str) -> Result<Self, TableError> {
        toml::from_str(text).map_err(|error| TableError::Syntax(error.to_string()))
    }

    /// Returns the source and date of the prices.
    pub(super) fn price_source(&self) -> &str {
        self.prices.as_deref().unwrap_or_default()
    }

    /// Returns this table overridden by `other`, entry by entry and field by field.
    pub(super) fn with_overrides(&self, other: Self) -> Self {
        let mut table = self.clone();
        table.prices = other.prices.or(table.prices);
        for (entries, overrides) in [(&mut table.family, other.family), (&mut table.model, other.model)] {
            for (name, entry) in overrides {
                let defaults = entries.remove(&name).unwrap_or_default();
                entries.insert(name, entry.with_defaults(defaults));
            }
        }
        table
    }

    /// Returns the name, the prefixes of the models' names, and the defaults of every family.
    pub(super) fn families(&self) -> Result<Vec<(String, Vec<String>, Model)>, TableError> {
        let to_model = |(name, entry): (&String, &ModelEntry)| {
            let model = entry.clone().into_model(name)?;
            Ok((name.clone(), entry.prefixes.clone().unwrap_or_default(), model))
        };
        self.family.iter().map(to_model).collect()
    }

    /// Returns the aliases and the complete values of every model.
    pub(super) fn models(&self) -> Result<Vec<(Vec<String>, Model)>, TableError> {
        let to_model = |(name, entry): (&String, &ModelEntry)| {
            let family = entry.family.clone().unwrap_or_default();
            let defaults = match self.family.get(&family) {
                Some(defaults) => defaults.clone(),
                None if family.is_empty() => ModelEntry::default(),
                None => return Err(TableError::NoFamily { model: name.clone(), family }),
            };
            let model = entry.clone().with_defaults(defaults).into_model(name)?;
            Ok((entry.aliases.clone().unwrap_or_default(), Model { family, ..model }))
        };
        self.model.iter().map(to_model).collect()
    }
}

impl ModelEntry {
    fn with_defaults(self, defaults: Self) -> Self {
        Self {
            family: self.family.or(defaults.family),
            aliases: self.aliases.or(defaults.aliases),
            prefixes: self.prefixes.or(defaults.prefixes),
            provider: self.provider.or(defaults.provider),
            tokenizer: self.tokenizer.or(defaults.tokenizer),
            max_input: self.max_input.or(defaults.max_input),
            max_output: self.max_output.or(defaults.max_output),
            cache: CacheEntry {
                mode: self.cache.mode.or(defaults.cache.mode),
                min_tokens: self.cache.min_tokens.or(defaults.cache.min_tokens),
                read: self.cache.read.or(defaults.cache.read),
                lifetimes: self.cache.lifetimes.or(defaults.cache.lifetimes),
            },
            price: self.price.or(defaults.price),
            long_context: self.long_context.or(defaults.long_context),
            image: self.image.or(defaults.image),
            tools: self.tools.or(defaults.tools),
            overheads: self.overheads.or(defaults.overheads),
        }
    }

    fn into_model(self, name: &str) -> Result<Model, TableError> {
        let missing = |field| TableError::Missing { entry: name.to_owned(), field };
        let out_of_range = |field| TableError::Impossible { entry: name.to_owned(), field };
        let model = Model {
            id: name.to_owned(),
            family: String::new(),
            provider: self.provider.ok_or_else(|| missing("provider"))?,
            tokenizer: self.tokenizer.ok_or_else(|| missing("tokenizer"))?,
            max_input: self.max_input.ok_or_else(|| missing("max_input"))?,
            max_output: self.max_output.ok_or_else(|| missing("max_output"))?,
            cache: CacheRules {
                kind: self.cache.mode.ok_or_else(|| missing("cache.mode"))?,
                min_tokens: self.cache.min_tokens.unwrap_or(0),
                read: self.cache.read.unwrap_or(1.0),
                lifetimes: self.cache.lifetimes.unwrap_or_default(),
            },
            price: self.price,
            long_context: self.long_context,
            image: match self.image {
                Some(ImageEntry::Formula(formula)) => Some(formula),
                Some(ImageEntry::Support(Support::Yes)) => Some(ImageFormula::UNKNOWN),
                Some(ImageEntry::Support(Support::None)) | None => None,
            },
            tools: self.tools == Some(Support::Yes),
            overheads: self.overheads.ok_or_else(|| missing("overheads"))?,
        };
        let is_price = |price: f64| (0.0..=100.0).contains(&price);
        let lifetimes = &model.cache.lifetimes;
        if model.max_input == 0 || model.max_output == 0 {
            return Err(out_of_range("max_input or max_output"));
        }
        if !is_price(model.cache.read) || !lifetimes.iter().all(|lifetime| is_price(lifetime.write)) {
            return Err(out_of_range("cache price"));
        }
        if !lifetimes.is_sorted_by_key(|lifetime| lifetime.seconds) {
            return Err(out_of_range("cache.lifetimes order"));
        }
        if lifetimes.is_empty() != (model.cache.kind == CacheKind::None) {
            return Err(out_of_range("cache.lifetimes"));
        }
        if model.long_context.is_some_and(|long| !is_price(long.input) || !is_price(long.output)) {
            return Err(out_of_range("long_context price"));
        }
        let is_list_price = |price: f64| (0.0..=MAX_LIST_PRICE_DOLLARS).contains(&price);
        if model.price.is_some_and(|price| !is_list_price(price.input) || !is_list_price(price.output)) {
            return Err(out_of_range("price"));
        }
        Ok(model)
    }
}
