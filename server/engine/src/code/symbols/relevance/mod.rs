//! Finds the files that a text is about, such as a request or a commit message. Looks up its words, gives more weight to paths
//! and names it spells out, and spreads scores along references and to tests. Deterministic: depends on the text and the files
//! only.

mod asked;
mod companions;
mod lexical;
mod query;
mod score;

#[cfg(test)]
mod tests;

pub use self::asked::{AskedWords, named_in, rank_for};
pub use self::lexical::LexicalIndex;
pub(in crate::code) use self::lexical::name_words;
pub(in crate::code) use self::query::ParsedQuery;
pub use self::query::Query;
pub(in crate::code) use self::score::scores;
pub use self::score::{Relevant, relevant};
