//! Configures memory allocation. glibc gives each thread its own "arena", up to eight per core, and free memory in one arena is
//! unusable for others; the server has some fifteen threads, few of which run at once. Linux may also use pages of 2 MiB, of
//! which a process keeps all that it touches.

use std::ffi::{c_int, c_ulong};
use std::thread::available_parallelism;

/// Limits arenas to the number of threads that can run at once, which saves more than half of the unused memory without more
/// contention. Also disables transparent huge pages; mimalloc reads its own option before `main`, so it would come too late.
#[expect(unsafe_code, reason = "malloc and the kernel have no other way to be told, but for the environment")]
pub(crate) fn thrift() {
    let cores = available_parallelism().map_or(2, |cores| c_int::try_from(cores.get()).unwrap_or(c_int::MAX));
    // SAFETY: it sets a number, under malloc's own lock. One that is rejected leaves things as they are.
    unsafe { libc::mallopt(libc::M_ARENA_MAX, cores) };
    let (yes, unused): (c_ulong, c_ulong) = (1, 0);
    // SAFETY: it sets a flag of the process. A kernel that does not know it leaves things as they are.
    unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, yes, unused, unused, unused) };
}
