//! Replaces the functions with which a grammar reads a text, so that they stay within limits: the state that a scanner
//! saves, the characters that scanners and lexers read, and how deep a scanner calls itself.
//!
//! Hand-written scanners (for indentation or here-documents) save their state after each token. The parser
//! provides 1,024 bytes for the state and aborts the process if a scanner writes more. The scanners of Python,
//! Ruby and YAML do: 254 dashes in a row are enough. Other scanners abort when they read back truncated state.
//! With this module, a scanner with too much state loses it, as most scanners do by design, and the remaining
//! text is misparsed.
//!
//! The parser asks for progress between tokens only. A single token may look ahead to the end of the text, again and
//! again, and OCaml's scanner calls itself for each comment in a comment. So every character that is read counts
//! toward the limits of [`limits`](crate::limits), and once a limit is exceeded, the text appears to end.
//!
//! Kotlin's scanner searches forever for whitespace after a text that ends with an incomplete annotation. This module
//! gives scanners line breaks past the end, so that such a search ends.
//!
//! tree-sitter has no hook for such limits, so this module copies a grammar and replaces its functions.

use std::cell::Cell;
use std::ffi::{c_char, c_uint, c_void};
use std::mem::MaybeUninit;
use std::sync::OnceLock;

use tree_sitter::Language;
use tree_sitter::ffi::TSLanguage;

use crate::limits::{METER, Meter};
use crate::{LANGUAGES, LanguageId};

/// Size in bytes of the parser's buffer for scanner state (`TREE_SITTER_SERIALIZATION_BUFFER_SIZE` in
/// `tree_sitter/parser.h`).
pub(crate) const STATE_BUFFER_BYTES: usize = 1_024;
/// Upper bound, in bytes, on the state that any scanner writes, with or without its own check. Each scanner stops after
/// the entry that exceeds [`STATE_BUFFER_BYTES`], and an entry has at most 260 bytes.
const MAX_STATE_BYTES: usize = 4_096;

/// Number of times a scanner may advance past the end of a text before it receives artificial characters.
const ADVANCES_BEFORE_LINE_BREAKS: u32 = 16;
/// Number of times it may advance before these are more than line breaks and null characters.
const ADVANCES_BEFORE_ALL_ASCII: u32 = 1_024;

/// Writes the state of a scanner and returns its length in bytes.
pub(crate) type Serialize = unsafe extern "C" fn(*mut c_void, *mut c_char) -> c_uint;
/// Scans for one of the tokens that are valid at this point.
pub(crate) type Scan = unsafe extern "C" fn(*mut c_void, *mut Lexer, *const bool) -> bool;
/// Reads one token, as generated from the grammar.
pub(crate) type Lex = unsafe extern "C" fn(*mut Lexer, u16) -> bool;
type Advance = unsafe extern "C" fn(*mut Lexer, bool);
type Column = unsafe extern "C" fn(*mut Lexer) -> u32;
type AtEnd = unsafe extern "C" fn(*const Lexer) -> bool;
type Pointer = *const c_void;

/// `struct TSLanguage` of ABI 14. The struct of ABI 15 begins with the same fields (`tree_sitter/parser.h`).
#[repr(C)]
#[derive(Clone, Copy)]
struct Abi14 {
    abi_version: u32,
    counts: [u32; 8],
    max_alias_sequence_length: u16,
    tables: [Pointer; 13],
    lex: Option<Lex>,
    keyword_lex: Option<Lex>,
    keyword_capture_token: u16,
    scanner: Scanner,
    primary_state_ids: Pointer,
}

/// `struct TSLanguage` of ABI 15: the fields of ABI 14, followed by new ones.
#[repr(C)]
#[derive(Clone, Copy)]
struct Abi15 {
    abi14: Abi14,
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

/// `struct TSLexer`, through which scanners and lexers read the text.
#[repr(C)]
pub(crate) struct Lexer {
    lookahead: i32,
    result_symbol: u16,
    advance: Advance,
    mark_end: Pointer,
    get_column: Column,
    is_at_included_range_start: Pointer,
    eof: AtEnd,
    log: Pointer,
}

/// The original functions of a grammar. A grammar without keywords or without a scanner lacks some.
#[derive(Clone, Copy)]
struct Originals {
    lex: Option<Lex>,
    keyword_lex: Option<Lex>,
    scan: Option<Scan>,
    serialize: Option<Serialize>,
}

/// The functions that replace those of a grammar.
#[derive(Clone, Copy)]
pub(crate) struct ReplacementFunctions {
    pub(crate) lex: Lex,
    pub(crate) keyword_lex: Lex,
    pub(crate) scan: Scan,
    pub(crate) serialize: Serialize,
}

/// The original functions of each language.
static ORIGINAL_GRAMMAR_FUNCTIONS: [OnceLock<Originals>; LanguageId::COUNT] =
    [const { OnceLock::new() }; LanguageId::COUNT];

/// The original functions of a lexer. They are the same for all lexers.
static LEXER_FUNCTIONS: OnceLock<(Advance, Column, AtEnd)> = OnceLock::new();

thread_local! {
    /// Number of times the running scanner has advanced past the end.
    static ADVANCES_PAST_END: Cell<u32> = const { Cell::new(0) };
}

/// Returns the grammar of a language with functions that stay within their limits. Built once per process.
#[expect(unsafe_code, reason = "a grammar is a struct of a C library")]
pub(crate) fn limited_grammar(id: LanguageId) -> Language {
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
                14 => with_replaced_functions(original.cast::<Abi14>(), id, |grammar| grammar),
                15 => with_replaced_functions(original.cast::<Abi15>(), id, |grammar| &mut grammar.abi14),
                _ => original,
            }
        })
    });
    // SAFETY: the pointer is to a grammar that lives as long as the process.
    unsafe { Language::from_raw(copy.0) }
}

/// Returns a leaked copy of a grammar with its functions replaced.
///
/// # Safety
/// `grammar` must point to a valid grammar with the layout of `T`.
#[expect(unsafe_code, reason = "a grammar is a struct of a C library")]
unsafe fn with_replaced_functions<T: Copy>(
    grammar: *const T,
    id: LanguageId,
    functions: impl Fn(&mut T) -> &mut Abi14,
) -> *const TSLanguage {
    // SAFETY: guaranteed by the caller.
    let mut copy = unsafe { *grammar };
    let Abi14 { lex, keyword_lex, scanner, .. } = functions(&mut copy);
    let originals =
        Originals { lex: *lex, keyword_lex: *keyword_lex, scan: scanner.scan, serialize: scanner.serialize };
    // This is the only call of `set`, and each grammar is copied once.
    let _ = ORIGINAL_GRAMMAR_FUNCTIONS[id.index()].set(originals);
    let replacements = &id.functions;
    *lex = lex.map(|_| replacements.lex);
    *keyword_lex = keyword_lex.map(|_| replacements.keyword_lex);
    scanner.scan = scanner.scan.map(|_| replacements.scan);
    scanner.serialize = scanner.serialize.map(|_| replacements.serialize);
    std::ptr::from_ref(Box::leak(Box::new(copy))).cast()
}

impl ReplacementFunctions {
    pub(crate) const fn for_language<const N: usize>() -> Self {
        Self { lex: lex::<N>, keyword_lex: keyword_lex::<N>, scan: scan::<N>, serialize: serialize::<N> }
    }
}

/// Saves the state of a scanner of the language with index `N`. Saves nothing if the state exceeds its limit.
///
/// # Safety
/// Must be called as the parser does: with a scanner of that language, and a buffer of [`STATE_BUFFER_BYTES`] bytes.
#[expect(unsafe_code, reason = "called by a C library")]
unsafe extern "C" fn serialize<const N: usize>(scanner: *mut c_void, buffer: *mut c_char) -> c_uint {
    let (Some(original), Some(language)) =
        (ORIGINAL_GRAMMAR_FUNCTIONS[N].get().and_then(|originals| originals.serialize), LANGUAGES.get(N))
    else {
        return 0;
    };
    let mut state = MaybeUninit::<[c_char; MAX_STATE_BYTES]>::uninit();
    // SAFETY: no scanner writes more than `MAX_STATE_BYTES` bytes, and the scanner belongs to this language.
    let length = unsafe { original(scanner, state.as_mut_ptr().cast()) };
    if length as usize > language.scanner_state.min(STATE_BUFFER_BYTES) {
        return 0;
    }
    // SAFETY: the original function wrote `length` bytes, and the caller's buffer has space for them.
    unsafe { buffer.copy_from_nonoverlapping(state.as_ptr().cast(), length as usize) };
    length
}

/// Runs the original scanner of the language with index `N` within the limits.
///
/// # Safety
/// Must be called as the parser does: with a scanner of that language, and the parser's lexer.
#[expect(unsafe_code, reason = "called by a C library")]
unsafe extern "C" fn scan<const N: usize>(
    scanner: *mut c_void,
    lexer: *mut Lexer,
    valid_symbols: *const bool,
) -> bool {
    let Some(original) = ORIGINAL_GRAMMAR_FUNCTIONS[N].get().and_then(|originals| originals.scan) else {
        return false;
    };
    // SAFETY: the arguments are the caller's.
    unsafe { limited(lexer, || original(scanner, lexer, valid_symbols)) }
}

/// Runs the original lexer of the language with index `N` within the limits.
///
/// # Safety
/// Must be called as the parser does: with the parser's lexer.
#[expect(unsafe_code, reason = "called by a C library")]
unsafe extern "C" fn lex<const N: usize>(lexer: *mut Lexer, state: u16) -> bool {
    let Some(original) = ORIGINAL_GRAMMAR_FUNCTIONS[N].get().and_then(|originals| originals.lex) else {
        return false;
    };
    // SAFETY: the arguments are the caller's.
    unsafe { limited(lexer, || original(lexer, state)) }
}

/// Runs the original lexer for the keywords of the language with index `N` within the limits.
///
/// # Safety
/// Must be called as the parser does: with the parser's lexer.
#[expect(unsafe_code, reason = "called by a C library")]
unsafe extern "C" fn keyword_lex<const N: usize>(lexer: *mut Lexer, state: u16) -> bool {
    let Some(original) = ORIGINAL_GRAMMAR_FUNCTIONS[N].get().and_then(|originals| originals.keyword_lex)
    else {
        return false;
    };
    // SAFETY: the arguments are the caller's.
    unsafe { limited(lexer, || original(lexer, state)) }
}

/// Runs `read`, which reads from `lexer`. Counts what it reads, and lets the text end when a limit is exceeded.
///
/// # Safety
/// `lexer` must be the parser's.
#[expect(unsafe_code, reason = "called by a C library")]
unsafe fn limited(lexer: *mut Lexer, read: impl FnOnce() -> bool) -> bool {
    if !METER.with(Meter::start_lexer) {
        return false;
    }
    // SAFETY: the lexer belongs to the parser, which lends it for the duration of the call and then continues from its
    // own position.
    unsafe {
        let (advance, column, at_end) =
            *LEXER_FUNCTIONS.get_or_init(|| ((*lexer).advance, (*lexer).get_column, (*lexer).eof));
        ADVANCES_PAST_END.set(0);
        (*lexer).advance = counted_advance;
        (*lexer).get_column = counted_column;
        (*lexer).eof = is_at_end;
        let has_token = read();
        (*lexer).advance = advance;
        (*lexer).get_column = column;
        (*lexer).eof = at_end;
        if ADVANCES_PAST_END.get() > ADVANCES_BEFORE_LINE_BREAKS {
            // At the end of a text, the lookahead of a lexer is 0.
            (*lexer).lookahead = 0;
        }
        METER.with(Meter::end_lexer) && has_token
    }
}

/// Advances by one character, unless a limit is exceeded. Past the end, alternates between line breaks and null
/// characters, and later among all of ASCII in no order, so that no search for a character or a few runs forever.
///
/// # Safety
/// Must be called as a scanner does: with the lexer that it received.
#[expect(unsafe_code, reason = "called by a C library")]
unsafe extern "C" fn counted_advance(lexer: *mut Lexer, skip: bool) {
    let Some((advance, _, at_end)) = LEXER_FUNCTIONS.get() else { return };
    // SAFETY: the caller passes on the lexer that the parser created.
    unsafe {
        if METER.with(|meter| meter.count(1)) {
            advance(lexer, skip);
            if !at_end(lexer) {
                return;
            }
        } else {
            (*lexer).lookahead = 0;
        }
        let advances = ADVANCES_PAST_END.get().saturating_add(1);
        ADVANCES_PAST_END.set(advances);
        (*lexer).lookahead = if advances > ADVANCES_BEFORE_ALL_ASCII {
            // The upper bits of a multiplicative hash (Knuth, volume 3, 6.4).
            i32::from((advances.wrapping_mul(2_654_435_769) >> 25) as u8)
        } else if advances > ADVANCES_BEFORE_LINE_BREAKS && advances.is_multiple_of(2) {
            i32::from(b'\n')
        } else {
            0
        };
    }
}

/// Returns the column. To find it, the lexer may have to read the line again from its start.
///
/// # Safety
/// Must be called as a scanner does: with the lexer that it received.
#[expect(unsafe_code, reason = "called by a C library")]
unsafe extern "C" fn counted_column(lexer: *mut Lexer) -> u32 {
    let Some((_, column, _)) = LEXER_FUNCTIONS.get() else { return 0 };
    METER.with(|meter| {
        let chunks = meter.chunks.get();
        // SAFETY: the caller passes on the lexer that the parser created.
        let column = unsafe { column(lexer) };
        if meter.chunks.get() != chunks {
            meter.count(column.into());
        }
        column
    })
}

/// Whether the text ends, or appears to because a limit is exceeded.
///
/// # Safety
/// Must be called as a scanner does: with the lexer that it received.
#[expect(unsafe_code, reason = "called by a C library")]
unsafe extern "C" fn is_at_end(lexer: *const Lexer) -> bool {
    let Some((_, _, at_end)) = LEXER_FUNCTIONS.get() else { return true };
    // SAFETY: the caller passes on the lexer that the parser created.
    METER.with(Meter::is_stopped) || unsafe { at_end(lexer) }
}
