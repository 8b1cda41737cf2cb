//! Finds the files that a text is about, such as a request or a commit message. Looks up its words, gives more weight to paths
//! and names it spells out, and spreads scores along references and to tests. Deterministic: depends on the text and the files
//! only.

pub(super) mod asked;
mod companions;
pub(super) mod lexical;
pub(super) mod query;
pub(super) mod score;

#[cfg(test)]
mod tests;

pub(in crate::code) use self::lexical::name_words;
pub(in crate::code) use self::query::ParsedQuery;
pub(in crate::code) use self::score::scores;
