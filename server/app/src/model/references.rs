//! Finds references in the current texts, in which open buffers replace files on disk. Provides only the texts: the
//! engine finds the references.

use std::ops::Range;
use std::sync::Arc;

use strata_base::cancel::{Cancel, Cancelled};
use strata_base::key::FileKey;
use strata_code::references::{
    ReferenceQuery, ReferenceReport, ReferenceSources, SearchPartFn, find_references, find_references_at,
};
use strata_conversation::selection::Selection;
use strata_host::index::{index_threads, run_on_threads};

use crate::model::snapshot::Snapshot;

impl Snapshot {
    fn current_text(&self, key: &FileKey) -> Option<Arc<str>> {
        let read = self.unscreened_text(key, &Selection::default()).ok()?;
        Some(Arc::clone(&read.text))
    }

    fn search_references(
        &self,
        cancel: &Cancel,
        find: impl FnOnce(ReferenceSources<'_>) -> Result<ReferenceReport, Cancelled>,
    ) -> Result<ReferenceReport, Cancelled> {
        let index = self.symbols(cancel)?;
        let texts = |key: &FileKey| self.current_text(key);
        let threads = index_threads();
        let each_part = |search: SearchPartFn<'_>| run_on_threads(threads, search);
        let graph = &self.index.references;
        find(ReferenceSources {
            index: &index,
            graph,
            names: &self.names,
            texts: &texts,
            each_part: &each_part,
        })
    }

    /// Finds the references to the target of a query.
    ///
    /// # Errors
    /// Returns [`Cancelled`] if the operation is cancelled.
    pub(crate) fn references(
        &self,
        query: &ReferenceQuery<'_>,
        cancel: &Cancel,
    ) -> Result<ReferenceReport, Cancelled> {
        self.search_references(cancel, |sources| find_references(sources, query, cancel))
    }

    /// Finds the references to the name at `range` in a file.
    ///
    /// # Errors
    /// Returns [`Cancelled`] if the operation is cancelled.
    pub fn references_at(
        &self,
        file: &FileKey,
        range: &Range<usize>,
        cancel: &Cancel,
    ) -> Result<ReferenceReport, Cancelled> {
        self.search_references(cancel, |sources| find_references_at(sources, file, range, cancel))
    }
}
