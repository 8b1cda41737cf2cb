//! A text with thousands of ways to read it takes a bounded amount of memory, and leaves everything else as it was. The only test
//! of its process: it measures what the process holds.
#![expect(clippy::unwrap_used, reason = "test support outside of test functions")]

use std::{fs, thread};

use strata_grammars::LanguageId;
use strata_grammars::allocator::use_mimalloc;
use tree_sitter::{InputEdit, Parser, Point, Tree};

/// MiB that the process may have held at most, where the system tells.
const MOST: u64 = 256;

fn parsed(parser: &mut Parser, text: &str, old: Option<&Tree>) -> Tree {
    parser.set_language(&LanguageId::by_name("c").unwrap().grammar()).unwrap();
    let tree = parser.parse(text, old).unwrap();
    assert_eq!(tree.root_node().end_byte(), text.len());
    tree
}

/// A tree of the first text, told that the second follows it now.
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
fn a_text_with_thousands_of_ways_to_read_it_takes_little_memory() {
    // SAFETY: nothing of tree-sitter's was made yet.
    unsafe { use_mimalloc() };
    // In fifty kilobytes of it a parser that collects all ways takes more than ten gigabytes.
    let hostile = "let =>".repeat(8_000);
    let ordinary = "int f(void) { return 1; }\n".repeat(100);
    let mut parser = Parser::new();
    let mut kept: Vec<Tree> = Vec::new();
    for _ in 0..5 {
        kept.push(parsed(&mut parser, &ordinary, None));
        assert!(parsed(&mut parser, &hostile, None).root_node().has_error());
        // The same after what was read before.
        let old = grown(kept.last().unwrap(), &ordinary, &hostile);
        assert!(parsed(&mut parser, &format!("{ordinary}{hostile}"), Some(&old)).root_node().has_error());
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
    // Nothing is lost when a large text is parsed again each time, and then the hostile one put after it.
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
