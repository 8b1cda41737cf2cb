//! A pool of scratch memory for counting threads. Scratch memory contains a cache of counts, which its next
//! user benefits from. The pool never affects results.

use std::sync::{Mutex, PoisonError};

use super::Encoding;
use super::vocabulary::Scratch;

/// Maximum number of idle scratch buffers per encoding, at 1 MB each. Further ones are dropped after use.
const MAX_IDLE_SCRATCHES: usize = 8;

/// Unused scratch memory, by encoding.
#[derive(Debug, Default)]
pub(super) struct ScratchPool([Mutex<Vec<Scratch>>; Encoding::ALL.len()]);

impl ScratchPool {
    /// Runs `use_scratch` with scratch memory that no other thread uses meanwhile.
    pub(super) fn with_scratch<T>(
        &self,
        encoding: Encoding,
        use_scratch: impl FnOnce(&mut Scratch) -> T,
    ) -> T {
        let [o200k, cl100k] = &self.0;
        let idle = match encoding {
            Encoding::O200k => o200k,
            Encoding::Cl100k => cl100k,
        };
        // The lock is held only for a push or a pop, so a panic cannot leave the list in an inconsistent
        // state.
        let lock = || idle.lock().unwrap_or_else(PoisonError::into_inner);
        let mut scratch = lock().pop().unwrap_or_default();
        let result = use_scratch(&mut scratch);
        let mut idle = lock();
        if idle.len() < MAX_IDLE_SCRATCHES {
            idle.push(scratch);
        }
        result
    }
}
