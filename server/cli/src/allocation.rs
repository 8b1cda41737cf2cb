//! Configures memory allocation on Linux. glibc gives threads separate arenas, up to eight per core, and free memory in
//! one arena is unavailable to threads with another arena. The server has about fifteen threads, few of which run at
//! the same time. In addition, Linux may use pages of 2 MiB, which stay in memory entirely even if a process needs only
//! part of them.

use std::ffi::{c_int, c_ulong};
use std::fs;
use std::thread::{self, available_parallelism};
use std::time::Duration;

/// Interval at which the memory of the process is read.
const MEMORY_READ_INTERVAL: Duration = Duration::from_secs(5);
/// Memory, in pages, that the process may have gained before its unused memory is released: 16 MiB in pages of 4 KiB.
const MEMORY_RELEASE_THRESHOLD_PAGES: u64 = 4_096;
/// Memory, in pages, that a busy process may have gained before its unused memory is released: 64 MiB in pages of 4 KiB.
/// Releasing takes a few milliseconds, during which other threads wait for memory.
const BUSY_RELEASE_THRESHOLD_PAGES: u64 = 16_384;
/// Difference, in pages, between two readings of an idle process.
const MAX_IDLE_PAGE_DIFFERENCE: u64 = 64;

/// Limits glibc's arenas to the number of threads that can run at the same time, which saves more than half of the
/// unused memory without additional contention. Also disables transparent huge pages for the whole process, because it
/// is too late to set mimalloc's own option for this, which mimalloc reads before `main`.
#[expect(unsafe_code, reason = "these settings of malloc and the kernel have no safe interface")]
pub(crate) fn limit_arenas() {
    let cores = available_parallelism().map_or(2, |cores| c_int::try_from(cores.get()).unwrap_or(c_int::MAX));
    // SAFETY: the call sets a number under malloc's own lock. If malloc rejects the number, nothing changes.
    unsafe { libc::mallopt(libc::M_ARENA_MAX, cores) };
    let (yes, unused): (c_ulong, c_ulong) = (1, 0);
    // SAFETY: the call sets a flag of the process. If the kernel does not know the flag, nothing changes.
    unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, yes, unused, unused, unused) };
}

/// Starts a thread that returns unused memory to the system when the process is idle or has gained much. glibc keeps what
/// large prompts needed temporarily, which is more than the prompts of a session need permanently.
pub(crate) fn release_periodically() {
    // Without the thread, the process only takes more memory.
    let _ = thread::Builder::new().name("release-memory".to_owned()).spawn(|| {
        let mut readings = MemoryMonitor::default();
        loop {
            thread::sleep(MEMORY_READ_INTERVAL);
            let Some(resident) = resident_pages() else { return };
            if readings.is_release_due(resident) {
                release_memory();
                readings.record_release(resident_pages().unwrap_or(resident));
            }
        }
    });
}

#[expect(unsafe_code, reason = "this function of malloc has no safe interface")]
fn release_memory() {
    // SAFETY: the call releases free pages under malloc's own locks.
    unsafe { libc::malloc_trim(0) };
}

/// Returns the number of pages of the process that are in memory.
fn resident_pages() -> Option<u64> {
    // The second number is the resident set (proc_pid_statm(5)).
    fs::read_to_string("/proc/self/statm").ok()?.split(' ').nth(1)?.parse().ok()
}

/// Decides when to release unused memory.
#[derive(Default)]
struct MemoryMonitor {
    /// Lowest number of pages since the last release; `None` before the first reading.
    lowest: Option<u64>,
    last: u64,
}

impl MemoryMonitor {
    /// Adds a reading. Returns whether the process has gained much memory since the last release, or is idle and has
    /// gained some.
    fn is_release_due(&mut self, resident: u64) -> bool {
        let is_idle = resident.abs_diff(self.last) <= MAX_IDLE_PAGE_DIFFERENCE;
        self.last = resident;
        let lowest = self.lowest.map_or(resident, |lowest| lowest.min(resident));
        self.lowest = Some(lowest);
        let threshold = if is_idle { MEMORY_RELEASE_THRESHOLD_PAGES } else { BUSY_RELEASE_THRESHOLD_PAGES };
        resident - lowest >= threshold
    }

    fn record_release(&mut self, resident: u64) {
        (self.lowest, self.last) = (Some(resident), resident);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_released_once_when_the_process_is_idle() {
        let mut readings = MemoryMonitor::default();
        let mut due = |resident| readings.is_release_due(resident);
        // It starts, then works, then is idle.
        assert!(!due(10_000) && !due(10_010) && !due(25_000) && !due(20_000));
        assert!(due(20_010));
        readings.record_release(20_000);
        let mut due = |resident| readings.is_release_due(resident);
        assert!(
            !due(20_000)
                && !due(20_000 + MEMORY_RELEASE_THRESHOLD_PAGES / 2)
                && !due(20_000 + MEMORY_RELEASE_THRESHOLD_PAGES / 2)
        );
        assert!(!due(30_000) && due(30_000));
    }

    #[test]
    fn memory_is_released_while_the_process_works_if_it_gained_much() {
        let mut readings = MemoryMonitor::default();
        assert!(!readings.is_release_due(10_000));
        assert!(!readings.is_release_due(10_000 + BUSY_RELEASE_THRESHOLD_PAGES - 1));
        assert!(readings.is_release_due(11_000 + BUSY_RELEASE_THRESHOLD_PAGES));
        readings.record_release(15_000);
        assert!(!readings.is_release_due(15_000 + BUSY_RELEASE_THRESHOLD_PAGES / 2));
    }

    #[test]
    fn the_memory_of_this_process_can_be_read() {
        assert!(resident_pages() > Some(100));
    }
}
