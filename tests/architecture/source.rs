//! Splits Rust source into tokens, without comments and literals, and lists the paths in it. Does not resolve
//! paths, but expands the groups of a `use`.

use tree_sitter::{Node, Parser, Tree};

/// A token with its line number, starting at 1.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Token<'a> {
    pub(crate) text: &'a str,
    pub(crate) line: usize,
}

/// A path such as `std::fs::read`, with its line number.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PathUse {
    pub(crate) path: Vec<String>,
    pub(crate) line: usize,
}

impl PathUse {
    /// Whether the path is `prefix` (written with `::`) or begins with it.
    pub(crate) fn is_below(&self, prefix: &str) -> bool {
        let prefix: Vec<&str> = prefix.split("::").collect();
        self.path.len() >= prefix.len() && self.path.iter().zip(&prefix).all(|(own, wanted)| own == wanted)
    }

    pub(crate) fn text(&self) -> String {
        self.path.join("::")
    }
}

pub(crate) fn parse(text: &str) -> Tree {
    let mut parser = Parser::new();
    parser
        .set_language(&tree_sitter_rust::LANGUAGE.into())
        .expect("the grammar is compatible with the library");
    parser.parse(text, None).expect("parsing was not cancelled")
}

/// Returns the tokens of a source file in order.
pub(crate) fn tokens(text: &str) -> Vec<Token<'_>> {
    let tree = parse(text);
    let mut found = Vec::new();
    collect(tree.root_node(), text, &mut found);
    found
}

/// Returns the tokens of a node.
pub(crate) fn tokens_of<'a>(node: Node<'_>, text: &'a str) -> Vec<Token<'a>> {
    let mut found = Vec::new();
    collect(node, text, &mut found);
    found
}

/// Returns every path in a source file, including those in macros.
pub(crate) fn paths(text: &str) -> Vec<PathUse> {
    let tokens = tokens(text);
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at].text == "use" {
            at = use_tree(&tokens, at + 1, &[], &mut found);
        } else if is_word(tokens[at].text) {
            let (path, next) = chain(&tokens, at);
            if path.len() > 1 {
                found.push(PathUse { path, line: tokens[at].line });
            }
            at = next;
        } else {
            at += 1;
        }
    }
    found
}

/// Parses one branch of a `use` from index `at`, and returns its end.
fn use_tree(tokens: &[Token<'_>], mut at: usize, prefix: &[String], found: &mut Vec<PathUse>) -> usize {
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text);
    if text(at) == "::" {
        at += 1;
    }
    let line = tokens.get(at).map_or(0, |token| token.line);
    let (own, mut at) = if is_word(text(at)) { chain(tokens, at) } else { (Vec::new(), at) };
    let mut path = prefix.to_vec();
    path.extend(own.into_iter().filter(|part| part != "self"));
    if text(at) == "::" {
        at += 1;
    }
    if text(at) == "{" {
        at += 1;
        while !matches!(text(at), "}" | "") {
            at = use_tree(tokens, at, &path, found);
            if text(at) == "," {
                at += 1;
            }
        }
        return at + 1;
    }
    found.push(PathUse { path, line });
    // Skip `*` or `as name`.
    while !matches!(text(at), "," | "}" | ";" | "") {
        at += 1;
    }
    at
}

/// Parses words joined by `::` from index `at`. Returns them and the end.
fn chain(tokens: &[Token<'_>], mut at: usize) -> (Vec<String>, usize) {
    let mut path = vec![tokens[at].text.to_owned()];
    at += 1;
    while let [joint, word, ..] = &tokens[at..]
        && joint.text == "::"
        && is_word(word.text)
    {
        path.push(word.text.to_owned());
        at += 2;
    }
    (path, at)
}

fn is_word(text: &str) -> bool {
    text.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

fn collect<'a>(node: Node<'_>, text: &'a str, found: &mut Vec<Token<'a>>) {
    match node.kind() {
        "line_comment" | "block_comment" | "string_literal" | "raw_string_literal" | "char_literal" => return,
        _ => {}
    }
    if node.child_count() == 0 {
        let line = node.start_position().row + 1;
        if let Some(text) = text.get(node.byte_range()).filter(|text| !text.is_empty()) {
            found.push(Token { text, line });
        }
        return;
    }
    let mut cursor = node.walk();
    node.children(&mut cursor).for_each(|child| collect(child, text, found));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str) -> Vec<String> {
        paths(text).iter().map(PathUse::text).collect()
    }

    #[test]
    fn groups_are_taken_apart() {
        let text = "use std::{fs, io::{self, Read as R}, sync::*};\npub use crate::a::B;";
        assert_eq!(named(text), ["std::fs", "std::io", "std::io::Read", "std::sync", "crate::a::B"]);
    }

    #[test]
    fn paths_in_passing_and_inside_macros_count() {
        let text = "fn f() -> std::fs::File { log!(\"{}\", std::env::var(\"A\")); ::tokio::spawn::<T>() }";
        assert_eq!(named(text), ["std::fs::File", "std::env::var", "tokio::spawn"]);
    }

    #[test]
    fn comments_and_literals_do_not() {
        let text = "//! std::fs\n/// [`std::env`]\nconst A: &str = \"std::net\"; /* std::process */";
        assert_eq!(named(text), [""; 0]);
    }

    #[test]
    fn lines_are_reported() {
        assert_eq!(paths("\n\nuse std::fs;")[0].line, 3);
        assert!(paths("use std::fs::read;")[0].is_below("std::fs"));
        assert!(!paths("use std::fsx;")[0].is_below("std::fs"));
    }
}
