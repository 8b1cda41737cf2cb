//! Language models: windows, tokenizers, cache rules, costs of images and structure, and the resolution of
//! model names as clients and gateways write them. Does not count text and does not contact providers.

mod model;
mod names;
mod table;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::counting::{GivenId, Tokenizer};

pub(crate) use model::LongContext;
pub use model::ModelProvider;
pub use model::{CacheKind, CacheLifetime, CacheTtl, ListPrice, Model, StructureCounts, Ttl};
pub use table::{ModelTable, TableError};

/// Model table that ships with Strata.
const BUILTIN: &str = include_str!("models/models.toml");

/// All known models. Cheap to clone.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Models {
    table: Arc<ModelTable>,
    /// Complete models, keyed by canonical name, including aliases.
    by_name: Arc<BTreeMap<String, Arc<Model>>>,
    /// Complete families, keyed by the canonical prefix of their models' names.
    by_prefix: Arc<BTreeMap<String, Arc<Model>>>,
}

/// The model that a name resolves to.
#[derive(Debug, Clone, PartialEq)]
pub struct ResolvedModel {
    /// The model from the table, or a model with assumed values.
    pub model: Arc<Model>,
    /// Whether the model is in the table, guessed from its family, or unknown.
    pub known: ModelCertainty,
}

/// How certain a [`ResolvedModel`] is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelCertainty {
    /// The model is in the table.
    Known,
    /// Only its family is in the table.
    Guessed {
        /// Name of the family in the table.
        family: String,
    },
    /// Neither the model nor its family is in the table.
    Unknown,
}

/// Input window of a model whose name ends with `[1m]`, in tokens.
const LONG_WINDOW_TOKENS: usize = 1_000_000;

impl Models {
    /// Returns the models of the built-in table. A test checks that the table can be parsed; otherwise every
    /// model would be unknown.
    pub fn builtin() -> Self {
        ModelTable::from_toml(BUILTIN).and_then(Self::new).unwrap_or_default()
    }

    /// Builds the models that a table describes.
    ///
    /// # Errors
    /// [`TableError`] if an entry is incomplete, a family is missing or a number is out of range.
    pub(crate) fn new(table: ModelTable) -> Result<Self, TableError> {
        let (mut by_name, mut by_prefix) = (BTreeMap::new(), BTreeMap::new());
        for (family, prefixes, model) in table.families()? {
            let model = Arc::new(Model { family, ..model });
            for prefix in prefixes {
                by_prefix.insert(names::canonical_name(&prefix), Arc::clone(&model));
            }
        }
        for (aliases, model) in table.models()? {
            let model = Arc::new(model);
            for alias in aliases {
                by_name.insert(names::canonical_name(&alias), Arc::clone(&model));
            }
            by_name.insert(names::canonical_name(&model.id), model);
        }
        Ok(Self { table: Arc::new(table), by_name: Arc::new(by_name), by_prefix: Arc::new(by_prefix) })
    }

    /// Returns these models with `overrides` applied field by field. Overrides can add models and families,
    /// or change existing ones.
    ///
    /// # Errors
    /// The errors of [`Models::new`].
    pub fn with_overrides(&self, overrides: ModelTable) -> Result<Self, TableError> {
        Self::new(self.table.with_overrides(overrides))
    }

    /// Returns these models with custom tokenizers for families or models.
    ///
    /// # Errors
    /// [`TableError::NotInTable`] with the first name that is not in the table.
    pub fn with_custom_tokenizers<'a>(
        &self,
        given: impl IntoIterator<Item = (&'a str, GivenId)>,
    ) -> Result<Self, TableError> {
        let (mut by_name, mut by_prefix) = ((*self.by_name).clone(), (*self.by_prefix).clone());
        for (name, id) in given {
            let canonical = names::canonical_name(name);
            let is_in_family = |model: &Model| names::canonical_name(&model.family) == canonical;
            let has_name = |model: &Model| names::canonical_name(&model.id) == canonical;
            let mut is_known = false;
            for model in by_name.values_mut().filter(|model| is_in_family(model) || has_name(model)) {
                Arc::make_mut(model).tokenizer = Tokenizer::Given(id);
                is_known = true;
            }
            for model in by_prefix.values_mut().filter(|model| is_in_family(model)) {
                Arc::make_mut(model).tokenizer = Tokenizer::Given(id);
                is_known = true;
            }
            if !is_known {
                return Err(TableError::NotInTable(name.to_owned()));
            }
        }
        Ok(Self {
            table: Arc::clone(&self.table),
            by_name: Arc::new(by_name),
            by_prefix: Arc::new(by_prefix),
        })
    }

    /// Resolves a model name as written by its provider, a cloud or a gateway (`anthropic/claude-opus-4.7`,
    /// `us.anthropic.claude-sonnet-4-5-20250929-v1:0`, `openrouter/openai/gpt-5.1`,
    /// `claude-haiku-4-5@20251001`). Always returns a model: an unknown name gets default values.
    pub fn resolve(&self, name: &str) -> ResolvedModel {
        let resolved = self.resolve_without_window_mark(name);
        if !names::has_long_window_mark(name) || resolved.model.max_input >= LONG_WINDOW_TOKENS {
            return resolved;
        }
        let model = Model { max_input: LONG_WINDOW_TOKENS, ..Model::clone(&resolved.model) };
        ResolvedModel { model: Arc::new(model), ..resolved }
    }

    /// Resolves a name without its mark for a long window.
    fn resolve_without_window_mark(&self, name: &str) -> ResolvedModel {
        let candidates = names::candidate_names(name);
        if let Some(model) = candidates.iter().find_map(|candidate| self.by_name.get(candidate)) {
            return ResolvedModel { model: Arc::clone(model), known: ModelCertainty::Known };
        }
        let family = candidates.iter().find_map(|candidate| self.longest_family_match(candidate));
        let (model, known) = match family {
            Some(family) => (family.clone(), ModelCertainty::Guessed { family: family.family.clone() }),
            None => (Model::unknown(), ModelCertainty::Unknown),
        };
        ResolvedModel { model: Arc::new(Model { id: name.to_owned(), ..model }), known }
    }

    /// Returns the source and date of the prices, as shown with costs.
    pub fn price_source(&self) -> &str {
        self.table.price_source()
    }

    /// Returns every model in the table, ordered by name.
    pub fn iter(&self) -> impl Iterator<Item = &Model> {
        let is_alias = |(name, model): &(&String, &Arc<Model>)| names::canonical_name(&model.id) != **name;
        self.by_name.iter().filter(move |entry| !is_alias(entry)).map(|(_, model)| &**model)
    }

    /// Returns the family with the longest prefix that `candidate` starts with.
    fn longest_family_match(&self, candidate: &str) -> Option<&Model> {
        let mut families = self.by_prefix.iter().filter(|(prefix, _)| candidate.starts_with(prefix.as_str()));
        families.by_ref().max_by_key(|(prefix, _)| prefix.len()).map(|(_, model)| &**model)
    }
}

impl ResolvedModel {
    /// Returns a warning for the user if the model is not in the table.
    pub fn warning(&self) -> Option<String> {
        let Model { id, max_input, max_output, .. } = &*self.model;
        let description = match &self.known {
            ModelCertainty::Known => return None,
            ModelCertainty::Guessed { family } => {
                format!("not in the model table; using the values of family `{family}`")
            }
            ModelCertainty::Unknown => "unknown".to_owned(),
        };
        Some(format!(
            "model `{id}` is {description}. Strata assumes {max_input} tokens of input and {max_output} of output, and estimates \
             token counts. Set the actual values in `models`."
        ))
    }
}

#[cfg(test)]
mod tests;
