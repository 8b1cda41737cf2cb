//! Finds and ranks matches in bounded time. BM25 visits each match of a word twice, to count and to rate it, and common
//! words match almost everywhere. Words with more than [`MIN_COMMON_WORD_MATCHES`] matches must therefore occur in a
//! result, but are not used for ranking. BM25 would give them almost no weight anyway.

use std::collections::HashSet;

use rusqlite::{Connection, params};

use super::coverage::{MatchedWords, RankingCoverage};
use crate::store::StoreError;
use crate::store::word_index::segment_words;

/// Matches in ranking order, best first.
pub(super) struct RankedMatches {
    /// Rowids in the index, with their scores.
    pub(super) rows: Vec<(i64, f64)>,
    pub(super) coverage: RankingCoverage,
    pub(super) matched: MatchedWords,
}

struct QueryWord {
    /// The word as an FTS5 string literal, in which no other syntax is recognized.
    quoted: String,
    /// Number of matches. Not counted beyond [`MIN_COMMON_WORD_MATCHES`].
    match_count: usize,
}

/// A part of the query between spaces. If it contains several words, they must be consecutive in a match.
struct QueryTerm {
    quoted: String,
    words: Vec<QueryWord>,
}

/// A word with more matches than this counts as common. Ranking one match takes about a microsecond.
const MIN_COMMON_WORD_MATCHES: usize = 4_000;

/// Number of the newest matches to rank if the query contains only common words.
const MAX_RANKED_NEWEST: usize = 2_000;

/// Maximum number of common words to rank by. Each costs a pass over all of its matches.
const MAX_RANKED_COMMON_WORDS: usize = 2;

/// Lower bound for searches that consider matches of any age. No rowid is lower.
const OLDEST_ROWID: i64 = 0;

/// Returns at most `hits` matches, best first.
pub(super) fn rank(
    connection: &Connection,
    terms: &[&str],
    hits: usize,
) -> Result<RankedMatches, StoreError> {
    let mut terms = terms.iter().map(|term| read_term(connection, term)).collect::<Result<Vec<_>, _>>()?;
    terms.sort_by_key(QueryTerm::max_matches);
    let all_words = join(terms.iter().map(|term| &*term.quoted), " AND ");
    let rare = &terms[..terms.partition_point(|term| term.max_matches() <= MIN_COMMON_WORD_MATCHES)];
    if rare.is_empty() {
        return match_common_words(connection, &terms, &all_words, hits);
    }
    let rows = if rare.len() == terms.len() {
        rank_matches(connection, &all_words, OLDEST_ROWID, None, hits)?
    } else {
        let allowed: HashSet<i64> = newest_matches(connection, &all_words, usize::MAX)?.into_iter().collect();
        let ranking = join(rare.iter().map(|term| &*term.quoted), " AND ");
        if allowed.is_empty() {
            Vec::new()
        } else {
            rank_matches(connection, &ranking, OLDEST_ROWID, Some(&allowed), hits)?
        }
    };
    if !rows.is_empty() {
        return Ok(RankedMatches { rows, coverage: RankingCoverage::All, matched: MatchedWords::All });
    }
    let any_rare_word = rarest_expression(terms);
    let rows = if any_rare_word.is_empty() {
        Vec::new()
    } else {
        rank_matches(connection, &any_rare_word, OLDEST_ROWID, None, hits)?
    };
    Ok(RankedMatches { rows, coverage: RankingCoverage::All, matched: MatchedWords::Some })
}

/// Returns an expression that matches any of the rarest words. Includes as many words as can be ranked together.
fn rarest_expression(terms: Vec<QueryTerm>) -> String {
    let mut words: Vec<QueryWord> = terms.into_iter().flat_map(|term| term.words).collect();
    words.sort_by_key(|word| word.match_count);
    let mut budget = MIN_COMMON_WORD_MATCHES;
    let affordable_words = words.iter().filter(|word| word.match_count > 0).take_while(|word| {
        let fits = word.match_count <= budget;
        budget = budget.saturating_sub(word.match_count);
        fits
    });
    join(affordable_words.map(|word| &*word.quoted), " OR ")
}

impl QueryTerm {
    /// Returns an upper bound for the number of matches, which is the number of matches of the rarest word.
    fn max_matches(&self) -> usize {
        self.words.iter().map(|word| word.match_count).min().unwrap_or_default()
    }
}

fn read_term(connection: &Connection, term: &str) -> Result<QueryTerm, StoreError> {
    let spaced = segment_words(term);
    let words = spaced.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let words = words.map(|word| {
        let quoted = quote(word);
        Ok(QueryWord { match_count: count_matches(connection, &quoted)?, quoted })
    });
    Ok(QueryTerm { words: words.collect::<Result<_, StoreError>>()?, quoted: quote(&spaced) })
}

/// Counts the matches of an expression. Stops beyond [`MIN_COMMON_WORD_MATCHES`].
fn count_matches(connection: &Connection, expression: &str) -> Result<usize, StoreError> {
    let mut statement = connection
        .prepare_cached("SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ?1 LIMIT ?2)")?;
    let limit = i64::try_from(MIN_COMMON_WORD_MATCHES + 1).unwrap_or(i64::MAX);
    let count: i64 = statement.query_row(params![expression, limit], |row| row.get(0))?;
    Ok(usize::try_from(count).unwrap_or_default())
}

/// Returns the best matches by BM25 that are not older than `oldest` and, if `allowed` is given, are in that set.
fn rank_matches(
    connection: &Connection,
    expression: &str,
    oldest: i64,
    allowed: Option<&HashSet<i64>>,
    hits: usize,
) -> Result<Vec<(i64, f64)>, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT rowid, -rank FROM words WHERE words MATCH ?1 AND rowid >= ?2
         ORDER BY rank, rowid DESC",
    )?;
    let mut rows = statement.query(params![expression, oldest])?;
    let mut matches = Vec::new();
    while matches.len() < hits
        && let Some(row) = rows.next()?
    {
        let rowid = row.get(0)?;
        if allowed.is_none_or(|allowed| allowed.contains(&rowid)) {
            matches.push((rowid, row.get(1)?));
        }
    }
    Ok(matches)
}

/// Returns matches of a query that has only common words, ranked if this is affordable and by age otherwise.
fn match_common_words(
    connection: &Connection,
    terms: &[QueryTerm],
    all: &str,
    hits: usize,
) -> Result<RankedMatches, StoreError> {
    let newest = newest_matches(connection, all, MAX_RANKED_NEWEST.max(hits))?;
    let coverage = if newest.len() < MAX_RANKED_NEWEST {
        RankingCoverage::All
    } else {
        RankingCoverage::Newest(newest.len())
    };
    let words: usize = terms.iter().map(|term| term.words.len()).sum();
    let affordable_words = words <= MAX_RANKED_COMMON_WORDS && words == terms.len();
    let rows = match newest.last() {
        Some(&oldest) if affordable_words => rank_matches(connection, all, oldest, None, hits)?,
        _ => newest.into_iter().take(hits).map(|rowid| (rowid, 0.0)).collect(),
    };
    Ok(RankedMatches { rows, coverage, matched: MatchedWords::All })
}

fn newest_matches(connection: &Connection, expression: &str, count: usize) -> Result<Vec<i64>, StoreError> {
    let mut statement = connection
        .prepare_cached("SELECT rowid FROM words WHERE words MATCH ?1 ORDER BY rowid DESC LIMIT ?2")?;
    let limit = i64::try_from(count).unwrap_or(i64::MAX);
    let rows = statement.query_map(params![expression, limit], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn quote(text: &str) -> String {
    format!("\"{}\"", text.trim().replace(['"', '\0'], " "))
}

fn join<'t>(quoted: impl Iterator<Item = &'t str>, operator: &str) -> String {
    quoted.collect::<Vec<_>>().join(operator)
}
