//! The model table as written: families with defaults, models with differences, and merging of tables. Strict: unknown fields and
//! impossible numbers are errors.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::model::{CacheKind, CacheRules, Lifetime, LongContext, Model, Overheads, Provider};
use crate::tokens::counting::{ImageFormula, Tokenizer};

/// Families and models by name. The built-in table and a user's overrides share this form, in TOML or any other format that serde
/// reads.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelTable {
    /// Model families, by name.
    #[serde(default)]
    family: BTreeMap<String, Entry>,
    /// Models, by name.
    #[serde(default)]
    model: BTreeMap<String, Entry>,
}

/// A table that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// Not TOML, or not a valid table.
    #[error("cannot read the model table: {0}")]
    Syntax(String),
    /// A model names a family that is not there.
    #[error("model `{model}` names family `{family}`, which is not in the table")]
    NoFamily {
        /// The model.
        model: String,
        /// The family it names.
        family: String,
    },
    /// Neither the entry nor its family has this field.
    #[error("`{entry}` in the model table lacks `{field}`")]
    Missing {
        /// The model or family.
        entry: String,
        /// The field.
        field: &'static str,
    },
    /// A number that no model has.
    #[error("`{entry}` in the model table has an impossible `{field}`")]
    Impossible {
        /// The model or family.
        entry: String,
        /// The field.
        field: &'static str,
    },
    /// A name that no family and no model has.
    #[error("the table has no family or model named `{0}`")]
    NotInTable(String),
}

/// One entry; missing fields come from its family.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "ModelEntry")]
struct Entry {
    /// The family a model takes its defaults from.
    family: Option<String>,
    /// Names a model also goes by.
    aliases: Option<Vec<String>>,
    /// Beginnings of the names that a family claims.
    prefixes: Option<Vec<String>>,
    /// The provider whose protocol and rules apply.
    provider: Option<Provider>,
    /// How tokens are counted.
    tokenizer: Option<Tokenizer>,
    /// The window for input, in tokens.
    max_input: Option<usize>,
    /// The longest answer, in tokens.
    max_output: Option<usize>,
    /// The provider's cache.
    cache: CacheEntry,
    /// A higher price for long prompts.
    long_context: Option<LongContext>,
    /// The cost of pictures.
    image: Option<ImageEntry>,
    /// Whether it can be given tools.
    tools: Option<Support>,
    /// Tokens beyond the texts of a request.
    overheads: Option<Overheads>,
}

/// An entry's cache rules.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct CacheEntry {
    /// Who decides what is cached.
    mode: Option<CacheKind>,
    /// The shortest prefix that is cached, in tokens.
    min_tokens: Option<usize>,
    /// Price of reading, as a multiple of plain input.
    read: Option<f64>,
    /// How long entries can be asked to live.
    lifetimes: Option<Vec<Lifetime>>,
}

/// A formula, or `"none"`, which overrides the family.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum ImageEntry {
    Formula(ImageFormula),
    Support(Support),
}

/// Whether a model can do something at all.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Support {
    Yes,
    None,
}

impl ModelTable {
    /// Reads a table written in TOML.
    ///
    /// # Errors
    /// [`TableError::Syntax`] with the place and the reason.
    pub(crate) fn from_toml(text: &str) -> Result<Self, TableError> {
        toml::from_str(text).map_err(|error| TableError::Syntax(error.to_string()))
    }

    /// This table overridden by another, entry by entry and field by field.
    pub(super) fn overlaid_by(&self, other: Self) -> Self {
        let mut table = self.clone();
        for (mine, theirs) in [(&mut table.family, other.family), (&mut table.model, other.model)] {
            for (name, over) in theirs {
                let under = mine.remove(&name).unwrap_or_default();
                mine.insert(name, over.over(under));
            }
        }
        table
    }

    /// Every family: its name, the prefixes it claims, and what its members have in common.
    pub(super) fn families(&self) -> Result<Vec<(String, Vec<String>, Model)>, TableError> {
        let complete = |(name, entry): (&String, &Entry)| {
            let model = entry.clone().complete(name)?;
            Ok((name.clone(), entry.prefixes.clone().unwrap_or_default(), model))
        };
        self.family.iter().map(complete).collect()
    }

    /// Every model with its other names.
    pub(super) fn models(&self) -> Result<Vec<(Vec<String>, Model)>, TableError> {
        let complete = |(name, entry): (&String, &Entry)| {
            let family = entry.family.clone().unwrap_or_default();
            let under = match self.family.get(&family) {
                Some(under) => under.clone(),
                None if family.is_empty() => Entry::default(),
                None => return Err(TableError::NoFamily { model: name.clone(), family }),
            };
            let model = entry.clone().over(under).complete(name)?;
            Ok((entry.aliases.clone().unwrap_or_default(), Model { family, ..model }))
        };
        self.model.iter().map(complete).collect()
    }
}

impl Entry {
    fn over(self, under: Self) -> Self {
        Self {
            family: self.family.or(under.family),
            aliases: self.aliases.or(under.aliases),
            prefixes: self.prefixes.or(under.prefixes),
            provider: self.provider.or(under.provider),
            tokenizer: self.tokenizer.or(under.tokenizer),
            max_input: self.max_input.or(under.max_input),
            max_output: self.max_output.or(under.max_output),
            cache: CacheEntry {
                mode: self.cache.mode.or(under.cache.mode),
                min_tokens: self.cache.min_tokens.or(under.cache.min_tokens),
                read: self.cache.read.or(under.cache.read),
                lifetimes: self.cache.lifetimes.or(under.cache.lifetimes),
            },
            long_context: self.long_context.or(under.long_context),
            image: self.image.or(under.image),
            tools: self.tools.or(under.tools),
            overheads: self.overheads.or(under.overheads),
        }
    }

    fn complete(self, name: &str) -> Result<Model, TableError> {
        let missing = |field| TableError::Missing { entry: name.to_owned(), field };
        let impossible = |field| TableError::Impossible { entry: name.to_owned(), field };
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
            long_context: self.long_context,
            image: match self.image {
                Some(ImageEntry::Formula(formula)) => Some(formula),
                Some(ImageEntry::Support(Support::Yes)) => Some(ImageFormula::UNKNOWN),
                Some(ImageEntry::Support(Support::None)) | None => None,
            },
            tools: self.tools == Some(Support::Yes),
            overheads: self.overheads.ok_or_else(|| missing("overheads"))?,
        };
        let price = |price: f64| (0.0..=100.0).contains(&price);
        let lifetimes = &model.cache.lifetimes;
        if model.max_input == 0 || model.max_output == 0 {
            return Err(impossible("max_input or max_output"));
        }
        if !price(model.cache.read) || !lifetimes.iter().all(|lifetime| price(lifetime.write)) {
            return Err(impossible("cache price"));
        }
        if !lifetimes.is_sorted_by_key(|lifetime| lifetime.seconds) {
            return Err(impossible("cache.lifetimes order"));
        }
        if lifetimes.is_empty() != (model.cache.kind == CacheKind::None) {
            return Err(impossible("cache.lifetimes"));
        }
        if model.long_context.is_some_and(|long| !price(long.input)) {
            return Err(impossible("long_context.input"));
        }
        Ok(model)
    }
}
