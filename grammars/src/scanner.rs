//! Limits the scanner of a grammar: its state, and how far it reads.
//!
//! Hand-written scanners (indentation, here-documents) save their state after each token. The parser has 1,024 bytes for it, and
//! aborts the process if a scanner writes more, as those of Python, Ruby and YAML do: 254 dashes in a row are enough. Others
//! abort when they read back truncated state. Here, a scanner with too much state loses it, as most do on their own; the rest of
//! such a text is misparsed.
//!
//! Kotlin's scanner searches forever for white space after a text that ends with an incomplete annotation. It is shown some
//! there.
//!
//! tree-sitter has no way to say this, so a grammar is copied with functions exchanged.

use std::cell::Cell;
use std::ffi::{c_char, c_uint, c_void};
use std::mem::MaybeUninit;
use std::sync::OnceLock;

use tree_sitter::Language;
use tree_sitter::ffi::TSLanguage;

use crate::{LANGUAGES, LanguageId};

/// The parser's buffer for state (`TREE_SITTER_SERIALIZATION_BUFFER_SIZE` in `tree_sitter/parser.h`), in bytes.
pub(crate) const ROOM: usize = 1_024;
/// More than any scanner writes, checked or not: each stops after an entry that crosses [`ROOM`], and an entry has at most 260
/// bytes.
const MOST: usize = 4_096;

/// So often may a scanner ask for more after the end of a text before it is shown something.
const PATIENCE: u32 = 16;

/// Writes the state of a scanner and says how long it is.
pub(crate) type Serialize = unsafe extern "C" fn(*mut c_void, *mut c_char) -> c_uint;
/// Looks for one of the tokens that would fit.
pub(crate) type Scan = unsafe extern "C" fn(*mut c_void, *mut Lexer, *const bool) -> bool;
type Advance = unsafe extern "C" fn(*mut Lexer, bool);
type Pointer = *const c_void;

/// `struct TSLanguage` of ABI 14, which that of ABI 15 begins with (`tree_sitter/parser.h`).
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

/// The additions of ABI 15.
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

/// `struct TSLexer`, which a scanner reads through.
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

/// The replaced functions, by language.
static ORIGINALS: [OnceLock<(Serialize, Option<Scan>)>; LanguageId::COUNT] =
    [const { OnceLock::new() }; LanguageId::COUNT];

/// The original function to advance a lexer; all are the same.
static ADVANCE: OnceLock<Advance> = OnceLock::new();

thread_local! {
    /// How often the scanner at work has asked for more after the end.
    static BEHIND_THE_END: Cell<u32> = const { Cell::new(0) };
}

/// The grammar of a language with a scanner that stays within its limit; made once, and the same from then on.
#[expect(unsafe_code, reason = "a grammar is a struct of a C library")]
pub(crate) fn bounded(id: LanguageId) -> Language {
    /// A pointer to immutable data.
    struct Shared(*const TSLanguage);
    // SAFETY: what it points to is never written again.
    unsafe impl Send for Shared {}
    // SAFETY: the same.
    unsafe impl Sync for Shared {}
    static COPIES: [OnceLock<Shared>; LanguageId::COUNT] = [const { OnceLock::new() }; LanguageId::COUNT];

    let copy = COPIES[id.index()].get_or_init(|| {
        let language = &*id;
        let original = (language.grammar)().into_raw();
        // SAFETY: a grammar begins with its ABI version, which says what follows; it is a constant of its library.
        Shared(unsafe {
            match *original.cast::<u32>() {
                14 => exchanged(original.cast::<Abi14>(), id, |grammar| &mut grammar.scanner),
                15 => exchanged(original.cast::<Abi15>(), id, |grammar| &mut grammar.before.scanner),
                _ => original,
            }
        })
    });
    // SAFETY: it is a grammar that lives as long as the process.
    unsafe { Language::from_raw(copy.0) }
}

/// A copy of a grammar, for good, with the functions exchanged; the grammar itself when it has none.
///
/// # Safety
/// `grammar` points to a valid struct.
#[expect(unsafe_code, reason = "a grammar is a struct of a C library")]
unsafe fn exchanged<T: Copy>(
    grammar: *const T,
    id: LanguageId,
    scanner: impl Fn(&mut T) -> &mut Scanner,
) -> *const TSLanguage {
    // SAFETY: the caller says so.
    let mut copy = unsafe { *grammar };
    let own = scanner(&mut copy);
    let Some(serialize) = &mut own.serialize else { return grammar.cast() };
    // A grammar is copied once.
    let _ = ORIGINALS[id.index()].set((*serialize, own.scan));
    *serialize = id.serialize;
    if id.scanner_runs_on {
        own.scan = Some(id.scan);
    }
    std::ptr::from_ref(Box::leak(Box::new(copy))).cast()
}

/// Saves the state of a scanner of the language with index `N`: nothing of it, when that is more than its limit.
///
/// # Safety
/// As the parser calls it: with a scanner of that language, and [`ROOM`] bytes to write to.
#[expect(unsafe_code, reason = "called by a C library")]
pub(crate) unsafe extern "C" fn serialize<const N: usize>(scanner: *mut c_void, room: *mut c_char) -> c_uint {
    let (Some((original, _)), Some(language)) = (ORIGINALS[N].get(), LANGUAGES.get(N)) else { return 0 };
    let mut state = MaybeUninit::<[c_char; MOST]>::uninit();
    // SAFETY: no scanner writes more than that, and it is this language's.
    let length = unsafe { original(scanner, state.as_mut_ptr().cast()) };
    if length as usize > language.scanner_state.min(ROOM) {
        return 0;
    }
    // SAFETY: so many bytes were written, and there is room for them.
    unsafe { room.copy_from_nonoverlapping(state.as_ptr().cast(), length as usize) };
    length
}

/// Scans as the scanner of the language with index `N` does, and gets it away from the end of the text.
///
/// # Safety
/// As the parser calls it: with a scanner of that language, and a lexer of its own.
#[expect(unsafe_code, reason = "called by a C library")]
pub(crate) unsafe extern "C" fn scan<const N: usize>(
    scanner: *mut c_void,
    lexer: *mut Lexer,
    wanted: *const bool,
) -> bool {
    let Some((_, Some(original))) = ORIGINALS[N].get() else { return false };
    // SAFETY: the lexer is the parser's, which lends it for the time of the call and reads on where it was.
    unsafe {
        let advance = *ADVANCE.get_or_init(|| (*lexer).advance);
        BEHIND_THE_END.set(0);
        (*lexer).advance = advance_for_a_while;
        let found = original(scanner, lexer, wanted);
        (*lexer).advance = advance;
        if BEHIND_THE_END.get() > PATIENCE {
            // As it is at the end.
            (*lexer).lookahead = 0;
        }
        found
    }
}

/// Advances by one character. After the end, alternates a line end with nothing, so that no loop over characters of one kind runs
/// forever.
///
/// # Safety
/// As a scanner calls it: with the lexer that it was given.
#[expect(unsafe_code, reason = "called by a C library")]
unsafe extern "C" fn advance_for_a_while(lexer: *mut Lexer, skip: bool) {
    let Some(advance) = ADVANCE.get() else { return };
    // SAFETY: the caller's lexer, as the parser made it.
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
