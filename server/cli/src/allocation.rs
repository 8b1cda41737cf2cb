//! Where memory comes from. glibc gives each thread an "arena" of its own, up to eight for each core, and what is free in one
//! arena no other can use; the server has some fifteen threads, few of which run at the same time. Linux may hand out memory in
//! pages of 2 MiB, of which a process then keeps all that it uses a part of.

use std::ffi::{c_int, c_ulong};
use std::thread::available_parallelism;

/// Has as many arenas as threads can run at once, instead of eight times as many: of the memory that is held and not used, more
/// than half is saved, and no one waits for another longer than before. And has no huge pages where they are given unasked:
/// mimalloc looks at that before `main`, so its own option comes too late for it.
#[expect(unsafe_code, reason = "malloc and the kernel have no other way to be told, but for the environment")]
pub(crate) fn thrift() {
    let cores = available_parallelism().map_or(2, |cores| c_int::try_from(cores.get()).unwrap_or(c_int::MAX));
    // SAFETY: it sets a number, under malloc's own lock. One that is rejected leaves things as they are.
    unsafe { libc::mallopt(libc::M_ARENA_MAX, cores) };
    let (yes, unused): (c_ulong, c_ulong) = (1, 0);
    // SAFETY: it sets a flag of the process. A kernel that does not know it leaves things as they are.
    unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, yes, unused, unused, unused) };
}
