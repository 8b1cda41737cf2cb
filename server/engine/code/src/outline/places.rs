//! Looks up the definitions of one file by qualified name, and lists them with line numbers. Used for answers about the
//! current file. Prompts contain map blocks instead, which have no line numbers.

use std::fmt::Write as _;

use strata_base::text::LineStarts;

use super::qualified::{QualifiedNameTracker, name_parts};
use super::{LocatedSymbol, SymbolKind};

/// Maximum indentation, in levels.
const MAX_INDENT_LEVELS: usize = 12;

/// How well a definition matches a qualified name. A smaller value is closer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum NameMatchQuality {
    /// The name as outlines show it, with all containers.
    Shown,
    /// The parts of the whole name, without type arguments and quotes.
    Parts,
    /// The end of the name as outlines show it.
    ShownEnd,
    /// The last parts of the name.
    End,
}

/// Returns the definitions that match a qualified name, in source order: those whose name with containers is `name` or
/// ends with it. Only the closest matches are returned. A type takes precedence over its implementations.
pub fn find_definitions<'a>(places: &'a [LocatedSymbol], name: &str) -> Vec<&'a LocatedSymbol> {
    let query_parts = name_parts(name);
    let Some(last_part) = query_parts.last() else { return Vec::new() };
    let mut matches = Vec::new();
    let mut names = QualifiedNameTracker::default();
    for place in places {
        names.enter(&place.symbol);
        // A cheap check rules out nearly all definitions.
        if !place.symbol.name.contains(last_part) {
            continue;
        }
        let dotted_name = names.dotted_name();
        let parts = names.parts();
        let prefix = dotted_name.strip_suffix(name);
        let name_match = if dotted_name == name {
            NameMatchQuality::Shown
        } else if parts == query_parts {
            NameMatchQuality::Parts
        } else if prefix.is_some_and(|prefix| prefix.ends_with('.')) {
            NameMatchQuality::ShownEnd
        } else if names.ends_with(&query_parts) {
            NameMatchQuality::End
        } else {
            continue;
        };
        matches.push((name_match, place));
    }
    let closest = matches.iter().map(|(name_match, _)| *name_match).min();
    let mut matches: Vec<&LocatedSymbol> = matches
        .into_iter()
        .filter(|(name_match, _)| Some(*name_match) == closest)
        .map(|(_, place)| place)
        .collect();
    let is_impl = |place: &&LocatedSymbol| place.symbol.kind == SymbolKind::Impl;
    if matches.iter().any(|place| !is_impl(place)) {
        matches.retain(|place| !is_impl(place));
    }
    matches
}

/// Renders the outline of a file, one definition per line: line numbers, then the head, indented by one space
/// per level. Omits definitions inside functions.
pub fn numbered_outline(places: &[LocatedSymbol], lines: &LineStarts) -> String {
    let mut text = String::new();
    let mut function_depth = None;
    for LocatedSymbol { symbol, range, .. } in places {
        if function_depth.is_some_and(|depth| symbol.depth > depth) {
            continue;
        }
        function_depth = symbol.kind.is_function().then_some(symbol.depth);
        let indent = (symbol.depth as usize).min(MAX_INDENT_LEVELS);
        let (first, last) = lines.line_range(range);
        let _ = write!(text, "{:indent$}{first}", "");
        if last > first {
            let _ = write!(text, "-{last}");
        }
        let _ = writeln!(text, " {}", symbol.head);
    }
    text
}

#[cfg(test)]
mod tests {
    use strata_base::cancel::Cancel;
    use strata_grammars::LanguageId;

    use super::super::{locate_symbols, parse};
    use super::*;

    const SOURCE: &str = "\
LIMIT = 3

class View:
    name = 'x'

    def answer(self):
        def local():
            pass
        return local

class Form:
    def answer(self, value):
        return value

def answer():
    pass
";

    fn places() -> Vec<LocatedSymbol> {
        let python = LanguageId::by_name("python").unwrap();
        let tree = parse(python, SOURCE, None, &Cancel::new()).unwrap();
        locate_symbols(&tree, SOURCE, &Cancel::new()).unwrap()
    }

    #[test]
    fn a_dotted_name_matches_the_end_of_qualified_names() {
        let places = places();
        let lines = LineStarts::new(SOURCE);
        let found = |name: &str| -> Vec<(u32, u32)> {
            find_definitions(&places, name).iter().map(|place| lines.line_range(&place.range)).collect()
        };
        assert_eq!(found("View.answer"), [(6, 9)]);
        assert_eq!(found("View::answer"), [(6, 9)]);
        assert_eq!(found("answer"), [(15, 16)], "no nested definitions");
        assert_eq!(found("name"), [(4, 4)]);
        assert_eq!(found("Form"), [(11, 13)]);
        assert_eq!(found("Form.name"), []);
        assert_eq!(found(""), []);
        assert_eq!(found("."), []);
        assert_eq!(found("Form.answer"), [(12, 13)]);
    }

    #[test]
    fn a_name_matches_the_type_rather_than_its_implementation() {
        let rust = LanguageId::by_name("rust").unwrap();
        let source = "struct Till;\n\nimpl Till {\n    fn pay(&self) {}\n}\n";
        let tree = parse(rust, source, None, &Cancel::new()).unwrap();
        let places = locate_symbols(&tree, source, &Cancel::new()).unwrap();
        let lines = LineStarts::new(source);
        let found = |name: &str| -> Vec<(u32, u32)> {
            find_definitions(&places, name).iter().map(|place| lines.line_range(&place.range)).collect()
        };
        assert_eq!(found("Till"), [(1, 1)]);
        assert_eq!(found("Till::pay"), [(4, 4)]);
    }

    #[test]
    fn a_numbered_outline_has_the_lines_of_each_definition() {
        let expected = "\
1 LIMIT = 3
3-9 class View
 4 name = 'x'
 6-9 def answer(self)
11-13 class Form
 12-13 def answer(self, value)
15-16 def answer()
";
        let outline = numbered_outline(&places(), &LineStarts::new(SOURCE));
        let plain = |text: &str| {
            text.lines()
                .map(|line| line.trim_start().split(' ').next().map(str::to_owned))
                .collect::<Vec<_>>()
        };
        assert_eq!(plain(&outline), plain(expected), "{outline}");
        assert!(outline.contains("\n 12-13 ") && outline.contains("answer(self, value)"), "{outline}");
        assert!(!outline.contains("local"), "{outline}");
    }
}
