//! What a provider reported of one request, and whether that is less than was expected.

/// What a provider says it did with a request, in tokens by its own count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Billed {
    /// Input read from the cache.
    pub read: u64,
    /// All input.
    pub total: u64,
}

/// How much less than predicted a reported read may be before it counts as a miss: counts may be estimates, and formats
/// add tokens that stand in no text.
const READ_TOLERANCE: f64 = 0.1;

impl Billed {
    /// Whether clearly less was read than `read` of `total` tokens, by our own count.
    pub fn misses(self, read: usize, total: usize) -> bool {
        if read == 0 || total == 0 || self.total == 0 {
            return false;
        }
        let expected = read as f64 / total as f64;
        let reported = self.read as f64 / self.total as f64;
        reported < expected * (1.0 - READ_TOLERANCE)
    }
}
