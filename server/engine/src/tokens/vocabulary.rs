//! The tokens of one encoding and how many of them a pre-token takes: byte pair encoding with the ranks
//! of tiktoken-rs. It never splits text into pre-tokens.
//!
//! Only counts leave this module, and a count needs no token ids: every merge makes one part of two, so
//! that a piece of `n` bytes takes `n - merges` tokens.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;
use tiktoken_rs::{CoreBPE, Rank};

/// No token.
const NONE: Rank = Rank::MAX;
/// Pieces up to this length are merged by scanning all parts for the lowest rank, which is quadratic but
/// fastest when there are few; longer ones by rank buckets.
const SHORT_PIECE: usize = 64;

/// The token bytes of one encoding with their ranks.
#[derive(Debug)]
pub(super) struct Vocabulary {
    short: FxHashMap<ShortKey, Rank>,
    long: FxHashMap<Box<[u8]>, Rank>,
    /// Ranks of all tokens of two bytes, by `first << 8 | second`.
    pairs: Box<[Rank]>,
}

/// Buffers that live as long as one count and spare an allocation a piece.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    parts: Vec<(u32, Rank)>,
}

/// Up to 15 bytes and, in the last byte, how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct ShortKey(u64, u64);

impl ShortKey {
    const MAX: usize = 15;

    #[inline]
    fn new(bytes: &[u8]) -> Option<Self> {
        if bytes.len() > Self::MAX {
            return None;
        }
        let mut buffer = [0; 16];
        buffer[..bytes.len()].copy_from_slice(bytes);
        buffer[Self::MAX] = bytes.len() as u8;
        let both = u128::from_le_bytes(buffer);
        Some(Self(both as u64, (both >> 64) as u64))
    }
}

impl Vocabulary {
    /// The ordinary tokens of `bpe`: ranks from 0 up to the first gap (special tokens stand behind one).
    pub(super) fn of(bpe: &CoreBPE) -> Self {
        Self::from_tokens((0..NONE).map_while(|rank| bpe.decode_bytes(&[rank]).ok()))
    }

    /// Tokens by rising rank.
    fn from_tokens(tokens: impl Iterator<Item = Vec<u8>>) -> Self {
        let mut short = FxHashMap::default();
        let mut long = FxHashMap::default();
        let mut pairs = vec![NONE; 1 << 16].into_boxed_slice();
        for (rank, bytes) in (0..).zip(tokens) {
            if let &[first, second] = bytes.as_slice() {
                pairs[usize::from(first) << 8 | usize::from(second)] = rank;
            }
            match ShortKey::new(&bytes) {
                Some(key) => short.insert(key, rank),
                None => long.insert(bytes.into_boxed_slice(), rank),
            };
        }
        Self { short, long, pairs }
    }

    /// How many tokens there are.
    pub(super) fn len(&self) -> usize {
        self.short.len() + self.long.len()
    }

    /// How many tokens a pre-token takes.
    #[inline]
    pub(super) fn count(&self, piece: &[u8], scratch: &mut Scratch) -> usize {
        if piece.len() < 2 || self.rank(piece) != NONE {
            piece.len().min(1)
        } else if piece.len() <= SHORT_PIECE {
            piece.len() - self.merges_by_scan(piece, &mut scratch.parts)
        } else if u32::try_from(piece.len()).is_ok() {
            piece.len() - self.merges_by_bucket(piece)
        } else {
            // Positions are 32 bits wide; a piece of 4 GB is no text.
            piece.len().div_ceil(4)
        }
    }

    #[inline]
    fn rank(&self, bytes: &[u8]) -> Rank {
        let found = match ShortKey::new(bytes) {
            Some(key) => self.short.get(&key),
            None => self.long.get(bytes),
        };
        found.copied().unwrap_or(NONE)
    }

    fn pair(&self, first: u8, second: u8) -> Rank {
        self.pairs[usize::from(first) << 8 | usize::from(second)]
    }

    /// How often two parts of `piece` merge. `parts` holds where each part starts and the rank of that
    /// part joined with the next.
    fn merges_by_scan(&self, piece: &[u8], parts: &mut Vec<(u32, Rank)>) -> usize {
        parts.clear();
        parts.extend((0u32..).zip(piece.windows(2)).map(|(i, two)| (i, self.pair(two[0], two[1]))));
        parts.push((piece.len() as u32 - 1, NONE));
        let mut merges = 0;
        while let Some((lowest, &(_, rank))) = parts.iter().enumerate().min_by_key(|(_, part)| part.1) {
            if rank == NONE {
                break;
            }
            parts.remove(lowest + 1);
            merges += 1;
            for changed in lowest.saturating_sub(1)..=lowest {
                let end = parts.get(changed + 2).map_or(piece.len(), |next| next.0 as usize);
                let joined = if changed + 1 < parts.len() {
                    self.rank(&piece[parts[changed].0 as usize..end])
                } else {
                    NONE
                };
                parts[changed].1 = joined;
            }
        }
        merges
    }

    /// The same for pieces of any length. Pairs wait in one bucket per rank; buckets are taken by rising
    /// rank, pairs within one from left to right. In a vocabulary that byte pair training made, a merge
    /// only gives rise to pairs of higher rank, so that each bucket is full when its turn comes and the
    /// work is linear but for sorting it; a lower rank would still be taken first.
    fn merges_by_bucket(&self, piece: &[u8]) -> usize {
        let mut parts = Parts::new(piece.len());
        let mut waiting = Waiting::default();
        for (start, two) in piece.windows(2).enumerate() {
            let rank = self.pair(two[0], two[1]);
            parts.pair_rank[start] = rank;
            waiting.add(rank, start);
        }
        let mut merges = 0;
        while let Some((rank, starts)) = waiting.take_lowest() {
            for (done, &start) in starts.iter().enumerate() {
                if waiting.has_lower_than(rank) {
                    waiting.put_back(rank, &starts[done..]);
                    break;
                }
                let start = start as usize;
                if parts.pair_rank[start] != rank {
                    continue;
                }
                merges += 1;
                parts.join(start);
                for changed in [Some(start), parts.before(start)].into_iter().flatten() {
                    let joined = match parts.pair_end(changed) {
                        Some(end) => self.rank(&piece[changed..end]),
                        None => NONE,
                    };
                    parts.pair_rank[changed] = joined;
                    waiting.add(joined, changed);
                }
            }
        }
        merges
    }
}

/// The parts of a long piece as a list linked through the positions where they start and end.
struct Parts {
    /// By start of a part: where it ends.
    end: Vec<u32>,
    /// By end of a part: where it starts.
    start: Vec<u32>,
    /// By start of a part: the rank of that part joined with the next.
    pair_rank: Vec<Rank>,
}

impl Parts {
    fn new(len: usize) -> Self {
        let len = len as u32;
        let start = (0..=len).map(|end| end.saturating_sub(1)).collect();
        Self { end: (1..=len).collect(), start, pair_rank: vec![NONE; len as usize] }
    }

    /// Makes one part of the part at `start` and the next.
    fn join(&mut self, start: usize) {
        let middle = self.end[start] as usize;
        let end = self.end[middle];
        self.pair_rank[middle] = NONE;
        self.end[start] = end;
        self.start[end as usize] = start as u32;
    }

    /// Where the part before the one at `start` starts.
    fn before(&self, start: usize) -> Option<usize> {
        (start > 0).then(|| self.start[start] as usize)
    }

    /// Where the part after the one at `start` ends.
    fn pair_end(&self, start: usize) -> Option<usize> {
        self.end.get(self.end[start] as usize).map(|&end| end as usize)
    }
}

/// Pairs that can merge: where they start, by rank.
#[derive(Default)]
struct Waiting {
    buckets: FxHashMap<Rank, Vec<u32>>,
    ranks: BinaryHeap<Reverse<Rank>>,
}

impl Waiting {
    fn add(&mut self, rank: Rank, start: usize) {
        if rank != NONE {
            self.bucket(rank).push(start as u32);
        }
    }

    fn put_back(&mut self, rank: Rank, starts: &[u32]) {
        self.bucket(rank).extend_from_slice(starts);
    }

    fn bucket(&mut self, rank: Rank) -> &mut Vec<u32> {
        let Self { buckets, ranks } = self;
        buckets.entry(rank).or_insert_with(|| {
            ranks.push(Reverse(rank));
            Vec::new()
        })
    }

    fn has_lower_than(&self, rank: Rank) -> bool {
        self.ranks.peek().is_some_and(|&Reverse(lowest)| lowest < rank)
    }

    fn take_lowest(&mut self) -> Option<(Rank, Vec<u32>)> {
        let Reverse(rank) = self.ranks.pop()?;
        let mut starts = self.buckets.remove(&rank).unwrap_or_default();
        starts.sort_unstable();
        Some((rank, starts))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3_000))]

        /// Also for vocabularies that no training would make, whose merges give rise to lower ranks.
        #[test]
        fn buckets_merge_what_a_scan_merges(
            tokens in prop::collection::vec(prop::collection::vec(b'a'..=b'b', 2..8), 1..60),
            piece in prop::collection::vec(b'a'..=b'b', 1..80),
        ) {
            let bytes = (0..=u8::MAX).map(|byte| vec![byte]);
            let mut all: Vec<Vec<u8>> = bytes.collect();
            for token in tokens {
                if !all.contains(&token) {
                    all.push(token);
                }
            }
            let vocabulary = Vocabulary::from_tokens(all.into_iter());
            let by_scan = vocabulary.merges_by_scan(&piece, &mut Vec::new());
            prop_assert_eq!(vocabulary.merges_by_bucket(&piece), by_scan);
        }
    }

    #[test]
    fn the_lowest_rank_merges_first() {
        let bytes = (0..=u8::MAX).map(|byte| vec![byte]);
        let more = ["bc", "ab", "cd", "abcd"].map(|token| token.as_bytes().to_vec());
        let vocabulary = Vocabulary::from_tokens(bytes.chain(more));
        let count = |piece: &str| vocabulary.count(piece.as_bytes(), &mut Scratch::default());
        assert_eq!((count("abc"), count("abd"), count("abcd"), count("abcde"), count("")), (2, 2, 1, 4, 0));
        // 64 and more bytes go through the buckets: each "abcde" is a, bc, d, e.
        assert_eq!(count(&"abcde".repeat(40)), 160);
    }
}
