//! Configures memory allocation on Linux. glibc gives threads separate arenas, up to eight per core, and free memory in
//! one arena is unavailable to threads with another arena. The server has about fifteen threads, few of which run at
//! the same time. In addition, Linux may use pages of 2 MiB, which stay in memory entirely even if a process needs only
//! part of them.

use std::ffi::{c_int, c_ulong};
use std::thread::available_parallelism;

/// Limits glibc's arenas to the number of threads that can run at the same time, which saves more than half of the
/// unused memory without additional contention. Also disables transparent huge pages for the whole process, because it
/// is too late to set mimalloc's own option for this, which mimalloc reads before `main`.
#[expect(unsafe_code, reason = "these settings of malloc and the kernel have no safe interface")]
pub(crate) fn thrift() {
    let cores = available_parallelism().map_or(2, |cores| c_int::try_from(cores.get()).unwrap_or(c_int::MAX));
    // SAFETY: the call sets a number under malloc's own lock. If malloc rejects the number, nothing changes.
    unsafe { libc::mallopt(libc::M_ARENA_MAX, cores) };
    let (yes, unused): (c_ulong, c_ulong) = (1, 0);
    // SAFETY: the call sets a flag of the process. If the kernel does not know the flag, nothing changes.
    unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, yes, unused, unused, unused) };
}
