//! Searches fragments and messages, including hidden ones, by full text. A query consists of plain words, so it cannot
//! be a syntax error. Returns ranked matches with snippets.

mod coverage;
pub(super) mod passages;
mod ranking;
mod snippet;

use rusqlite::{Connection, OptionalExtension};
use strata_conversation::history::{MessageId, MessageKind, Role};

pub use self::coverage::{MatchedWords, RankingCoverage};

use self::ranking::rank;
use self::snippet::snippet;
use super::rows::{parse_body, read_note};
use super::word_index::searchable_text;
use super::{NoteId, SessionId, Store, StoreError, schema};

#[derive(Debug, Clone, PartialEq)]
pub struct SearchResults {
    /// Matches, best first.
    pub hits: Vec<SearchHit>,
    /// Which of the matches were ranked.
    pub coverage: RankingCoverage,
    /// Which words of the query the hits contain.
    pub matched: MatchedWords,
}

#[derive(Debug, Clone, PartialEq)]
pub struct SearchHit {
    pub source: HitSource,
    /// Time of the message or note, in milliseconds since 1970, if known.
    pub time_ms: Option<u64>,
    /// The text around the first match, on one line.
    pub snippet: String,
    /// BM25 score, comparable only within one search. Higher is better. 0 if the hits are ordered by age, newest first.
    pub score: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub enum HitSource {
    Fragment {
        id: NoteId,
        tags: Vec<String>,
    },
    Message {
        session: SessionId,
        /// Id of the message in its session.
        message: MessageId,
        role: Role,
        kind: MessageKind,
    },
}

/// Maximum number of words in a query. Further words are ignored.
pub(crate) const MAX_TERMS: usize = 16;

/// Maximum length of a word, in characters. Further characters are ignored.
const MAX_TERM_CHARS: usize = 200;

/// Maximum length of a snippet, in characters.
const SNIPPET_CHARS: usize = 240;

impl Store {
    /// Searches for at most [`MAX_TERMS`] words. Returns at most `limit` messages and notes that contain all words or, if
    /// there are none, those that contain some of the rarest words.
    ///
    /// # Errors
    /// [`StoreError::EmptyQuery`].
    pub fn search(&self, query: &str, limit: usize) -> Result<SearchResults, StoreError> {
        let terms = terms(query);
        if terms.is_empty() {
            return Err(StoreError::EmptyQuery);
        }
        let result = self.search_terms(&terms, limit);
        self.mark_for_check_if_damaged(result)
    }

    fn search_terms(&self, terms: &[&str], limit: usize) -> Result<SearchResults, StoreError> {
        let transaction = self.begin_read()?;
        let matches = rank(&transaction, terms, limit)?;
        let mut hits = Vec::with_capacity(matches.rows.len());
        for (rowid, score) in matches.rows {
            hits.extend(read_hit(&transaction, rowid, score, terms)?);
        }
        Ok(SearchResults { hits, coverage: matches.coverage, matched: matches.matched })
    }
}

fn terms(query: &str) -> Vec<&str> {
    let mut terms: Vec<&str> = Vec::new();
    for term in query.split_whitespace().filter(|term| term.contains(char::is_alphanumeric)) {
        let end = term.char_indices().nth(MAX_TERM_CHARS).map_or(term.len(), |(index, _)| index);
        if !terms.contains(&&term[..end]) && terms.len() < MAX_TERMS {
            terms.push(&term[..end]);
        }
    }
    terms
}

fn read_hit(
    connection: &Connection,
    rowid: i64,
    score: f64,
    terms: &[&str],
) -> Result<Option<SearchHit>, StoreError> {
    if rowid > schema::FIRST_FRAGMENT_ROWID {
        let mut statement = connection
            .prepare_cached("SELECT key, session, tags, text, created_ms FROM fragment WHERE key = ?1")?;
        let mut rows = statement.query([rowid - schema::FIRST_FRAGMENT_ROWID])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let fragment_row = read_note(row)?;
        let snippet = snippet(&fragment_row.note.text, terms, SNIPPET_CHARS);
        let source = HitSource::Fragment { id: fragment_row.id, tags: fragment_row.note.tags };
        return Ok(Some(SearchHit { source, time_ms: Some(fragment_row.note.created_ms), snippet, score }));
    }
    let mut statement = connection.prepare_cached(
        "SELECT session.id, message.id, message.body
         FROM message JOIN session ON session.key = message.session WHERE message.key = ?1",
    )?;
    let row: Option<(String, i64, String)> =
        statement.query_row([rowid], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).optional()?;
    let Some((session, id, text)) = row else { return Ok(None) };
    let message = parse_body(&text)?;
    Ok(Some(SearchHit {
        time_ms: message.time_ms,
        snippet: snippet(&searchable_text(&message), terms, SNIPPET_CHARS),
        source: HitSource::Message {
            session: session.parse().map_err(StoreError::damaged)?,
            message: MessageId(id.cast_unsigned()),
            role: message.role,
            kind: message.kind,
        },
        score,
    }))
}
