//! The memory that syntax trees are made of: many small pieces, all given back at once, which mimalloc does faster than the
//! allocators of most systems. The rest of the process keeps the system's, which needs less memory for what lives long.
//!
//! A parser knows no limit: some kilobytes that can be read in many ways take gigabytes at their end, where it copies what it has read
//! once for each way (`ts_stack_pop_all` of tree-sitter). So what it asks for is counted. When that is too much it cannot be told,
//! since it would end the process: it is left by unwinding, which its functions in C take part in without knowing. What it held is
//! lost then, unless it had a heap of its own, which is thrown away.

use std::alloc::{Layout, handle_alloc_error};
use std::any::Any;
use std::cell::Cell;
use std::ffi::{c_long, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use libmimalloc_sys::{
    mi_calloc, mi_free, mi_heap_calloc, mi_heap_delete, mi_heap_destroy, mi_heap_malloc, mi_heap_new,
    mi_heap_realloc, mi_heap_t, mi_malloc, mi_option_set, mi_option_t, mi_realloc,
};

#[cfg(panic = "abort")]
compile_error!("a parser that takes too much memory is left by unwinding: build with `panic = \"unwind\"`");

/// Options of mimalloc 3.3 that its bindings have no names for (`mi_option_e` in `mimalloc.h`), whatever the environment says.
/// The first has it leave things alone when the process ends: it would take away what threads need that still parse then. The
/// others have all memory come in blocks of a GiB that are mapped when they are needed: heaps are deleted and destroyed with
/// what they have of these, and not with other memory. The last two have what is free given back at once, and no huge pages asked
/// for: a server that is typed into keeps 9 MB less, which come and go less, and an index takes 3 % more time.
const OPTIONS: [(mi_option_t, c_long); 5] = [
    (DESTROY_ON_EXIT, 2),
    (DISALLOW_ARENA_ALLOC, 0),
    (ARENA_RESERVE_KIB, 1 << 20),
    (PURGE_DELAY_MS, 0),
    (ALLOW_THP, 0),
];
const PURGE_DELAY_MS: mi_option_t = 15;
const DESTROY_ON_EXIT: mi_option_t = 22;
const ARENA_RESERVE_KIB: mi_option_t = 23;
const DISALLOW_ARENA_ALLOC: mi_option_t = 26;
const ALLOW_THP: mi_option_t = 43;

static IN_USE: AtomicBool = AtomicBool::new(false);
/// Bytes at most that nobody can give back any more.
static LOST: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static METER: Cell<Meter> = const { Cell::new(Meter::OFF) };
}

/// What the thread's parser may take, and from where.
#[derive(Clone, Copy)]
struct Meter {
    /// Bytes that it may still ask for.
    left: usize,
    /// When less than this is left, it has a heap of its own.
    own_below: usize,
    /// That heap; null as long as it takes from what all of the thread share.
    heap: *mut mi_heap_t,
}

/// More memory was asked for than there may be.
#[derive(Debug)]
pub(crate) struct TooMuch;

type Allocate = unsafe extern "C" fn(usize) -> *mut c_void;
type AllocateMany = unsafe extern "C" fn(usize, usize) -> *mut c_void;
type Grow = unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void;

/// Has tree-sitter take its memory from mimalloc from now on, and parsers no more of it than they may.
///
/// # Safety
/// No parser, tree, query or cursor may exist yet, and no other thread may be about to make one: what one allocator gave,
/// another must not take back. So it is the first thing that `main` does.
#[expect(unsafe_code, reason = "tree-sitter's allocator is a global of a C library")]
pub unsafe fn use_mimalloc() {
    // SAFETY: functions that may unwind are called like those that may not. Ours do so only `within` a limit, whose caller sees to it
    // that there is nothing but C up to there.
    let (malloc, calloc, realloc) = unsafe {
        (
            std::mem::transmute::<extern "C-unwind" fn(usize) -> *mut c_void, Allocate>(malloc),
            std::mem::transmute::<extern "C-unwind" fn(usize, usize) -> *mut c_void, AllocateMany>(calloc),
            std::mem::transmute::<extern "C-unwind" fn(*mut c_void, usize) -> *mut c_void, Grow>(realloc),
        )
    };
    // SAFETY: the four belong together, and the caller sees to it that nothing was allocated before.
    unsafe { tree_sitter::set_allocator(Some(malloc), Some(calloc), Some(realloc), Some(mi_free)) }
    for (option, value) in OPTIONS {
        // SAFETY: they exist.
        unsafe { mi_option_set(option, value) };
    }
    IN_USE.store(true, Ordering::Relaxed);
}

/// How many bytes were lost at most: what is shared and was taken by what was given up.
pub(crate) fn lost() -> usize {
    LOST.load(Ordering::Relaxed)
}

/// Does something that may ask for so many bytes, all that it gives back in between counted as well. It has a heap of its own
/// after the first `shared` of them: what was taken by then is [`lost`] after an error, as is all that was there before and that
/// `work` holds. There is no limit while the system's allocator is in use.
///
/// # Safety
/// Between `work` and what it calls of tree-sitter there is no function of Rust that is not `C-unwind`; scanners of grammars
/// take their memory elsewhere. After an error nothing that `work` has changed or made is used or freed any more: its
/// memory is gone.
#[expect(unsafe_code, reason = "the heap is a C library's")]
pub(crate) unsafe fn within<T>(bytes: usize, shared: usize, work: impl FnOnce() -> T) -> Result<T, TooMuch> {
    if !IN_USE.load(Ordering::Relaxed) {
        return Ok(work());
    }
    let meter = Meter { left: bytes, own_below: bytes.saturating_sub(shared), heap: null_mut() };
    let outer = METER.replace(meter);
    let done = catch_unwind(AssertUnwindSafe(work));
    let Meter { heap, .. } = METER.replace(outer);
    let is_too_much = |panic: &Box<dyn Any + Send>| panic.is::<TooMuch>();
    match &done {
        _ if heap.is_null() => {}
        // SAFETY: nobody uses what was in it any more.
        Err(panic) if is_too_much(panic) => unsafe { mi_heap_destroy(heap) },
        // SAFETY: what was made stays where it is.
        _ => unsafe { mi_heap_delete(heap) },
    }
    done.map_err(|panic| {
        if !is_too_much(&panic) {
            resume_unwind(panic);
        }
        LOST.fetch_add(shared.min(bytes), Ordering::Relaxed);
        TooMuch
    })
}

impl Meter {
    /// No limit.
    const OFF: Self = Self { left: usize::MAX, own_below: 0, heap: null_mut() };
}

/// Counts so many bytes, and says from which heap they are to be taken; null is the one that is shared.
#[expect(unsafe_code, reason = "the heap is a C library's")]
fn heap_for(bytes: usize) -> *mut mi_heap_t {
    let Meter { left, own_below, mut heap } = METER.get();
    if left == Meter::OFF.left {
        return heap;
    }
    let Some(left) = left.checked_sub(bytes) else { resume_unwind(Box::new(TooMuch)) };
    if left < own_below && heap.is_null() {
        // SAFETY: it is used on this thread alone, and given up at the end of `within`. Without memory for it there is none.
        heap = unsafe { mi_heap_new() };
    }
    METER.set(Meter { left, own_below, heap });
    heap
}

/// What was allocated. tree-sitter does not look whether it is there: without memory the process ends, as it does with Rust's own.
fn there(memory: *mut c_void, bytes: usize) -> *mut c_void {
    if memory.is_null() && bytes > 0 {
        handle_alloc_error(Layout::array::<u8>(bytes).unwrap_or(Layout::new::<u8>()));
    }
    memory
}

#[expect(unsafe_code, reason = "an allocator")]
extern "C-unwind" fn malloc(bytes: usize) -> *mut c_void {
    let heap = heap_for(bytes);
    // SAFETY: the heap is this thread's.
    let memory = match heap.is_null() {
        true => unsafe { mi_malloc(bytes) },
        false => unsafe { mi_heap_malloc(heap, bytes) },
    };
    there(memory, bytes)
}

#[expect(unsafe_code, reason = "an allocator")]
extern "C-unwind" fn calloc(count: usize, bytes: usize) -> *mut c_void {
    let all = count.saturating_mul(bytes);
    let heap = heap_for(all);
    // SAFETY: the heap is this thread's.
    let memory = match heap.is_null() {
        true => unsafe { mi_calloc(count, bytes) },
        false => unsafe { mi_heap_calloc(heap, count, bytes) },
    };
    there(memory, all)
}

#[expect(unsafe_code, reason = "an allocator")]
extern "C-unwind" fn realloc(old: *mut c_void, bytes: usize) -> *mut c_void {
    let heap = heap_for(bytes);
    // SAFETY: the heap is this thread's, and `old` is from one of mimalloc's.
    let memory = match heap.is_null() {
        true => unsafe { mi_realloc(old, bytes) },
        false => unsafe { mi_heap_realloc(heap, old, bytes) },
    };
    there(memory, bytes)
}
