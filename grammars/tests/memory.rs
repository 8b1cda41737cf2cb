//! A parser that meets a text with thousands of ways to read it asks for no more memory than it may, and leaves everything
//! else as it was. The only test of its process: the allocator is chosen before anything is allocated.
#![expect(clippy::unwrap_used, reason = "test support outside of test functions")]

use std::fs;
use std::thread;

use strata_grammars::memory::use_mimalloc;
use strata_grammars::{LanguageId, parse};
use tree_sitter::{InputEdit, Parser, Point, Tree};

const LIMIT: usize = 32 << 20;
/// MiB that the process may have held at most, where the system tells.
const MOST: u64 = 256;

fn parsed(parser: Parser, text: &str, old: Option<&Tree>, limit: usize) -> (Parser, Option<Tree>) {
    let c = LanguageId::by_name("c").unwrap();
    let mut parser = parser;
    parser.set_language(&c.grammar()).unwrap();
    parse(parser, &|at| text.as_bytes().get(at..).unwrap_or_default(), old, &mut || false, limit)
}

/// A tree of the first text, told that the second stands behind it now.
fn grown(tree: &Tree, text: &str, added: &str) -> Tree {
    let mut tree = tree.clone();
    let end = Point::new(text.lines().count(), 0);
    tree.edit(&InputEdit {
        start_byte: text.len(),
        old_end_byte: text.len(),
        new_end_byte: text.len() + added.len(),
        start_position: end,
        old_end_position: end,
        new_end_position: Point::new(end.row, added.len()),
    });
    tree
}

/// KiB, where the system tells: what the process holds (`VmRSS`), or has held at most (`VmHWM`).
fn memory(field: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

#[test]
#[expect(unsafe_code, reason = "what makes it safe is to do it first")]
fn a_text_with_thousands_of_ways_to_read_it_is_given_up() {
    // SAFETY: nothing of tree-sitter's was made yet.
    unsafe { use_mimalloc() };
    // In fifty kilobytes of it a parser takes more than ten gigabytes.
    let hostile = "let =>".repeat(8_000);
    let ordinary = "int f(void) { return 1; }\n".repeat(100);
    let mut parser = Parser::new();
    let mut kept: Vec<Tree> = Vec::new();
    for _ in 0..5 {
        let (back, tree) = parsed(parser, &ordinary, None, LIMIT);
        kept.extend(tree);
        let (back, tree) = parsed(back, &hostile, None, LIMIT);
        assert!(tree.is_none());
        // The same behind what was read before.
        let old = grown(kept.last().unwrap(), &ordinary, &hostile);
        let (back, tree) = parsed(back, &format!("{ordinary}{hostile}"), Some(&old), LIMIT);
        assert!(tree.is_none());
        parser = back;
    }
    assert_eq!(kept.len(), 5);
    let first = kept[0].root_node().to_sexp();
    assert!(first.starts_with("(translation_unit (function_definition"), "{first}");
    // Trees outlive the thread that made them.
    thread::spawn(move || {
        assert!(kept.iter().all(|tree| tree.root_node().to_sexp() == first));
    })
    .join()
    .unwrap();
    if let Some(most) = memory("VmHWM") {
        assert!(most < MOST << 10, "{most} KiB");
    }
    // Whoever has a large text parsed anew each time, and then the hostile one put behind it, makes old trees be lost; after some
    // of them no more are.
    let large = "int f(void) { return 1; }\n".repeat(16_000);
    let rounds = |parser: Parser| {
        (0..20).fold(parser, |parser, _| {
            let (parser, tree) = parsed(parser, &large, None, 16 * LIMIT);
            let old = grown(&tree.unwrap(), &large, &hostile);
            let (parser, tree) = parsed(parser, &format!("{large}{hostile}"), Some(&old), LIMIT);
            assert!(tree.is_none());
            parser
        })
    };
    let parser = rounds(parser);
    let before = memory("VmRSS");
    rounds(parser);
    if let (Some(before), Some(after)) = (before, memory("VmRSS")) {
        assert!(after < before + (32 << 10), "{before} to {after} KiB");
    }
}
