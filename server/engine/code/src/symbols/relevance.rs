//! Finds the files that are relevant to a text, such as a question or a commit message. Looks up the words of
//! the text, gives more weight to the paths and names it contains, and spreads scores along references and to
//! tests. Results depend only on the text and the files.

pub(super) mod asked;
mod companions;
pub(super) mod lexical;
pub(super) mod query;
mod role;
pub(super) mod score;

#[cfg(test)]
mod tests;

pub(crate) use self::lexical::each_name_word;
pub(crate) use self::query::ParsedQuery;
pub(crate) use self::role::FileRole;
pub(crate) use self::score::sort_and_truncate;
