//! Finds and ranks matches in bounded time. BM25 visits each match of a word twice, to count and to rate it, and common
//! words match almost everywhere. Words with more than [`COMMON`] matches must therefore occur in a result, but are not
//! used for ranking. BM25 would give them almost no weight anyway.

use std::collections::HashSet;

use rusqlite::{Connection, params};

use super::coverage::{Coverage, MatchedWords};
use crate::store::StoreError;
use crate::store::word_index::spaced;

/// Matches in ranking order, best first.
pub(super) struct RankedMatch {
    /// Rowids in the index, with their scores.
    pub(super) places: Vec<(i64, f64)>,
    pub(super) coverage: Coverage,
    pub(super) matched: MatchedWords,
}

struct Word {
    /// The word as an FTS5 string literal, in which no other syntax is recognized.
    quoted: String,
    /// Number of matches. Not counted beyond [`COMMON`].
    places: usize,
}

/// A part of the query between spaces. If it contains several words, they must be consecutive in a match.
struct Term {
    quoted: String,
    words: Vec<Word>,
}

/// A word with more matches than this counts as common. Ranking one match takes about a microsecond.
const COMMON: usize = 4_000;

/// Number of the newest matches to rank if the query contains only common words.
const NEWEST: usize = 2_000;

/// Maximum number of common words to rank by. Each costs a pass over all of its matches.
const RANKED_COMMON_WORDS: usize = 2;

/// Lower bound for searches that consider matches of any age. No rowid is lower.
const OLDEST: i64 = 0;

/// Returns at most `hits` matches, best first. If `within` is given, considers only these rowids.
pub(super) fn rank(
    connection: &Connection,
    terms: &[&str],
    within: Option<&HashSet<i64>>,
    hits: usize,
) -> Result<RankedMatch, StoreError> {
    let index = Index::new(connection, within);
    let mut terms = terms.iter().map(|term| index.term(term)).collect::<Result<Vec<_>, _>>()?;
    terms.sort_by_key(Term::places);
    let all = joined(terms.iter().map(|term| &*term.quoted), " AND ");
    let rare = &terms[..terms.partition_point(|term| term.places() <= COMMON)];
    if rare.is_empty() {
        return index.common(&terms, &all, hits);
    }
    let places = if rare.len() == terms.len() {
        index.ranked(&all, OLDEST, None, hits)?
    } else {
        let matching: HashSet<i64> = index.newest(&all, usize::MAX)?.rowids.into_iter().collect();
        let ranking = joined(rare.iter().map(|term| &*term.quoted), " AND ");
        if matching.is_empty() {
            Vec::new()
        } else {
            index.ranked(&ranking, OLDEST, Some(&matching), hits)?
        }
    };
    if !places.is_empty() {
        return Ok(RankedMatch { places, coverage: Coverage::All, matched: MatchedWords::All });
    }
    let some = rarest(terms);
    let places = if some.is_empty() { Vec::new() } else { index.ranked(&some, OLDEST, None, hits)? };
    Ok(RankedMatch { places, coverage: Coverage::All, matched: MatchedWords::Some })
}

/// Returns an expression that matches any of the rarest words. Includes as many words as can be ranked together.
fn rarest(terms: Vec<Term>) -> String {
    let mut words: Vec<Word> = terms.into_iter().flat_map(|term| term.words).collect();
    words.sort_by_key(|word| word.places);
    let mut left = COMMON;
    let affordable = words.iter().filter(|word| word.places > 0).take_while(|word| {
        let fits = word.places <= left;
        left = left.saturating_sub(word.places);
        fits
    });
    joined(affordable.map(|word| &*word.quoted), " OR ")
}

/// The word index, restricted to the scope of a search.
struct Index<'c> {
    connection: &'c Connection,
    within: Option<&'c HashSet<i64>>,
    /// The newest rowid in the scope.
    last: i64,
}

struct Newest {
    rowids: Vec<i64>,
    /// Number of skipped matches outside the scope.
    passed: usize,
}

impl Term {
    /// Returns an upper bound for the number of matches, which is the number of matches of the rarest word.
    fn places(&self) -> usize {
        self.words.iter().map(|word| word.places).min().unwrap_or_default()
    }
}

impl<'c> Index<'c> {
    fn new(connection: &'c Connection, within: Option<&'c HashSet<i64>>) -> Self {
        let last = within.map_or(i64::MAX, |within| within.iter().max().copied().unwrap_or_default());
        Self { connection, within, last }
    }

    fn term(&self, term: &str) -> Result<Term, StoreError> {
        let spaced = spaced(term);
        let words = spaced.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let words = words.map(|word| {
            let quoted = quoted(word);
            Ok(Word { places: self.places(&quoted)?, quoted })
        });
        Ok(Term { words: words.collect::<Result<_, StoreError>>()?, quoted: quoted(&spaced) })
    }

    /// Counts the matches of an expression. Stops beyond [`COMMON`].
    fn places(&self, expression: &str) -> Result<usize, StoreError> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ?1 LIMIT ?2)")?;
        let limit = i64::try_from(COMMON + 1).unwrap_or(i64::MAX);
        let count: i64 = statement.query_row(params![expression, limit], |row| row.get(0))?;
        Ok(usize::try_from(count).unwrap_or_default())
    }

    /// Returns the best matches by BM25 that are not older than `oldest` and, if `matching` is given, are in that set.
    fn ranked(
        &self,
        expression: &str,
        oldest: i64,
        matching: Option<&HashSet<i64>>,
        hits: usize,
    ) -> Result<Vec<(i64, f64)>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT rowid, -rank FROM words WHERE words MATCH ?1 AND rowid BETWEEN ?2 AND ?3
             ORDER BY rank, rowid DESC",
        )?;
        let mut rows = statement.query(params![expression, oldest, self.last])?;
        let mut places = Vec::new();
        while places.len() < hits
            && let Some(row) = rows.next()?
        {
            let rowid = row.get(0)?;
            if self.is_visible(rowid) && matching.is_none_or(|matching| matching.contains(&rowid)) {
                places.push((rowid, row.get(1)?));
            }
        }
        Ok(places)
    }

    /// Returns matches of a query that has only common words, ranked if this is affordable and by age otherwise.
    fn common(&self, terms: &[Term], all: &str, hits: usize) -> Result<RankedMatch, StoreError> {
        let newest = self.newest(all, NEWEST.max(hits))?;
        let coverage =
            if newest.rowids.len() < NEWEST { Coverage::All } else { Coverage::Newest(newest.rowids.len()) };
        let words: usize = terms.iter().map(|term| term.words.len()).sum();
        let affordable = words <= RANKED_COMMON_WORDS && words == terms.len() && newest.passed <= NEWEST;
        let places = match newest.rowids.last() {
            Some(&oldest) if affordable => self.ranked(all, oldest, None, hits)?,
            _ => newest.rowids.into_iter().take(hits).map(|rowid| (rowid, 0.0)).collect(),
        };
        Ok(RankedMatch { places, coverage, matched: MatchedWords::All })
    }

    fn newest(&self, expression: &str, count: usize) -> Result<Newest, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT rowid FROM words WHERE words MATCH ?1 AND rowid <= ?2 ORDER BY rowid DESC",
        )?;
        let mut rows = statement.query(params![expression, self.last])?;
        let mut newest = Newest { rowids: Vec::new(), passed: 0 };
        while newest.rowids.len() < count
            && let Some(row) = rows.next()?
        {
            let rowid = row.get(0)?;
            if self.is_visible(rowid) {
                newest.rowids.push(rowid);
            } else {
                newest.passed += 1;
            }
        }
        Ok(newest)
    }

    fn is_visible(&self, rowid: i64) -> bool {
        self.within.is_none_or(|within| within.contains(&rowid))
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.trim().replace(['"', '\0'], " "))
}

fn joined<'t>(quoted: impl Iterator<Item = &'t str>, operator: &str) -> String {
    quoted.collect::<Vec<_>>().join(operator)
}
