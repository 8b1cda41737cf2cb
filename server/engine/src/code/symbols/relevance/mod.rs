//! Which files a text is about: a request, the message of a commit. Words are looked up in what is known of
//! every file, paths and names that the text spells out count for more, and what was found spreads along
//! references and to the tests of what was found. The answer depends on the text, the files and nothing else:
//! no history, no clock.

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
