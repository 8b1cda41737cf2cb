//! The vocabulary of an encoding as a hash table of plain bytes. The build script writes it with the help of this file, so
//! that the table is a part of the binary, which needs no time to load and which all processes share.

/// Marks the absence of a token.
pub(crate) const NO_RANK: u32 = u32::MAX;

/// The parts of a table. Numbers are little-endian and take four bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TableBytes<T> {
    /// All tokens, in ascending order of rank.
    pub(crate) tokens: T,
    /// End of each token in `tokens`.
    pub(crate) ends: T,
    /// Hash table of the ranks of all tokens. Collisions are in the following slots.
    pub(crate) slots: T,
    /// Ranks of the one-byte tokens, and of the tokens of two bytes in big-endian order.
    pub(crate) short_ranks: T,
}

/// Returns the index of a token of one or two bytes in [`TableBytes::short_ranks`].
#[inline]
pub(crate) fn short_index(token: &[u8]) -> Option<usize> {
    match *token {
        [one] => Some(usize::from(one)),
        [first, second] => Some(256 + (usize::from(first) << 8 | usize::from(second))),
        _ => None,
    }
}

/// Returns the hash of a token.
#[inline]
pub(crate) fn hash(token: &[u8]) -> u32 {
    let mut state = token.len() as u64;
    let mut chunks = token.chunks_exact(8);
    for chunk in &mut chunks {
        let mut window = [0; 8];
        window.copy_from_slice(chunk);
        state = mix(state ^ u64::from_le_bytes(window));
    }
    let rest = chunks.remainder();
    let mut window = [0; 8];
    window[..rest.len()].copy_from_slice(rest);
    (mix(state ^ u64::from_le_bytes(window)) >> 32) as u32
}

#[inline]
fn mix(state: u64) -> u64 {
    (state ^ state >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
