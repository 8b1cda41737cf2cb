//! Limits the state of a grammar's scanner, and how far the scanner reads.
//!
//! Hand-written scanners (for indentation or here-documents) save their state after each token. The parser
//! provides 1,024 bytes for the state and aborts the process if a scanner writes more. The scanners of Python,
//! Ruby and YAML do: 254 dashes in a row are enough. Other scanners abort when they read back truncated state.
//! With this module, a scanner with too much state loses it, as most scanners do by design, and the remaining
//! text is misparsed.
//!
//! Kotlin's scanner searches forever for whitespace after a text that ends with an incomplete annotation. This module
//! gives it line breaks past the end, so that the search ends.
//!
//! tree-sitter has no hook for such limits, so this module copies a grammar and replaces its scanner functions.

use std::cell::Cell;
use std::ffi::{c_char, c_uint, c_void};
use std::mem::MaybeUninit;
use std::sync::OnceLock;

use tree_sitter::Language;
use tree_sitter::ffi::TSLanguage;

use crate::{LANGUAGES, LanguageId};

/// Size in bytes of the parser's buffer for scanner state (`TREE_SITTER_SERIALIZATION_BUFFER_SIZE` in
/// `tree_sitter/parser.h`).
pub(crate) const ROOM: usize = 1_024;
/// Upper bound, in bytes, on the state that any scanner writes, with or without its own check. Each scanner stops after
/// the entry that exceeds [`ROOM`], and an entry has at most 260 bytes.
const MOST: usize = 4_096;

/// Number of times a scanner may advance past the end of a text before it receives artificial characters.
const PATIENCE: u32 = 16;

/// Writes the state of a scanner and returns its length in bytes.
pub(crate) type Serialize = unsafe extern "C" fn(*mut c_void, *mut c_char) -> c_uint;
/// Scans for one of the tokens that are valid at this point.
pub(crate) type Scan = unsafe extern "C" fn(*mut c_void, *mut Lexer, *const bool) -> bool;
type Advance = unsafe extern "C" fn(*mut Lexer, bool);
type Pointer = *const c_void;

/// `struct TSLanguage` of ABI 14. The struct of ABI 15 begins with the same fields (`tree_sitter/parser.h`).
#[repr(C)]
#[derive(Clone, Copy)]
struct Abi14 {
    abi_version: u32,
    counts: [u32; 8],
    max_alias_sequence_length: u16,
    tables: [Pointer; 13],
    lexers: [Pointer; 2],
    keyword_capture_token: u16,
    scanner: Scanner,
    primary_state_ids: Pointer,
}

/// `struct TSLanguage` of ABI 15: the fields of ABI 14, followed by new ones.
#[repr(C)]
#[derive(Clone, Copy)]
struct Abi15 {
    before: Abi14,
    name: Pointer,
    reserved_words: Pointer,
    max_reserved_word_set_size: u16,
    supertype_count: u32,
    supertypes: [Pointer; 3],
    version: [u8; 3],
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Scanner {
    states: Pointer,
    symbols: Pointer,
    create: Pointer,
    destroy: Pointer,
    scan: Option<Scan>,
    serialize: Option<Serialize>,
    deserialize: Pointer,
}

/// `struct TSLexer`, through which a scanner reads the text.
#[repr(C)]
pub(crate) struct Lexer {
    lookahead: i32,
    result_symbol: u16,
    advance: Advance,
    mark_end: Pointer,
    get_column: Pointer,
    is_at_included_range_start: Pointer,
    eof: unsafe extern "C" fn(*const Self) -> bool,
    log: Pointer,
}

/// The original scanner functions of each language.
static ORIGINALS: [OnceLock<(Serialize, Option<Scan>)>; LanguageId::COUNT] =
    [const { OnceLock::new() }; LanguageId::COUNT];

/// The original function that advances a lexer. It is the same for all lexers.
static ADVANCE: OnceLock<Advance> = OnceLock::new();

thread_local! {
    /// Number of times the running scanner has advanced past the end.
    static BEHIND_THE_END: Cell<u32> = const { Cell::new(0) };
}

/// Returns the grammar of a language with a scanner that stays within its limits. Built once per process.
#[expect(unsafe_code, reason = "a grammar is a struct of a C library")]
pub(crate) fn bounded(id: LanguageId) -> Language {
    /// A pointer to immutable data.
    struct Shared(*const TSLanguage);
    // SAFETY: the pointed-to data is never written again.
    unsafe impl Send for Shared {}
    // SAFETY: as for `Send`.
    unsafe impl Sync for Shared {}
    static COPIES: [OnceLock<Shared>; LanguageId::COUNT] = [const { OnceLock::new() }; LanguageId::COUNT];

    let copy = COPIES[id.index()].get_or_init(|| {
        let language = &*id;
        let original = (language.grammar)().into_raw();
        // SAFETY: a grammar is a constant of its library. It begins with its ABI version, which determines the layout
        // of the remaining fields.
        Shared(unsafe {
            match *original.cast::<u32>() {
                14 => exchanged(original.cast::<Abi14>(), id, |grammar| &mut grammar.scanner),
                15 => exchanged(original.cast::<Abi15>(), id, |grammar| &mut grammar.before.scanner),
                _ => original,
            }
        })
    });
    // SAFETY: the pointer is to a grammar that lives as long as the process.
    unsafe { Language::from_raw(copy.0) }
}

/// Returns a leaked copy of a grammar with its scanner functions replaced, or the grammar itself if it has no scanner.
///
/// # Safety
/// `grammar` must point to a valid grammar with the layout of `T`.
#[expect(unsafe_code, reason = "a grammar is a struct of a C library")]
unsafe fn exchanged<T: Copy>(
    grammar: *const T,
    id: LanguageId,
    scanner: impl Fn(&mut T) -> &mut Scanner,
) -> *const TSLanguage {
    // SAFETY: guaranteed by the caller.
    let mut copy = unsafe { *grammar };
    let own = scanner(&mut copy);
    let Some(serialize) = &mut own.serialize else { return grammar.cast() };
    // This is the only call of `set`, and each grammar is copied once.
    let _ = ORIGINALS[id.index()].set((*serialize, own.scan));
    *serialize = id.serialize;
    if id.scanner_runs_on {
        own.scan = Some(id.scan);
    }
    std::ptr::from_ref(Box::leak(Box::new(copy))).cast()
}

/// Saves the state of a scanner of the language with index `N`. Saves nothing if the state exceeds its limit.
///
/// # Safety
/// Must be called as the parser does: with a scanner of that language, and a buffer of [`ROOM`] bytes.
#[expect(unsafe_code, reason = "called by a C library")]
pub(crate) unsafe extern "C" fn serialize<const N: usize>(scanner: *mut c_void, room: *mut c_char) -> c_uint {
    let (Some((original, _)), Some(language)) = (ORIGINALS[N].get(), LANGUAGES.get(N)) else { return 0 };
    let mut state = MaybeUninit::<[c_char; MOST]>::uninit();
    // SAFETY: no scanner writes more than `MOST` bytes, and the scanner belongs to this language.
    let length = unsafe { original(scanner, state.as_mut_ptr().cast()) };
    if length as usize > language.scanner_state.min(ROOM) {
        return 0;
    }
    // SAFETY: the original function wrote `length` bytes, and the caller's buffer has space for them.
    unsafe { room.copy_from_nonoverlapping(state.as_ptr().cast(), length as usize) };
    length
}

/// Runs the original scanner of the language with index `N`, and prevents an endless search at the end of the text.
///
/// # Safety
/// Must be called as the parser does: with a scanner of that language, and the parser's lexer.
#[expect(unsafe_code, reason = "called by a C library")]
pub(crate) unsafe extern "C" fn scan<const N: usize>(
    scanner: *mut c_void,
    lexer: *mut Lexer,
    wanted: *const bool,
) -> bool {
    let Some((_, Some(original))) = ORIGINALS[N].get() else { return false };
    // SAFETY: the lexer belongs to the parser, which lends it for the duration of the call and then continues from its
    // own position.
    unsafe {
        let advance = *ADVANCE.get_or_init(|| (*lexer).advance);
        BEHIND_THE_END.set(0);
        (*lexer).advance = advance_for_a_while;
        let found = original(scanner, lexer, wanted);
        (*lexer).advance = advance;
        if BEHIND_THE_END.get() > PATIENCE {
            // At the end of a text, the lookahead of a lexer is 0.
            (*lexer).lookahead = 0;
        }
        found
    }
}

/// Advances by one character. Past the end, alternates between line breaks and null characters, so that no loop over
/// one class of characters runs forever.
///
/// # Safety
/// Must be called as a scanner does: with the lexer that it received.
#[expect(unsafe_code, reason = "called by a C library")]
unsafe extern "C" fn advance_for_a_while(lexer: *mut Lexer, skip: bool) {
    let Some(advance) = ADVANCE.get() else { return };
    // SAFETY: the caller passes on the lexer that the parser created.
    unsafe {
        advance(lexer, skip);
        if ((*lexer).eof)(lexer) {
            let times = BEHIND_THE_END.get().saturating_add(1);
            BEHIND_THE_END.set(times);
            if times > PATIENCE {
                (*lexer).lookahead = if times.is_multiple_of(2) { i32::from(b'\n') } else { 0 };
            }
        }
    }
}
