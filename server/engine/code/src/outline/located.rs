//! Finds the positions of a file's symbols and names in its tree. Outlines store no positions, so that an edit changes
//! little of them. Positions are valid only while the text is unchanged.

use std::ops::Range;

use strata_base::cancel::{Cancel, Cancelled};
use tree_sitter::TreeCursor;

use super::mask::words;
use super::resolve::{self, LocatedSymbol};
use super::source::SourceText;
use super::tables::{OutlineTables, flag};
use super::{SyntaxTree, extract};

/// Number of nodes visited between checks of the cancel flag.
const NODES_PER_CANCEL_CHECK: usize = 4_096;

/// Returns the symbols of a parsed text with their positions, in the order of
/// [`Outline::from_tree`](super::Outline::from_tree). `source` must be the text of the tree.
///
/// # Errors
/// [`Cancelled`] if the flag is raised before the walk finishes.
pub fn locate_symbols(
    tree: &SyntaxTree,
    source: &str,
    cancel: &Cancel,
) -> Result<Vec<LocatedSymbol>, Cancelled> {
    Ok(resolve::located_symbols(extract::walk_tree(tree, SourceText::from_text(source), cancel)?))
}

/// Returns the byte ranges of all occurrences of the identifier `name`, including definitions and names that are hidden
/// from the parser, in order. Strings and comments do not count.
///
/// # Errors
/// [`Cancelled`] if the flag is raised before the search finishes.
pub(crate) fn find_mentions(
    tree: &SyntaxTree,
    source: &str,
    name: &str,
    cancel: &Cancel,
) -> Result<Vec<Range<usize>>, Cancelled> {
    let mut mentions = Vec::new();
    if name.is_empty() {
        return Ok(mentions);
    }
    for hidden in tree.mask().hidden_ranges() {
        let text = source.get(hidden.clone()).unwrap_or_default();
        let ranges = words(text).filter(|word| text.get(word.clone()) == Some(name));
        mentions.extend(ranges.map(|word| hidden.start + word.start..hidden.start + word.end));
    }
    let tables = OutlineTables::for_language(tree.language);
    let mut candidates = source.match_indices(name).map(|(start, _)| start).peekable();
    let mut cursor = tree.root().walk();
    let mut visited = 0_usize;
    while let Some(&start) = candidates.peek() {
        visited += 1;
        if visited.is_multiple_of(NODES_PER_CANCEL_CHECK) {
            cancel.check()?;
        }
        let node = cursor.node();
        let range = node.byte_range();
        if range.start > start {
            // The position is between nodes, or inside a node without a child there.
            candidates.next();
            continue;
        }
        if range.end > start {
            if is_name(tables, &cursor) && range == (start..start + name.len()) {
                mentions.push(range);
                candidates.next();
                continue;
            }
            if cursor.goto_first_child() {
                continue;
            }
        }
        if !goto_following(&mut cursor) {
            break;
        }
    }
    mentions.sort_unstable_by_key(|range| range.start);
    mentions.dedup();
    Ok(mentions)
}

/// Returns the name at a caret position and its byte range: the name that contains `byte`, or else the name
/// that ends there.
pub fn name_at<'a>(tree: &SyntaxTree, source: &'a str, byte: usize) -> Option<(&'a str, Range<usize>)> {
    let range = name_around(tree, byte).or_else(|| name_around(tree, byte.checked_sub(1)?))?;
    Some((source.get(range.clone())?, range))
}

fn name_around(tree: &SyntaxTree, byte: usize) -> Option<Range<usize>> {
    let tables = OutlineTables::for_language(tree.language);
    let mut cursor = tree.root().walk();
    let mut name = None;
    while cursor.goto_first_child_for_byte(byte).is_some() {
        let range = cursor.node().byte_range();
        if !range.contains(&byte) {
            break;
        }
        if is_name(tables, &cursor) {
            name = Some(range);
        }
    }
    name
}

fn is_name(tables: &OutlineTables, cursor: &TreeCursor<'_>) -> bool {
    tables.flags(cursor.node().kind_id()) & flag::NAME_NODE != 0
}

/// Moves to the next node that is not inside the current one. Returns `false` at the end of the tree.
fn goto_following(cursor: &mut TreeCursor<'_>) -> bool {
    loop {
        if cursor.goto_next_sibling() {
            return true;
        }
        if !cursor.goto_parent() {
            return false;
        }
    }
}

#[cfg(test)]
mod tests {
    use strata_grammars::LanguageId;

    use super::super::{Outline, parse};
    use super::*;

    fn tree(language: LanguageId, source: &str) -> SyntaxTree {
        parse(language, source, None, &Cancel::new()).unwrap()
    }

    #[test]
    fn every_symbol_is_located_in_every_fixture() {
        for language in LanguageId::all() {
            let source = language.fixture;
            let tree = tree(language, source);
            let places = locate_symbols(&tree, source, &Cancel::new()).unwrap();
            let outline = Outline::from_tree(&tree, source, &Cancel::new()).unwrap();
            assert!(places.iter().map(|place| &place.symbol).eq(outline.symbols.iter()), "{language}");
            for (index, place) in places.iter().enumerate() {
                assert_eq!(place.index, index);
                let name = &source[place.name_range.clone()];
                let one_line = name.split_whitespace().collect::<Vec<_>>().join(" ");
                assert_eq!(*place.symbol.name, *one_line, "{language}");
                assert!(
                    source.get(place.range.clone()).is_some_and(|text| text.contains(name)),
                    "{language}"
                );
            }
        }
    }

    #[test]
    fn strings_and_comments_are_not_mentions() {
        let python = LanguageId::by_name("python").unwrap();
        let source = "def ab(a):  # ab\n    abc = 'ab'\n    return ab(x.ab, cab) + (ab)\n";
        let tree = tree(python, source);
        let mentions = find_mentions(&tree, source, "ab", &Cancel::new()).unwrap();
        assert_eq!(mentions, [4..6, 43..45, 48..50, 60..62]);
        assert!(find_mentions(&tree, source, "", &Cancel::new()).unwrap().is_empty());
        let cancel = Cancel::new();
        cancel.cancel();
        let long = "f(x)\n".repeat(10_000);
        let long_tree = parse(python, &long, None, &Cancel::new()).unwrap();
        assert_eq!(find_mentions(&long_tree, &long, "x", &cancel), Err(Cancelled));
    }

    /// Compares the results with a check of every leaf, in every language.
    #[test]
    fn every_mention_is_found_at_its_position() {
        for language in LanguageId::all() {
            let source = language.fixture;
            let tree = tree(language, source);
            let outline = Outline::from_tree(&tree, source, &Cancel::new()).unwrap();
            let mut total = 0;
            for name in outline.symbols.iter().map(|symbol| &*symbol.name) {
                let mentions = find_mentions(&tree, source, name, &Cancel::new()).unwrap();
                let mut expected: Vec<_> =
                    source.match_indices(name).map(|(at, _)| at..at + name.len()).collect();
                expected.retain(|range| name_at(&tree, source, range.start) == Some((name, range.clone())));
                assert_eq!(mentions, expected, "{language} {name}");
                total += mentions.len();
            }
            assert!(total > 0 || language.is_document(), "{language}");
        }
    }

    #[test]
    fn a_caret_selects_the_name_around_or_before_it() {
        let rust = LanguageId::by_name("rust").unwrap();
        let source = "fn ab() { cd; \"ef\" }";
        let tree = tree(rust, source);
        let name = |byte| name_at(&tree, source, byte).map(|(name, _)| name);
        assert_eq!([name(3), name(4), name(5), name(12)], [Some("ab"), Some("ab"), Some("ab"), Some("cd")]);
        assert_eq!([name(0), name(6), name(16), name(source.len()), name(1_000)], [None; 5]);
    }
}
