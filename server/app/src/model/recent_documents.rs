//! Remembers which documents the client mentioned most recently, for commands without arguments, since some editors
//! cannot pass any. Stores only URIs.

use std::sync::Arc;

/// Maximum number of documents to remember. One is not enough, because the client may close the most recent ones.
const REMEMBERED: usize = 64;

/// URIs of the documents that the client mentioned, most recent last.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RecentDocuments(Vec<Arc<str>>);

impl RecentDocuments {
    /// Records that the client mentioned the document with this URI.
    pub fn named(&mut self, uri: &str) {
        self.closed(uri);
        if self.0.len() >= REMEMBERED {
            self.0.remove(0);
        }
        self.0.push(uri.into());
    }

    /// Removes a document that the client closed, so that the one before it becomes current again.
    pub fn closed(&mut self, uri: &str) {
        self.0.retain(|known| **known != *uri);
    }

    /// Returns the document that the client mentioned last and has not closed.
    pub(crate) fn latest(&self) -> Option<&str> {
        self.0.last().map(|uri| &**uri)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_one_counts_until_it_is_closed() {
        let mut attention = RecentDocuments::default();
        assert_eq!(attention.latest(), None);
        ["a", "b", "a"].into_iter().for_each(|uri| attention.named(uri));
        assert_eq!(attention.latest(), Some("a"));
        attention.closed("a");
        assert_eq!(attention.latest(), Some("b"));
        attention.closed("b");
        assert_eq!(attention.latest(), None);
    }

    #[test]
    fn a_client_that_never_closes_anything_costs_nothing() {
        let mut attention = RecentDocuments::default();
        (0..1_000).for_each(|number| attention.named(&number.to_string()));
        assert_eq!((attention.0.len(), attention.latest()), (REMEMBERED, Some("999")));
    }
}
