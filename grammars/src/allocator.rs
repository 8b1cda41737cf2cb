//! Makes mimalloc the allocator for syntax trees. Trees consist of many small allocations that are freed together,
//! which mimalloc handles faster than most system allocators. The rest of the process keeps the system allocator, which
//! needs less memory for long-lived data.

use std::ffi::c_void;

use libmimalloc_sys::mi_free;

#[expect(unsafe_code, reason = "tree-sitter's allocator is a global of a C library")]
unsafe extern "C" {
    // Defined in `allocator.c`.
    fn strata_malloc(bytes: usize) -> *mut c_void;
    fn strata_calloc(count: usize, bytes: usize) -> *mut c_void;
    fn strata_realloc(old: *mut c_void, bytes: usize) -> *mut c_void;
    fn strata_set_options();
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
            Some(mi_free),
        );
    }
}
