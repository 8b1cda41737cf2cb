//! Searches texts that are not in a store, by indexing them in memory for each search.

use rusqlite::Connection;

use super::ranking::rank;
use super::snippet::snippet;
use super::{MatchedWords, SNIPPET_CHARS, terms};
use crate::store::word_index::WordIndex;
use crate::store::{StoreError, schema};

/// A passage that matches a query.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundPassage {
    /// Index of the passage in the searched slice.
    pub index: usize,
    /// The text around the first match in the passage, on one line.
    pub snippet: String,
    /// BM25 score, comparable only within one search. Higher is better.
    pub score: f64,
}

/// Searches the given passages by the same rules as [`Store::search`](crate::store::Store::search). Returns at most
/// `limit` matches, best first, and which words of the query they contain.
///
/// # Errors
/// [`StoreError::EmptyQuery`] if the query contains no words.
pub fn search_passages(
    passages: &[&str],
    query: &str,
    limit: usize,
) -> Result<(Vec<FoundPassage>, MatchedWords), StoreError> {
    let terms = terms(query);
    if terms.is_empty() {
        return Err(StoreError::EmptyQuery);
    }
    let connection = Connection::open_in_memory()?;
    connection.execute_batch(schema::CREATE_WORD_INDEX)?;
    let words = WordIndex::new(&connection);
    for (rowid, passage) in (0..).zip(passages) {
        words.add_row(rowid, passage)?;
    }
    let matches = rank(&connection, &terms, limit)?;
    let passages_found = matches.rows.into_iter().filter_map(|(rowid, score)| {
        let index = usize::try_from(rowid).ok()?;
        let snippet = snippet(passages.get(index)?, &terms, SNIPPET_CHARS);
        Some(FoundPassage { index, snippet, score })
    });
    Ok((passages_found.collect(), matches.matched))
}
