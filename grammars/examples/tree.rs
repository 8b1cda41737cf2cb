//! Prints the syntax tree of a file as queries see it. Useful before writing `outline.scm`:
//! `cargo run -p strata-grammars --example tree -- path/to/file [language]`

#![expect(clippy::print_stdout, reason = "the example prints its result")]

use std::error::Error;
use std::{env, fs};

use strata_grammars::LanguageId;
use tree_sitter::Parser;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let path = arguments.next().ok_or("expected a file")?;
    let source = fs::read_to_string(&path)?;
    let language = match arguments.next() {
        Some(name) => LanguageId::by_name(&name),
        None => LanguageId::by_path(&path, source.lines().next().unwrap_or_default()),
    };
    let mut parser = Parser::new();
    parser.set_language(&language.ok_or("unknown language")?.grammar())?;
    let tree = parser.parse(&source, None).ok_or("the file was not parsed")?;

    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        let field = cursor.field_name().map(|field| format!("{field}: ")).unwrap_or_default();
        let indent = "  ".repeat(cursor.depth() as usize);
        let text = source.get(node.byte_range()).unwrap_or_default();
        let leaf = node.child_count() == 0 && text != node.kind();
        let text = if leaf { format!(" {text:?}") } else { String::new() };
        let kind = if node.is_named() { node.kind().to_owned() } else { format!("{:?}", node.kind()) };
        println!("{indent}{field}{kind}{text}");
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return Ok(());
            }
        }
    }
}
