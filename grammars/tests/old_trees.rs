//! Parsing an ambiguous text does not prevent other trees from being parsed incrementally.
#![expect(clippy::unwrap_used, reason = "test support outside of test functions")]

use std::cell::Cell;

use strata_grammars::LanguageId;
use strata_grammars::allocator::use_mimalloc;
use tree_sitter::{InputEdit, Parser, Point, Tree};

/// Parses a text. Returns the tree and the number of bytes that the parser read.
fn parsed(text: &str, old: Option<&Tree>) -> (Tree, usize) {
    let mut parser = Parser::new();
    parser.set_language(&LanguageId::by_name("c").unwrap().grammar()).unwrap();
    let read = Cell::new(0);
    let mut rest = |at: usize, _| {
        let rest = text.as_bytes().get(at..).unwrap_or_default();
        let piece = &rest[..rest.len().min(1_000)];
        read.set(read.get() + piece.len());
        piece
    };
    let tree = parser.parse_with_options(&mut rest, old, None);
    (tree.unwrap(), read.get())
}

#[test]
#[expect(unsafe_code, reason = "must run before anything of tree-sitter's exists")]
fn reparsing_after_an_edit_reads_a_fraction_of_the_text() {
    // SAFETY: nothing of tree-sitter's exists yet.
    unsafe { use_mimalloc() };
    let (ambiguous, _) = parsed(&"let =>".repeat(8_000), None);
    assert!(ambiguous.root_node().has_error());

    let mut text = "int f(void) { return 1; }\n".repeat(4_000);
    let (mut tree, read) = parsed(&text, None);
    assert!(read >= text.len());
    text.replace_range(4..5, "g");
    let (start, end) = (Point::new(0, 4), Point::new(0, 5));
    tree.edit(&InputEdit {
        start_byte: 4,
        old_end_byte: 5,
        new_end_byte: 5,
        start_position: start,
        old_end_position: end,
        new_end_position: end,
    });
    let (_, read) = parsed(&text, Some(&tree));
    assert!(read < text.len() / 4, "{read} of {} bytes", text.len());
}
