//! Limits the work of a grammar's lexers during a parse: the characters that they read, and how deep a scanner calls
//! itself. Counting makes the result depend on the text alone. `scanner` counts; this module does not parse. It also knows
//! how much memory the parse takes.

use std::cell::Cell;

use crate::allocator;

/// Maximum stack that a scanner may use, in bytes. OCaml's takes about 100 for each comment in a comment. Threads have
/// at least 2 MiB.
const MAX_SCANNER_STACK_BYTES: usize = 128 << 10;

/// Work that starting a lexer counts as, in characters.
const LEXER_START_COST: u64 = 8;

/// The limit that a parse exceeded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExceededLimit {
    /// The lexers read more characters than allowed.
    Characters,
    /// A scanner called itself too deeply.
    Depth,
}

/// A parse within limits.
#[derive(Debug)]
pub struct Limited<T> {
    /// What the parse returned. Meaningless if a limit was exceeded, because the text then appeared to end early.
    pub result: T,
    /// Number of characters that the lexers read.
    pub characters: u64,
    /// The first limit that was exceeded.
    pub exceeded: Option<ExceededLimit>,
}

thread_local! {
    /// What the parse on this thread has read.
    pub(crate) static METER: Meter = const { Meter::new() };
}

/// Counts the work of the lexers on one thread.
pub(crate) struct Meter {
    /// Number of characters that may be read.
    limit: Cell<u64>,
    /// Number of characters that may still be read.
    remaining: Cell<u64>,
    exceeded: Cell<Option<ExceededLimit>>,
    /// Memory in use when [`limited`] was called.
    initial_memory: Cell<i64>,
    /// Address on the stack at which the running lexer was called.
    stack: Cell<usize>,
    /// Whether [`limited`] is running.
    is_limited: Cell<bool>,
    /// Number of times the parser asked for a piece of the text.
    pub(crate) chunks: Cell<u64>,
}

/// Calls `parse` and limits the characters that lexers read during the call, on this thread. Once a limit is exceeded,
/// the text appears to end, and lexers find no more tokens; the parse must end at its next progress report, for which
/// [`is_exceeded`] exists. Calls cannot be nested.
pub fn limited<T>(characters: u64, parse: impl FnOnce() -> T) -> Limited<T> {
    METER.with(|meter| meter.reset(characters, true));
    let result = parse();
    METER.with(|meter| {
        let limited = Limited {
            result,
            characters: characters - meter.remaining.get(),
            exceeded: meter.exceeded.get(),
        };
        meter.reset(u64::MAX, false);
        limited
    })
}

/// Whether the parse on this thread has exceeded a limit, so that continuing makes no sense.
pub fn is_exceeded() -> bool {
    METER.with(Meter::is_stopped)
}

/// Returns the number of characters that the lexers of the limited parse on this thread have read.
pub fn characters_read() -> u64 {
    METER.with(|meter| meter.limit.get() - meter.remaining.get())
}

/// Returns the memory that the limited parse on this thread has allocated and not released, in bytes. 0 unless mimalloc is
/// the allocator for syntax trees.
pub fn parser_memory_bytes() -> u64 {
    let before = METER.with(|meter| meter.initial_memory.get());
    u64::try_from(allocator::memory_in_use().saturating_sub(before)).unwrap_or(0)
}

/// Counts a piece of the text that the parser asked for. Call it wherever the parser reads; columns are free
/// otherwise, although finding one may mean to read a long line again.
pub fn count_chunk() {
    METER.with(|meter| meter.chunks.set(meter.chunks.get().wrapping_add(1)));
}

impl Meter {
    const fn new() -> Self {
        Self {
            limit: Cell::new(u64::MAX),
            remaining: Cell::new(u64::MAX),
            exceeded: Cell::new(None),
            initial_memory: Cell::new(0),
            stack: Cell::new(0),
            is_limited: Cell::new(false),
            chunks: Cell::new(0),
        }
    }

    fn reset(&self, characters: u64, is_limited: bool) {
        self.limit.set(characters);
        self.remaining.set(characters);
        self.exceeded.set(None);
        self.initial_memory.set(allocator::memory_in_use());
        self.is_limited.set(is_limited);
    }

    /// Starts a lexer. Returns `false` if a limit is exceeded.
    pub(crate) fn start_lexer(&self) -> bool {
        self.stack.set(stack_pointer());
        self.count(LEXER_START_COST)
    }

    /// Ends a lexer. Returns `false` if a limit is exceeded.
    pub(crate) fn end_lexer(&self) -> bool {
        let is_stopped = self.is_stopped();
        if !self.is_limited.get() {
            self.exceeded.set(None);
        }
        !is_stopped
    }

    /// Counts characters that a lexer is about to read. Returns `false` if a limit is exceeded.
    pub(crate) fn count(&self, characters: u64) -> bool {
        if self.is_stopped() {
            return false;
        }
        if stack_pointer().abs_diff(self.stack.get()) > MAX_SCANNER_STACK_BYTES {
            self.exceeded.set(Some(ExceededLimit::Depth));
            return false;
        }
        match self.remaining.get().checked_sub(characters) {
            Some(remaining) => {
                self.remaining.set(remaining);
                true
            }
            None => {
                self.remaining.set(0);
                self.exceeded.set(Some(ExceededLimit::Characters));
                false
            }
        }
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.exceeded.get().is_some()
    }
}

/// Returns an address in the caller's part of the stack.
fn stack_pointer() -> usize {
    let local = 0_u8;
    std::ptr::from_ref(std::hint::black_box(&local)).addr()
}
