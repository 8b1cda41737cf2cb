//! Finds the references to a definition, accurately enough for renaming. Reads the files that mention a name and
//! resolves each mention by scopes, imports and type annotations. A mention that matches by name only is a guess.
//! Reference rules are data in `grammars/` (`references.scm`); languages without them use the import graph. Reads texts
//! through a function. A cache of parsed files is all that remains between queries.

mod by_name;
mod file_search;
mod name_resolver;
mod names_cache;
mod report;
mod scopes;
mod search;
mod targets;
mod word_lines;

#[cfg(test)]
mod tests;

pub use name_resolver::{ReferenceSources, SearchPartFn};
pub use names_cache::FileScopesCache;
pub use report::{
    Confidence, FoundDefinition, NonReferenceLineCounts, ReferenceHit, ReferenceReport, SearchedPart,
};
pub use search::{ReferenceQuery, find_references, find_references_at};
