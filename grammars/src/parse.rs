//! A parse that may be stopped, and that may take so much memory and no more.

use std::ffi::{c_char, c_void};
use std::ptr::null;
use std::sync::atomic::{AtomicUsize, Ordering};

use tree_sitter::ffi::{
    TSInput, TSInputEncodingUTF8, TSParseOptions, TSParseState, TSParser, TSPoint, TSTree,
};
use tree_sitter::{Parser, Tree};

use crate::memory::{TooMuch, lost, within};

/// So much may be lost before each parse has a heap of its own. With one for each of them trees that are kept hold more pages
/// than they fill, so it is not done before somebody meets with texts that are made for it.
const MAY_BE_LOST: usize = 64 << 20;
/// Bytes that a parse which begins with an old tree shares even then: few nodes of its tree are new.
const SHARED: usize = 1 << 20;
/// Once parses that began with an old tree have lost so much none begins with one any more, since that is lost with it.
const MOST_LOST_WITH_OLD: usize = 4 * MAY_BE_LOST;
/// Bytes of memory that a tree takes for each byte of its text: 25 for ordinary sources, so somewhat more is counted.
const TREE: usize = 32;

/// Bytes that were lost by parses which began with an old tree, beyond what others would have lost.
static LOST_WITH_OLD: AtomicUsize = AtomicUsize::new(0);

/// Gives the text from an offset on, or the start of it; nothing at its end.
pub type Rest<'t> = dyn Fn(usize) -> &'t [u8] + 't;

// tree-sitter's own declaration lets nothing unwind. Nothing in this crate may call what uses that one: a compiler that sees both takes
// one of them for both.
#[expect(unsafe_code, reason = "a function of a C library")]
unsafe extern "C-unwind" {
    fn ts_parser_parse_with_options(
        parser: *mut TSParser,
        old: *const TSTree,
        input: TSInput,
        options: TSParseOptions,
    ) -> *mut TSTree;
}

/// Parses a text. There is no tree when `stop` said so, or when it takes more than `memory` bytes, where mimalloc
/// [is in use](crate::memory::use_mimalloc). The parser that comes back is as good as the one that went in; after too much
/// memory it is a new one, without a language.
#[expect(unsafe_code, reason = "the parser is a C library's")]
pub fn parse(
    parser: Parser,
    rest: &Rest<'_>,
    old: Option<&Tree>,
    mut stop: &mut dyn FnMut() -> bool,
    memory: usize,
) -> (Parser, Option<Tree>) {
    let parser = parser.into_raw();
    let old = old.filter(|_| LOST_WITH_OLD.load(Ordering::Relaxed) < MOST_LOST_WITH_OLD);
    let shared = match old {
        _ if lost() < MAY_BE_LOST => memory / 2,
        Some(_) => SHARED,
        None => 0,
    };
    // The parser that is left alone keeps hold of all of the old tree.
    let held = old.map_or(0, |old| SHARED + TREE * old.root_node().end_byte());
    let old = old.map(|old| old.clone().into_raw());
    let mut text = rest;
    let input = TSInput {
        payload: (&raw mut text).cast(),
        read: Some(read),
        encoding: TSInputEncodingUTF8,
        decode: None,
    };
    let options = TSParseOptions { payload: (&raw mut stop).cast(), progress_callback: Some(progress) };
    let old_pointer = old.map_or(null(), <*mut TSTree>::cast_const);
    // SAFETY: all that the pointers lead to lives until it returns. After an error the parser is left alone.
    let parsed = unsafe {
        within(memory, shared, || ts_parser_parse_with_options(parser, old_pointer, input, options))
    };
    // SAFETY: it is the one from above, and was only read.
    drop(old.map(|old| unsafe { Tree::from_raw(old) }));
    match parsed {
        Ok(tree) => {
            // SAFETY: the one from above.
            let mut parser = unsafe { Parser::from_raw(parser) };
            // After a stop it would take the next text for the rest of this one.
            parser.reset();
            // SAFETY: what is not null is a new tree.
            (parser, (!tree.is_null()).then(|| unsafe { Tree::from_raw(tree) }))
        }
        Err(TooMuch) => {
            LOST_WITH_OLD.fetch_add(held, Ordering::Relaxed);
            (Parser::new(), None)
        }
    }
}

#[expect(unsafe_code, reason = "called by a C library")]
unsafe extern "C" fn read(text: *mut c_void, at: u32, _: TSPoint, bytes: *mut u32) -> *const c_char {
    // SAFETY: `parse` has put it there.
    let rest = unsafe { *text.cast::<&Rest<'_>>() };
    let text = rest(at as usize);
    let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
    // SAFETY: there is room for a number.
    unsafe { *bytes = length };
    text.as_ptr().cast()
}

#[expect(unsafe_code, reason = "called by a C library")]
unsafe extern "C" fn progress(state: *mut TSParseState) -> bool {
    // SAFETY: `parse` has put it there.
    let stop = unsafe { &mut *(*state).payload.cast::<&mut dyn FnMut() -> bool>() };
    stop()
}
