//! Full-text search over fragments and messages, hidden ones included: plain words in, ranked places with a snippet out. No
//! text that a user or a model may write is a syntax error.

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
    /// All fragments and all messages of all sessions of the workspace.
    Workspace,
    /// The messages of one session.
    Session(SessionId),
}

/// Limits of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum hits.
    pub hits: usize,
    /// The longest snippet, in characters.
    pub snippet_chars: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub struct SearchResults {
    /// The best first.
    pub hits: Vec<SearchHit>,
    /// How much of what matches was ranked.
    pub coverage: Coverage,
    /// Which words the hits contain.
    pub matched: MatchedWords,
}

/// How many matches were ranked. Ranking a word in most of 100,000 messages takes a tenth of a second and says little; such
/// matches are better found by age.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coverage {
    All,
    /// Only this many of the newest matches.
    Newest(usize),
}

/// Which words a hit holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatchedWords {
    /// All that were searched for.
    All,
    /// At least one of the rarest words, since nothing contains all.
    Some,
}

#[derive(Debug, Clone, PartialEq)]
pub struct SearchHit {
    pub source: Source,
    /// When it was said or noted, in milliseconds since 1970, when that is known.
    pub time_ms: Option<u64>,
    /// The text around the first match, on one line.
    pub snippet: String,
    /// Its rank by BM25; more is better. Comparable within one search only. 0 where hits are in order of age, the newest
    /// first.
    pub score: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    Fragment {
        id: FragmentId,
        /// Its tags.
        tags: Vec<String>,
        /// The session it was noted in.
        session: Option<SessionId>,
    },
    Message {
        session: SessionId,
        /// The message's number in it.
        message: MessageId,
        role: Role,
        /// The purpose of the message.
        kind: Kind,
    },
}

/// How many words of a query count.
pub(crate) const MAX_TERMS: usize = 16;

/// How much of one word counts, in characters.
const MAX_TERM_CHARS: usize = 200;

impl Default for Limits {
    /// 20 hits with 240 characters each.
    fn default() -> Self {
        Self { hits: 20, snippet_chars: 240 }
    }
}

impl Store {
    /// Searches for plain words (at most [`MAX_TERMS`] of them; further ones are left aside). Places that hold all of them,
    /// or, where there are none, places that hold some of the rarest.
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

/// The words of a query, each once.
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

/// The rowids of a session's messages.
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
