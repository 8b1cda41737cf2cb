//! Where glibc takes memory from: it gives each thread an "arena" of its own, up to eight for each core, and what is free in
//! one arena no other can use. The server has some fifteen threads, few of which run at the same time.

use std::ffi::c_int;
use std::thread::available_parallelism;

/// Has as many arenas as threads can run at once, instead of eight times as many: of the memory that is held and not used, more
/// than half is saved, and nobody waits for another longer than before.
#[expect(unsafe_code, reason = "glibc's malloc has no other way to be told, but for the environment")]
pub(crate) fn as_many_as_cores() {
    let cores = available_parallelism().map_or(2, |cores| c_int::try_from(cores.get()).unwrap_or(c_int::MAX));
    // SAFETY: it sets a number, under malloc's own lock. One that is not taken leaves things as they are.
    unsafe { libc::mallopt(libc::M_ARENA_MAX, cores) };
}
