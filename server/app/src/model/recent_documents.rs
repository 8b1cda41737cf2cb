//! Remembers which documents the client mentioned most recently, for commands without arguments, since some editors
//! cannot pass any. Stores only URIs.

use std::sync::Arc;

/// Maximum number of documents to remember. One is not enough, because the client may close the most recent ones.
const MAX_RECENT_DOCUMENTS: usize = 64;

/// URIs of the documents that the client mentioned, most recent last.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RecentDocuments(Vec<Arc<str>>);

impl RecentDocuments {
    /// Records that the client mentioned the document with this URI.
    pub fn record_mention(&mut self, uri: &str) {
        self.remove(uri);
        if self.0.len() >= MAX_RECENT_DOCUMENTS {
            self.0.remove(0);
        }
        self.0.push(uri.into());
    }

    /// Removes a document that the client closed, so that the one before it becomes current again.
    pub fn remove(&mut self, uri: &str) {
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
    fn the_last_document_is_current_until_it_is_closed() {
        let mut documents = RecentDocuments::default();
        assert_eq!(documents.latest(), None);
        ["a", "b", "a"].into_iter().for_each(|uri| documents.record_mention(uri));
        assert_eq!(documents.latest(), Some("a"));
        documents.remove("a");
        assert_eq!(documents.latest(), Some("b"));
        documents.remove("b");
        assert_eq!(documents.latest(), None);
    }

    #[test]
    fn the_number_of_remembered_documents_is_limited() {
        let mut documents = RecentDocuments::default();
        (0..1_000).for_each(|number| documents.record_mention(&number.to_string()));
        assert_eq!((documents.0.len(), documents.latest()), (MAX_RECENT_DOCUMENTS, Some("999")));
    }
}
