//! Custom tokenizers, identified by a number. Reads none and knows no format.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Counts the tokens of a text, from many threads at once.
pub trait CountTokens: fmt::Debug + Send + Sync {
    /// How many tokens the text takes; `None` when the tokenizer cannot be used.
    fn count(&self, text: &str) -> Option<usize>;
}

/// Which of the tokenizers that a [`TokenCounter`](super::TokenCounter) was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct GivenId(pub u32);
