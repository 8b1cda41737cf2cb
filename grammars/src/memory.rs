//! The memory that syntax trees are made of: many small pieces, all given back at once, which mimalloc does faster than the
//! allocators of most systems. The rest of the process keeps the system's, which needs less memory for what lives long.

use libmimalloc_sys::{mi_calloc, mi_free, mi_malloc, mi_realloc};

/// Has tree-sitter take its memory from mimalloc from now on.
///
/// # Safety
/// No parser, tree, query or cursor may exist yet, and no other thread may be about to make one: what one allocator gave,
/// another must not take back. So it is the first thing that `main` does.
#[expect(unsafe_code, reason = "tree-sitter's allocator is a global of a C library")]
pub unsafe fn use_mimalloc() {
    // SAFETY: the four belong together, and the caller sees to it that nothing was allocated before.
    unsafe { tree_sitter::set_allocator(Some(mi_malloc), Some(mi_calloc), Some(mi_realloc), Some(mi_free)) }
}
