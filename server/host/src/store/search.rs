//! Full-text search over fragments and messages, hidden ones included: plain words in, ranked places with a snippet out. No
//! text that a person or a model may write is a syntax error.

mod snippet;

use rusqlite::{Connection, OptionalExtension, params};
use strata_engine::history::{Kind, MessageId, Role};

use self::snippet::snippet;
use super::memory::fragment;
use super::sessions::{body, key_of};
use super::words::{spaced, text_of};
use super::{FragmentId, SessionId, Store, StoreError, schema};

/// Where to search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// All fragments and all messages of all sessions of the workspace.
    Workspace,
    /// The messages of one session.
    Session(SessionId),
}

/// Bounds of what a search returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// At most this many hits.
    pub hits: usize,
    /// The longest snippet, in characters.
    pub snippet_chars: usize,
}

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The best first.
    pub hits: Vec<Hit>,
    /// How much was looked at.
    pub coverage: Coverage,
}

/// How much of what matches was ranked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coverage {
    /// All of it.
    All,
    /// The newest only: so many match that ranking all would keep somebody waiting, and rank says little about words that
    /// are everywhere.
    Newest(usize),
}

/// One place that matches.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// Where it is.
    pub source: Source,
    /// When it was said or noted, in milliseconds since 1970, when that is known.
    pub time_ms: Option<u64>,
    /// The text around the first match, on one line.
    pub snippet: String,
    /// Its rank by BM25; more is better. Comparable within one search only.
    pub score: f64,
}

/// Where a hit is.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// In a memory fragment.
    Fragment {
        /// Its number.
        id: FragmentId,
        /// What it is filed under.
        tags: Vec<String>,
        /// The session it was noted in.
        session: Option<SessionId>,
    },
    /// In a message.
    Message {
        /// The session.
        session: SessionId,
        /// The message's number in it.
        message: MessageId,
        /// Who speaks.
        role: Role,
        /// What the message is for.
        kind: Kind,
    },
}

impl Default for Limits {
    /// 20 hits with 240 characters each.
    fn default() -> Self {
        Self { hits: 20, snippet_chars: 240 }
    }
}

impl Store {
    /// Searches for plain words: places that hold all of them.
    ///
    /// # Errors
    /// [`StoreError::EmptyQuery`], [`StoreError::NoSession`].
    pub fn search(&self, query: &str, scope: &Scope, limits: Limits) -> Result<Found, StoreError> {
        let terms: Vec<&str> =
            query.split_whitespace().filter(|term| term.contains(char::is_alphanumeric)).collect();
        if terms.is_empty() {
            return Err(StoreError::EmptyQuery);
        }
        let transaction = self.reading()?;
        let session = match scope {
            Scope::Workspace => None,
            Scope::Session(id) => Some(key_of(&transaction, id)?),
        };
        let ranked = ranked(&transaction, &expression(&terms), session, limits.hits)?;
        let mut hits = Vec::new();
        for (rowid, score) in ranked {
            hits.extend(hit(&transaction, rowid, score, &terms, limits)?);
        }
        Ok(Found { hits, coverage: Coverage::All })
    }
}

/// The terms as FTS5 takes them: each a quoted string, in which nothing has a meaning but the quote.
fn expression(terms: &[&str]) -> String {
    let quoted: Vec<String> =
        terms.iter().map(|term| format!("\"{}\"", spaced(term).replace(['"', '\0'], " "))).collect();
    quoted.join(" AND ")
}

fn ranked(
    connection: &Connection,
    expression: &str,
    session: Option<i64>,
    hits: usize,
) -> Result<Vec<(i64, f64)>, StoreError> {
    let hits = i64::try_from(hits).unwrap_or(i64::MAX);
    let mut statement = connection.prepare_cached(
        "SELECT rowid, -rank FROM words WHERE words MATCH ?1
         AND (?2 IS NULL OR EXISTS (SELECT 1 FROM message WHERE key = words.rowid AND session = ?2))
         ORDER BY rank LIMIT ?3",
    )?;
    let rows =
        statement.query_map(params![expression, session, hits], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn hit(
    connection: &Connection,
    rowid: i64,
    score: f64,
    terms: &[&str],
    limits: Limits,
) -> Result<Option<Hit>, StoreError> {
    if rowid > schema::FRAGMENTS {
        let mut statement = connection
            .prepare_cached("SELECT key, session, tags, text, created_ms FROM fragment WHERE key = ?1")?;
        let mut rows = statement.query([rowid - schema::FRAGMENTS])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let found = fragment(row)?;
        let snippet = snippet(&found.note.text, terms, limits.snippet_chars);
        let source = Source::Fragment { id: found.id, tags: found.note.tags, session: found.note.session };
        return Ok(Some(Hit { source, time_ms: Some(found.note.created_ms), snippet, score }));
    }
    let mut statement = connection.prepare_cached(
        "SELECT session.id, message.id, message.body
         FROM message JOIN session ON session.key = message.session WHERE message.key = ?1",
    )?;
    let row: Option<(String, i64, String)> =
        statement.query_row([rowid], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).optional()?;
    let Some((session, id, text)) = row else { return Ok(None) };
    let message = body(&text)?;
    Ok(Some(Hit {
        time_ms: message.time_ms,
        snippet: snippet(&text_of(&message), terms, limits.snippet_chars),
        source: Source::Message {
            session: session.parse().map_err(StoreError::damaged)?,
            message: MessageId(id.cast_unsigned()),
            role: message.role,
            kind: message.kind,
        },
        score,
    }))
}
