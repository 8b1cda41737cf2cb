//! A prompt as the provider's cache sees it: named pieces of some length, some of them marked.

use serde::{Deserialize, Serialize};

use crate::hash::ContentHash;

/// Whether a cache breakpoint follows a span.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Mark {
    /// None does.
    #[default]
    None,
    /// The provider looks for an entry that ends here, but writes none.
    Lookup,
    /// One does.
    Breakpoint,
}

/// One content block of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Span {
    /// Names who says what. Equal spans are equal bytes on the wire.
    pub hash: ContentHash,
    /// Its tokens in the request, with its share of the structure.
    pub tokens: usize,
    /// Whether a breakpoint follows it.
    pub mark: Mark,
    /// Whether it counts as one position with the span before it when the provider looks back.
    pub continues_run: bool,
}
