//! The OpenAI encodings and their vocabularies, which are built once and shared by the whole process.

use std::sync::OnceLock;

use super::vocabulary::Vocabulary;

/// A tokenizer encoding whose tokens Strata counts exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Encoding {
    /// `o200k_base`: GPT-4o, GPT-4.1, GPT-5 and later, o1, o3, o4, and, with other special tokens, gpt-oss.
    O200k,
    /// `cl100k_base`: GPT-4, GPT-4 Turbo, GPT-3.5.
    Cl100k,
}

/// Error for an embedded vocabulary that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot use the vocabulary of {encoding:?}: {reason}")]
pub struct LoadError {
    encoding: Encoding,
    reason: String,
}

impl Encoding {
    pub(crate) const ALL: [Self; 2] = [Self::O200k, Self::Cl100k];

    /// Returns the vocabulary. The first call builds it; concurrent calls wait for it.
    pub(super) fn vocabulary(self) -> Result<&'static Vocabulary, LoadError> {
        static O200K: OnceLock<Result<Vocabulary, LoadError>> = OnceLock::new();
        static CL100K: OnceLock<Result<Vocabulary, LoadError>> = OnceLock::new();
        let cell = match self {
            Self::O200k => &O200K,
            Self::Cl100k => &CL100K,
        };
        cell.get_or_init(|| self.load()).as_ref().map_err(Clone::clone)
    }

    fn load(self) -> Result<Vocabulary, LoadError> {
        let vocabulary = Vocabulary::parse(self.tokens());
        if vocabulary.len() == self.size() {
            Ok(vocabulary)
        } else {
            let reason = format!("it has {} tokens instead of {}", vocabulary.len(), self.size());
            Err(LoadError { encoding: self, reason })
        }
    }

    /// Returns the embedded tokens, in the format written by `build.rs`.
    fn tokens(self) -> &'static [u8] {
        match self {
            Self::O200k => include_bytes!(concat!(env!("OUT_DIR"), "/o200k")),
            Self::Cl100k => include_bytes!(concat!(env!("OUT_DIR"), "/cl100k")),
        }
    }

    /// Returns the number of ordinary tokens, as in the vocabulary files of `openai/tiktoken`.
    fn size(self) -> usize {
        match self {
            Self::O200k => 199_998,
            Self::Cl100k => 100_256,
        }
    }
}
