//! The same search over texts that are in no store: they are indexed for one search, in memory.

use rusqlite::Connection;

use super::ranking::rank;
use super::snippet::snippet;
use super::{Limits, MatchedWords, terms};
use crate::store::word_index::WordIndex;
use crate::store::{StoreError, schema};

/// A text that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundPassage {
    /// Its place among the texts that were searched.
    pub index: usize,
    /// The text around the first match, on one line.
    pub snippet: String,
    /// Its rank by BM25 among these texts; more is better.
    pub score: f64,
}

/// Searches texts as [`Store::search`](crate::store::Store::search) does, best first.
///
/// # Errors
/// [`StoreError::EmptyQuery`].
pub fn search_passages(
    passages: &[&str],
    query: &str,
    limits: Limits,
) -> Result<(Vec<FoundPassage>, MatchedWords), StoreError> {
    let terms = terms(query);
    if terms.is_empty() {
        return Err(StoreError::EmptyQuery);
    }
    let connection = Connection::open_in_memory()?;
    connection.execute_batch(schema::WORDS)?;
    let words = WordIndex::new(&connection);
    for (rowid, passage) in (0..).zip(passages) {
        words.add(rowid, passage)?;
    }
    let ranked = rank(&connection, &terms, None, limits.hits)?;
    let found = ranked.places.into_iter().filter_map(|(rowid, score)| {
        let index = usize::try_from(rowid).ok()?;
        let snippet = snippet(passages.get(index)?, &terms, limits.snippet_chars);
        Some(FoundPassage { index, snippet, score })
    });
    Ok((found.collect(), ranked.matched))
}
