//! A pool of scratch memory for counting threads. Scratch memory contains a cache of counts, which its next
//! user benefits from. The pool never affects results.

use std::sync::{Mutex, PoisonError};

use super::Encoding;
use super::vocabulary::Scratch;

/// Maximum number of idle scratch buffers per encoding, at 1 MB each. Further ones are dropped after use.
const KEPT: usize = 8;

/// Unused scratch memory, by encoding.
#[derive(Debug, Default)]
pub(super) struct Scratches([Mutex<Vec<Scratch>>; Encoding::ALL.len()]);

impl Scratches {
    /// Runs `work` with scratch memory that no other thread uses meanwhile.
    pub(super) fn lend<T>(&self, encoding: Encoding, work: impl FnOnce(&mut Scratch) -> T) -> T {
        let [o200k, cl100k] = &self.0;
        let idle = match encoding {
            Encoding::O200k => o200k,
            Encoding::Cl100k => cl100k,
        };
        // The lock is held only for a push or a pop, so a panic cannot leave the list in an inconsistent
        // state.
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
