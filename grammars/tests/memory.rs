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

fn parsed(parser: Parser, text: &str, old: Option<&Tree>) -> (Parser, Option<Tree>) {
    let c = LanguageId::by_name("c").unwrap();
    let mut parser = parser;
    parser.set_language(&c.grammar()).unwrap();
    parse(parser, &|at| text.as_bytes().get(at..).unwrap_or_default(), old, &mut || false, LIMIT)
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
        let (back, tree) = parsed(parser, &ordinary, None);
        kept.extend(tree);
        let (back, tree) = parsed(back, &hostile, None);
        assert!(tree.is_none());
        // The same behind what was read before.
        let mut old = kept.last().unwrap().clone();
        let (both, end) = (format!("{ordinary}{hostile}"), Point::new(100, 0));
        let added = both.len() - ordinary.len();
        old.edit(&InputEdit {
            start_byte: ordinary.len(),
            old_end_byte: ordinary.len(),
            new_end_byte: both.len(),
            start_position: end,
            old_end_position: end,
            new_end_position: Point::new(100, added),
        });
        let (back, tree) = parsed(back, &both, Some(&old));
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
    if let Ok(status) = fs::read_to_string("/proc/self/status") {
        let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
        let most: u64 = most.unwrap().trim().parse().unwrap();
        assert!(most < MOST << 10, "{most} KiB");
    }
}
