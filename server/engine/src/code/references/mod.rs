//! Who refers to a definition, true enough to rename by: reads the files that mention a name and works out what each
//! mention means, by scopes, imports, and types as far as they are written. What only the name speaks for is called a guess.
//! What the names of a language mean is data in `grammars/` (`references.scm`); a language without it goes by the graph of
//! imports. Reads texts through a trait, keeps nothing from one query to the next.

mod by_name;
mod confidence;
mod meaning;
mod scopes;
mod search;

#[cfg(test)]
mod tests;

pub use confidence::Confidence;
pub use meaning::{ReferenceSources, SourceTexts};
pub use search::{FoundDefinition, ReferenceHit, ReferenceQuery, ReferenceReport, references, references_at};
