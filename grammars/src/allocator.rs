//! Makes mimalloc the allocator for syntax trees. Trees consist of many small allocations that are freed together,
//! which mimalloc handles faster than most system allocators. The rest of the process keeps the system allocator, which
//! needs less memory for long-lived data. Counts the memory of each thread, for [`limits`](crate::limits).

use std::ffi::c_void;

// Links the library that `allocator.c` uses.
use libmimalloc_sys as _;

#[expect(unsafe_code, reason = "tree-sitter's allocator is a global of a C library")]
unsafe extern "C" {
    // Defined in `allocator.c`.
    fn strata_malloc(bytes: usize) -> *mut c_void;
    fn strata_calloc(count: usize, bytes: usize) -> *mut c_void;
    fn strata_realloc(old: *mut c_void, bytes: usize) -> *mut c_void;
    fn strata_free(memory: *mut c_void);
    fn strata_memory_in_use() -> i64;
    fn strata_set_options();
}

/// Returns the bytes that the calling thread has allocated for tree-sitter minus those that it has released. 0 unless
/// [`use_mimalloc`] was called.
#[expect(unsafe_code, reason = "the counter belongs to a C file")]
pub(crate) fn memory_in_use() -> i64 {
    // SAFETY: reads a counter of this thread.
    unsafe { strata_memory_in_use() }
}

/// Makes tree-sitter allocate its memory with mimalloc.
///
/// # Safety
/// No parser, tree, query or cursor may exist yet, and no other thread may be creating one, because one allocator must
/// not free the memory of another. Call this first in `main`.
#[expect(unsafe_code, reason = "tree-sitter's allocator is a global of a C library")]
pub unsafe fn use_mimalloc() {
    // SAFETY: the four functions belong to the same allocator, and the caller guarantees that nothing was allocated
    // before.
    unsafe {
        strata_set_options();
        tree_sitter::set_allocator(
            Some(strata_malloc),
            Some(strata_calloc),
            Some(strata_realloc),
            Some(strata_free),
        );
    }
}
