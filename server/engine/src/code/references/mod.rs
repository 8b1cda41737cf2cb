//! Finds the references to a definition, accurately enough for renaming. Reads the files that mention a name and
//! resolves each mention by scopes, imports and type annotations. A mention that matches by name only is a guess.
//! Reference rules are data in `grammars/` (`references.scm`); languages without them use the import graph. Reads texts
//! through a function and keeps no state between queries.

mod by_name;
mod meaning;
mod scopes;
mod search;

#[cfg(test)]
mod tests;

pub use meaning::{Confidence, ReferenceSources};
pub use search::{
    FoundDefinition, OtherLines, ReferenceHit, ReferenceQuery, ReferenceReport, references, references_at,
};
