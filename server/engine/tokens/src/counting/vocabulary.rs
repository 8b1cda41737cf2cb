//! The tokens of one encoding, and byte pair encoding to count the tokens of a pre-token.
//!
//! Counting does not need token ids: every merge turns two parts into one, so that a piece of `n` bytes has
//! `n - merges` tokens.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use rustc_hash::FxHashMap;

use super::memo::{CountCache, ShortPreToken};
use super::token_table::{NO_RANK, TableBytes, hash, short_index};

/// Rank of a token. Merges are made in ascending order of rank.
type TokenRank = u32;

/// Marks the absence of a token.
const NONE: TokenRank = NO_RANK;
/// Maximum length, in bytes, of a piece that is merged by scanning all parts for the lowest rank. This is quadratic,
/// but fastest for few parts; longer pieces use rank buckets.
const MAX_BYTES_MERGED_BY_SCAN: usize = 64;
/// Slots in the cache of joined token pairs, used while merging long pieces. Repetitive text needs a few
/// dozen.
const JOIN_SLOTS: usize = 1 << 12;

/// The tokens of one encoding with their ranks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Vocabulary(TableBytes<&'static [u8]>);

/// Scratch memory of a thread for counting: cached counts and reusable buffers.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    count_cache: CountCache,
    parts: Vec<(u32, TokenRank)>,
    joins: Vec<TokenMerge>,
}

/// Two adjacent tokens and the token that they merge into.
#[derive(Debug, Clone, Copy)]
struct TokenMerge {
    left: TokenRank,
    right: TokenRank,
    joined: TokenRank,
}

impl TokenMerge {
    const EMPTY: Self = Self { left: NONE, right: NONE, joined: NONE };
}

impl Vocabulary {
    pub(super) const fn new(table: TableBytes<&'static [u8]>) -> Self {
        Self(table)
    }

    /// Returns the number of tokens of the pre-token between the bytes `start` and `end` of `text`.
    #[inline]
    pub(super) fn count(&self, text: &[u8], start: usize, end: usize, scratch: &mut Scratch) -> usize {
        match ShortPreToken::new(text, start, end) {
            Some(piece) => match scratch.count_cache.get(piece) {
                Some(count) => count,
                None => {
                    let count = self.count_short(text, start..end, scratch);
                    scratch.count_cache.insert(piece, count);
                    count
                }
            },
            None => self.count_long(text, start..end, scratch),
        }
    }

    fn count_short(&self, text: &[u8], range: Range<usize>, scratch: &mut Scratch) -> usize {
        if range.len() < 2 || self.rank(text, range.start, range.end) != NONE {
            range.len().min(1)
        } else {
            range.len() - self.count_merges_by_scan(text, range, &mut scratch.parts)
        }
    }

    fn count_long(&self, text: &[u8], range: Range<usize>, scratch: &mut Scratch) -> usize {
        let piece = text.get(range.clone()).unwrap_or_default();
        if piece.is_empty() || self.rank_of_token(piece) != NONE {
            piece.len().min(1)
        } else if piece.len() <= MAX_BYTES_MERGED_BY_SCAN {
            piece.len() - self.count_merges_by_scan(text, range, &mut scratch.parts)
        } else if u32::try_from(piece.len()).is_ok() {
            piece.len() - self.count_merges_by_bucket(piece, &mut scratch.joins)
        } else {
            // Positions are 32-bit. A piece of 4 GB is not text, so its tokens are only estimated.
            piece.len().div_ceil(4)
        }
    }

    /// Returns the rank of the token between two byte offsets of a text, or `NONE`.
    #[inline]
    fn rank(&self, text: &[u8], start: usize, end: usize) -> TokenRank {
        text.get(start..end).map_or(NONE, |token| self.rank_of_token(token))
    }

    /// Returns the rank of a token, or `NONE` if there is no such token.
    fn rank_of_token(&self, token: &[u8]) -> TokenRank {
        if let Some(index) = short_index(token) {
            return number_at(self.0.short_ranks, index);
        }
        let mask = self.0.slots.len() / size_of::<TokenRank>() - 1;
        let mut slot = hash(token) as usize & mask;
        // At least a fifth of the slots is free, so the search ends.
        loop {
            let rank = number_at(self.0.slots, slot);
            if rank == NONE || self.token(rank) == token {
                return rank;
            }
            slot = (slot + 1) & mask;
        }
    }

    /// Returns the bytes of the token with this rank.
    fn token(&self, rank: TokenRank) -> &'static [u8] {
        let rank = rank as usize;
        let start = rank.checked_sub(1).map_or(0, |before| number_at(self.0.ends, before));
        self.0.tokens.get(start as usize..number_at(self.0.ends, rank) as usize).unwrap_or_default()
    }

    fn pair_rank(&self, first: u8, second: u8) -> TokenRank {
        short_index(&[first, second]).map_or(NONE, |index| number_at(self.0.short_ranks, index))
    }

    /// Returns the rank of the token that two adjacent tokens merge into, or `NONE`.
    fn merged_rank(
        &self,
        (left, right): (TokenRank, TokenRank),
        text: &[u8],
        (start, end): (usize, usize),
        joins: &mut [TokenMerge],
    ) -> TokenRank {
        let hash = (left.wrapping_mul(0x9e37_79b9) ^ right).wrapping_mul(0x85eb_ca6b);
        let Some(slot) = joins.get_mut(hash as usize >> 20) else {
            return self.rank(text, start, end);
        };
        if slot.left != left || slot.right != right {
            *slot = TokenMerge { left, right, joined: self.rank(text, start, end) };
        }
        slot.joined
    }

    /// Counts the merges in a piece by scanning all parts for the lowest rank. `parts` receives the start of
    /// each part and the rank of that part joined with the next.
    fn count_merges_by_scan(
        &self,
        text: &[u8],
        range: Range<usize>,
        parts: &mut Vec<(u32, TokenRank)>,
    ) -> usize {
        let base = range.start;
        let piece = text.get(range).unwrap_or_default();
        parts.clear();
        parts.extend((0u32..).zip(piece.windows(2)).map(|(i, pair)| (i, self.pair_rank(pair[0], pair[1]))));
        parts.push((piece.len() as u32 - 1, NONE));
        let mut merges = 0;
        while let Some((lowest, &(_, rank))) = parts.iter().enumerate().min_by_key(|(_, part)| part.1) {
            if rank == NONE {
                break;
            }
            parts.remove(lowest + 1);
            merges += 1;
            for part in lowest.saturating_sub(1)..=lowest {
                let end = parts.get(part + 2).map_or(piece.len(), |next| next.0 as usize);
                let joined = if part + 1 < parts.len() {
                    self.rank(text, base + parts[part].0 as usize, base + end)
                } else {
                    NONE
                };
                parts[part].1 = joined;
            }
        }
        merges
    }

    /// Like `merges_by_scan`, for pieces of any length. Groups pairs into one bucket per rank. Buckets are processed
    /// in ascending order of rank, and the pairs in a bucket from left to right. In a vocabulary made by byte pair
    /// training, a merge only creates pairs of higher rank, so that each bucket is complete when it is processed,
    /// and the work is linear except for sorting. In any other vocabulary, a new pair of lower rank is still
    /// processed first.
    fn count_merges_by_bucket(&self, piece: &[u8], joins: &mut Vec<TokenMerge>) -> usize {
        joins.resize(JOIN_SLOTS, TokenMerge::EMPTY);
        let mut parts = PartList::new(piece.windows(1).map(|byte| self.rank_of_token(byte)));
        let mut queue = PairQueue::default();
        for (start, pair) in piece.windows(2).enumerate() {
            let rank = self.pair_rank(pair[0], pair[1]);
            parts.by_start[start].pair = rank;
            queue.add(rank, start);
        }
        let mut merges = 0;
        while let Some((rank, starts)) = queue.take_lowest() {
            for (index, &start) in starts.iter().enumerate() {
                if queue.has_lower_than(rank) {
                    queue.put_back(rank, &starts[index..]);
                    break;
                }
                let start = start as usize;
                if parts.by_start[start].pair != rank {
                    continue;
                }
                merges += 1;
                parts.merge_with_next(start, rank);
                for part in [Some(start), parts.previous_part(start)].into_iter().flatten() {
                    let joined = match parts.next_part(part) {
                        Some((next, end)) => {
                            let (left, right) = (parts.by_start[part].token, parts.by_start[next].token);
                            self.merged_rank((left, right), piece, (part, end), joins)
                        }
                        None => NONE,
                    };
                    parts.by_start[part].pair = joined;
                    queue.add(joined, part);
                }
            }
            queue.recycle(starts);
        }
        merges
    }
}

/// Returns the number with this index in a list of little-endian numbers, or `NONE` beyond its end.
#[inline]
fn number_at(numbers: &[u8], index: usize) -> u32 {
    let bytes = numbers.get(index * size_of::<u32>()..).and_then(|rest| rest.first_chunk());
    bytes.map_or(NONE, |bytes| u32::from_le_bytes(*bytes))
}

/// Parts of a long piece as a linked list, indexed by their start and end positions.
struct PartList {
    by_start: Vec<TokenPart>,
    /// Start of a part, indexed by its end.
    start: Vec<u32>,
}

struct TokenPart {
    end: u32,
    /// Rank of the part.
    token: TokenRank,
    /// Rank of the part joined with the next one.
    pair: TokenRank,
}

impl PartList {
    /// Creates one part for each byte.
    fn new(tokens: impl ExactSizeIterator<Item = TokenRank>) -> Self {
        let start = (0..=tokens.len() as u32).map(|end| end.saturating_sub(1)).collect();
        let part = |(end, token)| TokenPart { end, token, pair: NONE };
        Self { by_start: (1..).zip(tokens).map(part).collect(), start }
    }

    /// Joins the part at `start` with the next one into a part of rank `token`.
    fn merge_with_next(&mut self, start: usize, token: TokenRank) {
        let middle = self.by_start[start].end as usize;
        let next = &mut self.by_start[middle];
        next.pair = NONE;
        let end = next.end;
        let part = &mut self.by_start[start];
        (part.end, part.token) = (end, token);
        self.start[end as usize] = start as u32;
    }

    /// Returns the start of the part before the one at `start`.
    fn previous_part(&self, start: usize) -> Option<usize> {
        (start > 0).then(|| self.start[start] as usize)
    }

    /// Returns the start and end of the part after the one at `start`.
    fn next_part(&self, start: usize) -> Option<(usize, usize)> {
        let next = self.by_start[start].end as usize;
        self.by_start.get(next).map(|part| (next, part.end as usize))
    }
}

/// Start positions of pairs that can be merged, grouped by rank.
#[derive(Default)]
struct PairQueue {
    /// Index of the bucket of each rank.
    bucket_indices: FxHashMap<TokenRank, usize>,
    buckets: Vec<Vec<u32>>,
    ranks: BinaryHeap<Reverse<TokenRank>>,
    /// Rank and index of the last bucket that was added to, since neighboring pairs often have the same rank.
    last: Option<(TokenRank, usize)>,
    /// Empty buckets, kept for reuse.
    spare: Vec<Vec<u32>>,
}

impl PairQueue {
    fn add(&mut self, rank: TokenRank, start: usize) {
        if rank != NONE {
            self.bucket(rank).push(start as u32);
        }
    }

    fn put_back(&mut self, rank: TokenRank, starts: &[u32]) {
        self.bucket(rank).extend_from_slice(starts);
    }

    fn bucket(&mut self, rank: TokenRank) -> &mut Vec<u32> {
        let Self { bucket_indices, buckets, ranks, last, spare } = self;
        let index = match *last {
            Some((last_rank, index)) if last_rank == rank => index,
            _ => *bucket_indices.entry(rank).or_insert_with(|| {
                ranks.push(Reverse(rank));
                buckets.push(spare.pop().unwrap_or_default());
                buckets.len() - 1
            }),
        };
        *last = Some((rank, index));
        &mut buckets[index]
    }

    fn has_lower_than(&self, rank: TokenRank) -> bool {
        self.ranks.peek().is_some_and(|&Reverse(lowest)| lowest < rank)
    }

    fn take_lowest(&mut self) -> Option<(TokenRank, Vec<u32>)> {
        let Reverse(rank) = self.ranks.pop()?;
        self.last = None;
        let index = self.bucket_indices.remove(&rank)?;
        let mut starts = std::mem::take(&mut self.buckets[index]);
        starts.sort_unstable();
        Some((rank, starts))
    }

    /// Empties a bucket and keeps its memory for reuse.
    fn recycle(&mut self, mut starts: Vec<u32>) {
        starts.clear();
        self.spare.push(starts);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Builds a vocabulary of all single bytes, followed by `tokens`.
    fn vocabulary(tokens: impl IntoIterator<Item = Vec<u8>>) -> Vocabulary {
        let bytes = (0..=u8::MAX).map(|byte| vec![byte]);
        let tokens: Vec<Vec<u8>> = bytes.chain(tokens).collect();
        let TableBytes { tokens, ends, slots, short_ranks } =
            TableBytes::new(tokens.iter().map(Vec::as_slice));
        let [tokens, ends, slots, short_ranks] =
            [tokens, ends, slots, short_ranks].map(|bytes| &*Vec::leak(bytes));
        Vocabulary::new(TableBytes { tokens, ends, slots, short_ranks })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3_000))]

        /// Includes vocabularies that training would not produce, whose merges create pairs of lower rank.
        #[test]
        fn merging_by_bucket_equals_merging_by_scan(
            tokens in prop::collection::vec(prop::collection::vec(b'a'..=b'b', 2..8), 1..60),
            piece in prop::collection::vec(b'a'..=b'b', 1..80),
        ) {
            let mut all: Vec<Vec<u8>> = Vec::new();
            for token in tokens {
                if !all.contains(&token) {
                    all.push(token);
                }
            }
            let vocabulary = vocabulary(all);
            let by_scan = vocabulary.count_merges_by_scan(&piece, 0..piece.len(), &mut Vec::new());
            prop_assert_eq!(vocabulary.count_merges_by_bucket(&piece, &mut Vec::new()), by_scan);
        }
    }

    #[test]
    fn the_lowest_rank_merges_first() {
        let vocabulary = vocabulary(["bc", "ab", "cd", "abcd"].map(|token| token.as_bytes().to_vec()));
        let count = |piece: &str| vocabulary.count(piece.as_bytes(), 0, piece.len(), &mut Scratch::default());
        assert_eq!((count("abc"), count("abd"), count("abcd"), count("abcde"), count("")), (2, 2, 1, 4, 0));
        // 64 and more bytes are merged in buckets: each "abcde" is a, bc, d, e.
        assert_eq!(count(&"abcde".repeat(40)), 160);
    }
}
