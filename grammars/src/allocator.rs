//! The allocator of syntax trees: they consist of many small pieces that are freed together, which mimalloc does faster than most
//! systems' allocators. The rest of the process keeps the system's, which needs less memory for long-lived data.

use std::ffi::c_void;

use libmimalloc_sys::mi_free;

#[expect(unsafe_code, reason = "tree-sitter's allocator is a global of a C library")]
unsafe extern "C" {
    // In `allocator.c`.
    fn strata_malloc(bytes: usize) -> *mut c_void;
    fn strata_calloc(count: usize, bytes: usize) -> *mut c_void;
    fn strata_realloc(old: *mut c_void, bytes: usize) -> *mut c_void;
    fn strata_set_options();
}

/// Makes tree-sitter take its memory from mimalloc.
///
/// # Safety
/// No parser, tree, query or cursor may exist yet, and no other thread may be creating one, because one allocator must not free
/// the memory of another. So this is the first call in `main`.
#[expect(unsafe_code, reason = "tree-sitter's allocator is a global of a C library")]
pub unsafe fn use_mimalloc() {
    // SAFETY: the four belong together, and the caller sees to it that nothing was allocated before.
    unsafe {
        strata_set_options();
        tree_sitter::set_allocator(
            Some(strata_malloc),
            Some(strata_calloc),
            Some(strata_realloc),
            Some(mi_free),
        );
    }
}
