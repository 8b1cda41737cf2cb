//! A prompt as the provider's cache sees it: hashed spans with their sizes and cache markers.

use serde::{Deserialize, Serialize};

use crate::hash::ContentHash;

/// Cache marker at the end of a span.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Mark {
    #[default]
    None,
    /// The provider looks for an entry that ends here, but does not write one.
    Lookup,
    /// A cache breakpoint: the provider looks for an entry that ends here and writes one.
    Breakpoint,
}

/// One content block of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Span {
    /// Hash of the role and content. Spans with equal hashes are sent as equal bytes.
    pub hash: ContentHash,
    /// Number of tokens that the block takes in the request, including its share of the request's structure.
    pub tokens: usize,
    /// Marker at the end of the span.
    pub mark: Mark,
    /// Whether the span shares a position with the previous span when the provider looks back.
    pub continues_run: bool,
}
