//! Reproducible pseudorandom numbers: a seed gives the same numbers on every machine.

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators").
#[derive(Clone, Debug)]
pub(crate) struct Rng(u64);

impl Rng {
    /// Creates a generator. Each seed gives a different sequence.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Creates a generator for the session with this name.
    pub(crate) fn for_session(name: &str, seed: u64) -> Self {
        Self(name.bytes().fold(seed, |seed, byte| seed.wrapping_mul(31).wrapping_add(u64::from(byte))))
    }

    /// Returns the next 64 bits.
    pub(crate) fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`, or 0 if `end` is 0.
    pub(crate) fn next_below(&mut self, end: usize) -> usize {
        usize::try_from(self.next_u64() % end.max(1) as u64).unwrap_or_default()
    }

    /// Returns `true` once in `times` calls on average.
    pub(crate) fn once_in(&mut self, times: usize) -> bool {
        self.next_below(times) == 0
    }

    /// Returns a number of `table`, or 0 if it is empty.
    pub(crate) fn draw<T: Copy + Default>(&mut self, table: &[T]) -> T {
        table.get(self.next_below(table.len())).copied().unwrap_or_default()
    }

    /// Returns one of `choices`, which must not be empty.
    #[cfg(test)]
    pub(crate) fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.next_below(choices.len())]
    }
}
