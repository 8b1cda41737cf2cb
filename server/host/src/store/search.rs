//! Full-text search over fragments and messages, including hidden ones. Takes plain words and returns ranked matches
//! with snippets. No query is a syntax error.

pub(super) mod passages;
mod ranking;
mod snippet;

use std::collections::HashSet;

use rusqlite::{Connection, OptionalExtension};
use strata_engine::conversation::history::{Kind, MessageId, Role};

use self::ranking::rank;
use self::snippet::snippet;
use super::memory::fragment;
use super::sessions::{body, key_of};
use super::word_index::text_of;
use super::{FragmentId, SessionId, Store, StoreError, schema};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// All fragments, and all messages of all sessions in the workspace.
    Workspace,
    /// The messages of one session.
    Session(SessionId),
}

/// Limits of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of hits.
    pub hits: usize,
    /// Maximum length of a snippet, in characters.
    pub snippet_chars: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub struct SearchResults {
    /// The hits, best first.
    pub hits: Vec<SearchHit>,
    /// How many of the matches were ranked.
    pub coverage: Coverage,
    /// Which of the words the hits contain.
    pub matched: MatchedWords,
}

/// How many of the matches were ranked. Ranking by a word that most of 100,000 messages contain takes a tenth of a
/// second and is hardly useful; such matches are better ordered by age.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coverage {
    All,
    /// Only this many matches, the newest ones.
    Newest(usize),
}

/// Which of the words a hit contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatchedWords {
    /// All words of the query.
    All,
    /// At least one of the rarest words, since nothing contains all words.
    Some,
}

#[derive(Debug, Clone, PartialEq)]
pub struct SearchHit {
    pub source: Source,
    /// Time of the message or note, in milliseconds since 1970, if known.
    pub time_ms: Option<u64>,
    /// The text around the first match, on one line.
    pub snippet: String,
    /// BM25 score; higher is better. Comparable only within one search. 0 if the hits are ordered by age, newest
    /// first.
    pub score: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    Fragment {
        id: FragmentId,
        tags: Vec<String>,
        /// The session in which the note was made.
        session: Option<SessionId>,
    },
    Message {
        session: SessionId,
        /// The message's id in the session.
        message: MessageId,
        role: Role,
        kind: Kind,
    },
}

/// Maximum words of a query; further ones are ignored.
pub(crate) const MAX_TERMS: usize = 16;

/// Maximum characters of a word; the rest is ignored.
const MAX_TERM_CHARS: usize = 200;

impl Default for Limits {
    /// 20 hits with 240 characters each.
    fn default() -> Self {
        Self { hits: 20, snippet_chars: 240 }
    }
}

impl Store {
    /// Searches for plain words (at most [`MAX_TERMS`]; further ones are ignored). Returns the texts that contain all
    /// of them, or, if there are none, texts that contain some of the rarest ones.
    ///
    /// # Errors
    /// [`StoreError::EmptyQuery`], [`StoreError::NoSession`].
    pub fn search(&self, query: &str, scope: &Scope, limits: Limits) -> Result<SearchResults, StoreError> {
        let terms = terms(query);
        if terms.is_empty() {
            return Err(StoreError::EmptyQuery);
        }
        let searched = self.search_terms(&terms, scope, limits);
        self.mark_damage(searched)
    }

    fn search_terms(
        &self,
        terms: &[&str],
        scope: &Scope,
        limits: Limits,
    ) -> Result<SearchResults, StoreError> {
        let transaction = self.reading()?;
        let within = match scope {
            Scope::Workspace => None,
            Scope::Session(id) => Some(keys_of(&transaction, key_of(&transaction, id)?)?),
        };
        let ranked = rank(&transaction, terms, within.as_ref(), limits.hits)?;
        let mut hits = Vec::with_capacity(ranked.places.len());
        for (rowid, score) in ranked.places {
            hits.extend(hit(&transaction, rowid, score, terms, limits)?);
        }
        Ok(SearchResults { hits, coverage: ranked.coverage, matched: ranked.matched })
    }
}

/// Splits a query into distinct words.
fn terms(query: &str) -> Vec<&str> {
    let mut terms: Vec<&str> = Vec::new();
    for term in query.split_whitespace().filter(|term| term.contains(char::is_alphanumeric)) {
        let end = term.char_indices().nth(MAX_TERM_CHARS).map_or(term.len(), |(at, _)| at);
        if !terms.contains(&&term[..end]) && terms.len() < MAX_TERMS {
            terms.push(&term[..end]);
        }
    }
    terms
}

/// Returns the rowids of a session's messages.
fn keys_of(connection: &Connection, session: i64) -> Result<HashSet<i64>, StoreError> {
    let mut statement = connection.prepare_cached("SELECT key FROM message WHERE session = ?1")?;
    let keys = statement.query_map([session], |row| row.get(0))?;
    Ok(keys.collect::<Result<_, _>>()?)
}

fn hit(
    connection: &Connection,
    rowid: i64,
    score: f64,
    terms: &[&str],
    limits: Limits,
) -> Result<Option<SearchHit>, StoreError> {
    if rowid > schema::FRAGMENTS {
        let mut statement = connection
            .prepare_cached("SELECT key, session, tags, text, created_ms FROM fragment WHERE key = ?1")?;
        let mut rows = statement.query([rowid - schema::FRAGMENTS])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let found = fragment(row)?;
        let snippet = snippet(&found.note.text, terms, limits.snippet_chars);
        let source = Source::Fragment { id: found.id, tags: found.note.tags, session: found.note.session };
        return Ok(Some(SearchHit { source, time_ms: Some(found.note.created_ms), snippet, score }));
    }
    let mut statement = connection.prepare_cached(
        "SELECT session.id, message.id, message.body
         FROM message JOIN session ON session.key = message.session WHERE message.key = ?1",
    )?;
    let row: Option<(String, i64, String)> =
        statement.query_row([rowid], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).optional()?;
    let Some((session, id, text)) = row else { return Ok(None) };
    let message = body(&text)?;
    Ok(Some(SearchHit {
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
