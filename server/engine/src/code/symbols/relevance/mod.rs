//! Which files a text is about: a request, the message of a commit. Words are looked up in what is known about
//! every file, paths and names that the text spells out count for more, and what was found spreads along
//! references and to the tests of what was found. The answer depends on the text, the files and nothing else:
//! no history, no clock.

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
