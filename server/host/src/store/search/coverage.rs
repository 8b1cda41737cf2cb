//! How much of what matches a search has considered.

/// Which of the matches were ranked. If the query has only very common words, only the newest matches are considered,
/// because ranking 100,000 messages takes a tenth of a second and is hardly useful.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RankingCoverage {
    All,
    /// Only this number of the newest matches.
    Newest(usize),
}

/// Which words of the query a hit contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatchedWords {
    /// All words of the query.
    All,
    /// At least one of the rarest words, because no message or note contains all words.
    Some,
}
