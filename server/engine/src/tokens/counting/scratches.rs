//! What threads use while they count, lent out so that one need not begin without memory of what others met. A count
//! never depends on it.

use std::sync::{Mutex, PoisonError};

use super::Encoding;
use super::vocabulary::Scratch;

/// So many are kept for each encoding, 1 MB each; those of further threads are dropped after use.
const KEPT: usize = 8;

/// Those that no one uses right now, by encoding.
#[derive(Debug, Default)]
pub(super) struct Scratches([Mutex<Vec<Scratch>>; Encoding::ALL.len()]);

impl Scratches {
    /// Does `work` with one that no one else uses.
    pub(super) fn lend<T>(&self, encoding: Encoding, work: impl FnOnce(&mut Scratch) -> T) -> T {
        let [o200k, cl100k] = &self.0;
        let idle = match encoding {
            Encoding::O200k => o200k,
            Encoding::Cl100k => cl100k,
        };
        // The lock is held for a push or a pop, neither of which leaves anything half done.
        let lock = || idle.lock().unwrap_or_else(PoisonError::into_inner);
        let mut scratch = lock().pop().unwrap_or_default();
        let done = work(&mut scratch);
        let mut idle = lock();
        if idle.len() < KEPT {
            idle.push(scratch);
        }
        done
    }
}
