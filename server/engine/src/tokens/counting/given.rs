//! Interface for custom tokenizers, which are identified by a number.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A custom tokenizer. May be called from several threads at once.
pub trait CountTokens: fmt::Debug + Send + Sync {
    /// Returns the number of tokens of a text, or `None` if the tokenizer cannot be used.
    fn count(&self, text: &str) -> Option<usize>;
}

/// Index of a custom tokenizer among those given to a [`TokenCounter`](super::TokenCounter).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct GivenId(pub u32);
