//! Counts the tokens of texts and images. Counts for the OpenAI encodings are exact; for model families
//! without a public tokenizer, they are an exact count times a ratio. This module does not call providers;
//! `models` determines which tokenizer a model has.
//!
//! tiktoken-rs is not used for counting: its backtracking matcher panics on 1 MB of spaces, and it is several
//! times slower than a hand-written split with a cache of pieces (`cargo bench -p e2e --bench tokens` prints
//! both times). It supplies the ranks when this crate is built, and the tests compare every count with it.

mod ascii;
mod chunks;
mod classes;
mod encoding;
mod images;
mod memo;
mod scratches;
mod split;
#[cfg(test)]
mod table_layout;
mod token_table;
mod vocabulary;

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_base::cache::Cache;
use strata_base::hash::ContentHash;
use strata_base::text::ParseTextError;

pub(crate) use encoding::Encoding;
pub(crate) use images::ImageFormula;
pub use images::{ImageSize, UNKNOWN_IMAGE_TOKENS};

/// Minimum size in bytes of a text whose count is cached. Counting a shorter one is faster than hashing it
/// and looking it up.
const MIN_CACHED_TEXT_BYTES: usize = 64;
/// Maximum number of cached counts. A repository of 18 MB needs about 10,000. The table takes up to 1.6 MB:
/// 49 bytes per slot, with up to half of the slots unused.
const MAX_COUNTS: usize = 1 << 14;
/// Minimum size in bytes of a text whose chunks are also cached, so that an edit recounts only the changed
/// chunks.
const CHUNKED_FROM_BYTES: usize = 16 * 1024;

/// How to count the tokens of a model. Written `"o200k"`, `"cl100k"`, `{ o200k_times = 1.21 }` or `"chars"`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Tokenizer {
    /// Exact count with `o200k_base`. `o200k_harmony` gives the same counts: it only adds special tokens.
    O200k,
    /// Exact count with `cl100k_base`.
    Cl100k,
    /// The exact `o200k_base` count times a factor, rounded up.
    O200kTimes(Ratio),
    /// One token per four characters, rounded up.
    Chars,
    /// Count by a custom tokenizer.
    Given(GivenId),
}

/// A custom tokenizer. May be called from several threads at once.
pub trait CountTokens: fmt::Debug + Send + Sync {
    /// Returns the number of tokens of a text, or `None` if the tokenizer cannot be used.
    fn count(&self, text: &str) -> Option<usize>;
}

/// Index of a custom tokenizer among those given to a [`TokenCounter`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct GivenId(pub u32);

/// How to count a text before the tokenizer's factor is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum BaseTokenizer {
    Encoding(Encoding),
    Given(GivenId),
}

/// Positive factor between two token counts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "f64", into = "f64")]
pub struct Ratio(f64);

/// Counts tokens and caches counts by content. Clones share the cache, which never affects a count. The default counter
/// has an empty cache and no custom tokenizers. Thread-safe.
#[derive(Debug, Clone, Default)]
pub struct TokenCounter {
    counts: Arc<Cache<(BaseTokenizer, ContentHash), usize, MAX_COUNTS>>,
    given: Arc<[Arc<dyn CountTokens>]>,
    scratches: Arc<scratches::ScratchPool>,
}

impl Tokenizer {
    /// Returns how to count before the tokenizer's factor is applied; `None` if the count is estimated from
    /// characters.
    fn base_tokenizer(self) -> Option<BaseTokenizer> {
        match self {
            Self::O200k | Self::O200kTimes(_) => Some(BaseTokenizer::Encoding(Encoding::O200k)),
            Self::Cl100k => Some(BaseTokenizer::Encoding(Encoding::Cl100k)),
            Self::Given(id) => Some(BaseTokenizer::Given(id)),
            Self::Chars => None,
        }
    }
}

impl Ratio {
    /// Creates a ratio from a factor between 0.1 and 10.
    ///
    /// # Errors
    /// [`ParseTextError`] if the factor is outside this range or NaN.
    pub(crate) fn new(factor: f64) -> Result<Self, ParseTextError> {
        if (0.1..=10.0).contains(&factor) {
            Ok(Self(factor))
        } else {
            Err(ParseTextError(format!("a token ratio must be between 0.1 and 10, not {factor}")))
        }
    }

    #[cfg(test)]
    pub(crate) fn get(self) -> f64 {
        self.0
    }

    fn scale(self, count: usize) -> usize {
        // Counts are far below 2^53, and the product is finite and not negative.
        (count as f64 * self.0).ceil() as usize
    }
}

impl TryFrom<f64> for Ratio {
    type Error = ParseTextError;

    fn try_from(factor: f64) -> Result<Self, ParseTextError> {
        Self::new(factor)
    }
}

impl From<Ratio> for f64 {
    fn from(ratio: Ratio) -> Self {
        ratio.0
    }
}

impl TokenCounter {
    /// Returns a counter with the custom tokenizers `given`, indexed by [`GivenId`], and an empty cache.
    #[must_use]
    pub fn with_custom_tokenizers(&self, given: impl IntoIterator<Item = Arc<dyn CountTokens>>) -> Self {
        Self {
            counts: Arc::default(),
            given: given.into_iter().collect(),
            scratches: Arc::clone(&self.scratches),
        }
    }

    /// Returns the number of tokens of a text. Special tokens that are spelled out in the text count as plain
    /// text.
    pub fn count(&self, tokenizer: Tokenizer, text: &str) -> usize {
        let Some(scheme) = tokenizer.base_tokenizer() else { return count_by_chars(text) };
        let exact = if text.len() < MIN_CACHED_TEXT_BYTES {
            self.count_unscaled(scheme, text)
        } else {
            self.count_with_cache(scheme, text, ContentHash::from_text(text))
        };
        apply_ratio(tokenizer, exact)
    }

    /// Like `count`, for a text whose hash is already known.
    pub fn count_hashed(&self, tokenizer: Tokenizer, text: &str, hash: ContentHash) -> usize {
        match tokenizer.base_tokenizer() {
            Some(scheme) => apply_ratio(tokenizer, self.count_with_cache(scheme, text, hash)),
            None => count_by_chars(text),
        }
    }

    /// Counts a text that differs little from one that was already counted, by counting only the differing
    /// parts. Each text comes with its hash.
    pub fn recount(
        &self,
        tokenizer: Tokenizer,
        before: (&str, ContentHash),
        after: (&str, ContentHash),
    ) -> usize {
        let Some(scheme) = tokenizer.base_tokenizer() else { return count_by_chars(after.0) };
        let cached = self.counts.get(&(scheme, before.1));
        let (BaseTokenizer::Encoding(encoding), Some(cached)) = (scheme, cached) else {
            return self.count_hashed(tokenizer, after.0, after.1);
        };
        let count = || {
            let (removed, added) = chunks::differing_parts(before.0, after.0);
            (cached + self.count_uncached(encoding, added))
                .saturating_sub(self.count_uncached(encoding, removed))
        };
        apply_ratio(tokenizer, self.counts.get_or_insert_with((scheme, after.1), count))
    }

    /// Returns the sum of the counts of several texts.
    #[cfg(test)]
    pub(crate) fn count_all<'a>(
        &self,
        tokenizer: Tokenizer,
        texts: impl IntoIterator<Item = &'a str>,
    ) -> usize {
        texts.into_iter().map(|text| self.count(tokenizer, text)).sum()
    }

    fn count_with_cache(&self, scheme: BaseTokenizer, text: &str, hash: ContentHash) -> usize {
        self.counts.get_or_insert_with((scheme, hash), || {
            if text.len() < CHUNKED_FROM_BYTES {
                return self.count_unscaled(scheme, text);
            }
            let count = |chunk| {
                let key = (scheme, ContentHash::from_text(chunk));
                self.counts.get_or_insert_with(key, || self.count_unscaled(scheme, chunk))
            };
            chunks::Chunks::new(text).map(count).sum()
        })
    }

    fn count_unscaled(&self, scheme: BaseTokenizer, text: &str) -> usize {
        match scheme {
            BaseTokenizer::Encoding(encoding) => self.count_uncached(encoding, text),
            BaseTokenizer::Given(GivenId(id)) => {
                let given = usize::try_from(id).ok().and_then(|id| self.given.get(id));
                given.and_then(|given| given.count(text)).unwrap_or_else(|| count_by_chars(text))
            }
        }
    }

    /// Counts a text without reading or filling the cache of counts.
    fn count_uncached(&self, encoding: Encoding, text: &str) -> usize {
        let vocabulary = encoding.vocabulary();
        self.scratches.with_scratch(encoding, |scratch| {
            let (mut start, bytes) = (0, text.as_bytes());
            let ends = split::PreTokenEnds::new(encoding, text);
            let count = |end| {
                let count = vocabulary.count(bytes, start, end, scratch);
                start = end;
                count
            };
            ends.map(count).sum()
        })
    }
}

/// Counts one token per four characters, rounded up. The fallback without a usable tokenizer.
pub fn count_by_chars(text: &str) -> usize {
    text.chars().count().div_ceil(4)
}

fn apply_ratio(tokenizer: Tokenizer, exact: usize) -> usize {
    match tokenizer {
        Tokenizer::O200kTimes(ratio) => ratio.scale(exact),
        Tokenizer::O200k | Tokenizer::Cl100k | Tokenizer::Chars | Tokenizer::Given(_) => exact,
    }
}

#[cfg(test)]
mod tests;
