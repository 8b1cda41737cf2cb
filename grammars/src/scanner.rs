//! Keeps what a grammar's scanner remembers within the room that the parser has for it.
//!
//! Scanners written by hand (indentation, here-documents) save their state behind each token. The parser has
//! 1,024 bytes for that, and ends the process when a scanner has written more, as those of Python, Ruby and YAML do: 254
//! dashes in a row are enough. Others end it themselves when they read back what they wrote too short. Here a scanner that
//! remembers too much forgets all of it instead, which is what most of them do by themselves: the rest of such a text is
//! misread.
//!
//! tree-sitter has no way to say this, so a grammar is copied with one function exchanged.

use std::ffi::{c_char, c_uint, c_void};
use std::mem::MaybeUninit;
use std::sync::OnceLock;

use tree_sitter::Language;
use tree_sitter::ffi::TSLanguage;

use crate::{LANGUAGES, LanguageId};

/// What the parser has room for (`TREE_SITTER_SERIALIZATION_BUFFER_SIZE` in `tree_sitter/parser.h`), in bytes.
pub(crate) const ROOM: usize = 1_024;
/// More than any scanner writes, checked or not: each stops after an entry that crosses [`ROOM`], and an entry is no
/// longer than 260 bytes.
const MOST: usize = 4_096;

/// Writes the state of a scanner and says how long it is.
pub(crate) type Serialize = unsafe extern "C" fn(*mut c_void, *mut c_char) -> c_uint;
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

/// What ABI 15 added.
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
    scan: Pointer,
    serialize: Option<Serialize>,
    deserialize: Pointer,
}

/// How the scanners save their states, by language, for those that were exchanged.
static ORIGINALS: [OnceLock<Serialize>; LanguageId::COUNT] = [const { OnceLock::new() }; LanguageId::COUNT];

/// The grammar of a language with a scanner that stays within its limit; made once, and the same from then on.
#[expect(unsafe_code, reason = "a grammar is a struct of a C library")]
pub(crate) fn bounded(id: LanguageId) -> Language {
    /// A pointer to something that nobody writes to.
    struct Shared(*const TSLanguage);
    // SAFETY: what it points to is never written again.
    unsafe impl Send for Shared {}
    // SAFETY: the same.
    unsafe impl Sync for Shared {}
    static COPIES: [OnceLock<Shared>; LanguageId::COUNT] = [const { OnceLock::new() }; LanguageId::COUNT];

    let copy = COPIES[id.index()].get_or_init(|| {
        let language = id.language();
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

/// A copy of a grammar, for good, with the function exchanged; the grammar itself when it has none.
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
    let Some(serialize) = &mut scanner(&mut copy).serialize else { return grammar.cast() };
    let _: Result<(), Serialize> = ORIGINALS[id.index()].set(*serialize);
    *serialize = id.language().serialize;
    std::ptr::from_ref(Box::leak(Box::new(copy))).cast()
}

/// Saves the state of a scanner of the language with index `N`: nothing of it, when that is more than its limit.
///
/// # Safety
/// As the parser calls it: with a scanner of that language, and [`ROOM`] bytes to write to.
#[expect(unsafe_code, reason = "called by a C library")]
pub(crate) unsafe extern "C" fn serialize<const N: usize>(scanner: *mut c_void, room: *mut c_char) -> c_uint {
    let (Some(original), Some(language)) = (ORIGINALS[N].get(), LANGUAGES.get(N)) else { return 0 };
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
