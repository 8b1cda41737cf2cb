//! Parsing a text with thousands of interpretations takes a bounded amount of memory and does not affect other
//! trees. This is the only test of its process, because it measures the memory of the process.
#![expect(clippy::unwrap_used, reason = "test support outside of test functions")]

use std::{fs, thread};

use strata_grammars::LanguageId;
use strata_grammars::allocator::use_mimalloc;
use tree_sitter::{InputEdit, Parser, Point, Tree};

/// Maximum peak memory of the process in MiB, checked where the system reports it.
const MAX_PEAK_MIB: u64 = 256;

fn parsed(parser: &mut Parser, text: &str, old: Option<&Tree>) -> Tree {
    parser.set_language(&LanguageId::by_name("c").unwrap().grammar()).unwrap();
    let tree = parser.parse(text, old).unwrap();
    assert_eq!(tree.root_node().end_byte(), text.len());
    tree
}

/// Returns the tree of `text`, edited as if `added` had been appended.
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

/// Returns a memory figure of the process in KiB, if the system reports it: the current (`VmRSS`) or the peak
/// (`VmHWM`) memory.
fn memory(field: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

#[test]
#[expect(unsafe_code, reason = "must run before anything of tree-sitter's exists")]
fn a_text_with_thousands_of_ways_to_read_it_takes_little_memory() {
    // SAFETY: nothing of tree-sitter's exists yet.
    unsafe { use_mimalloc() };
    // For 50 KB of this text, a parser that collects all interpretations takes more than 10 GB.
    let hostile = "let =>".repeat(8_000);
    let ordinary = "int f(void) { return 1; }\n".repeat(100);
    let mut parser = Parser::new();
    let mut trees: Vec<Tree> = Vec::new();
    for _ in 0..5 {
        trees.push(parsed(&mut parser, &ordinary, None));
        assert!(parsed(&mut parser, &hostile, None).root_node().has_error());
        // Parse the same text after an ordinary one.
        let old = grown(trees.last().unwrap(), &ordinary, &hostile);
        assert!(parsed(&mut parser, &format!("{ordinary}{hostile}"), Some(&old)).root_node().has_error());
    }
    assert_eq!(trees.len(), 5);
    let first = trees[0].root_node().to_sexp();
    assert!(first.starts_with("(translation_unit (function_definition"), "{first}");
    // Trees outlive the thread that created them.
    thread::spawn(move || {
        assert!(trees.iter().all(|tree| tree.root_node().to_sexp() == first));
    })
    .join()
    .unwrap();
    if let Some(peak) = memory("VmHWM") {
        assert!(peak < MAX_PEAK_MIB << 10, "{peak} KiB");
    }
    // Memory does not grow if a large text is repeatedly parsed and then extended by the hostile one.
    let large = "int f(void) { return 1; }\n".repeat(16_000);
    let mut rounds = || {
        for _ in 0..6 {
            let old = grown(&parsed(&mut parser, &large, None), &large, &hostile);
            assert!(parsed(&mut parser, &format!("{large}{hostile}"), Some(&old)).root_node().has_error());
        }
    };
    rounds();
    let before = memory("VmRSS");
    rounds();
    if let (Some(before), Some(after)) = (before, memory("VmRSS")) {
        assert!(after < before + (32 << 10), "{before} to {after} KiB");
    }
}
