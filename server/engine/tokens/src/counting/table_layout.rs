//! Lays out the table of a vocabulary. Used by the build script and in tests.

use super::token_table::{NO_RANK, TableBytes, hash, short_index};

/// Number of texts of one or two bytes.
const SHORT_TOKEN_COUNT: usize = 256 + (1 << 16);

impl TableBytes<Vec<u8>> {
    /// Lays out tokens, which are in ascending order of rank and not empty.
    pub(crate) fn new<'a>(tokens: impl Iterator<Item = &'a [u8]>) -> Self {
        let (mut bytes, mut ends, mut short_ranks) =
            (Vec::new(), Vec::new(), vec![NO_RANK; SHORT_TOKEN_COUNT]);
        let mut hashes = Vec::new();
        for (rank, token) in (0..).zip(tokens) {
            bytes.extend(token);
            ends.push(bytes.len() as u32);
            hashes.push(hash(token));
            if let Some(short) = short_index(token).and_then(|index| short_ranks.get_mut(index)) {
                *short = rank;
            }
        }
        // At most four fifths of the slots are used.
        let mut slots = vec![NO_RANK; (hashes.len() * 5 / 4 + 1).next_power_of_two()];
        let mask = slots.len() - 1;
        for (rank, hash) in (0..).zip(hashes) {
            let free = (0..).map(|step| (hash as usize + step) & mask).find(|slot| slots[*slot] == NO_RANK);
            if let Some(slot) = free {
                slots[slot] = rank;
            }
        }
        let to_bytes = |numbers: Vec<u32>| numbers.into_iter().flat_map(u32::to_le_bytes).collect();
        Self {
            tokens: bytes,
            ends: to_bytes(ends),
            slots: to_bytes(slots),
            short_ranks: to_bytes(short_ranks),
        }
    }
}
