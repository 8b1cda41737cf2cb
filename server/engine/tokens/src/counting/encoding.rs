//! The OpenAI encodings and their vocabularies.

use super::token_table::TableBytes;
use super::vocabulary::Vocabulary;

/// A tokenizer encoding whose tokens Strata counts exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Encoding {
    /// `o200k_base`: GPT-4o, GPT-4.1, GPT-5 and later, o1, o3, o4, and, with other special tokens, gpt-oss.
    O200k,
    /// `cl100k_base`: GPT-4, GPT-4 Turbo, GPT-3.5.
    Cl100k,
}

/// Includes the table of an encoding, as written by `build.rs`.
macro_rules! vocabulary {
    ($name:literal) => {
        Vocabulary::new(TableBytes {
            tokens: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".tokens")),
            ends: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".ends")),
            slots: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".slots")),
            short_ranks: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".short_ranks")),
        })
    };
}

static O200K: Vocabulary = vocabulary!("o200k");
static CL100K: Vocabulary = vocabulary!("cl100k");

impl Encoding {
    pub(crate) const ALL: [Self; 2] = [Self::O200k, Self::Cl100k];

    pub(super) fn vocabulary(self) -> &'static Vocabulary {
        match self {
            Self::O200k => &O200K,
            Self::Cl100k => &CL100K,
        }
    }
}
