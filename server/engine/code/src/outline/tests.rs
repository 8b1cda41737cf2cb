//! Checks the outline of each language's fixture, and properties that hold for any text.

use std::fmt::Write as _;

use expect_test::{Expect, ExpectFile, expect, expect_file};
use proptest::prelude::*;
use proptest::sample::Index;
use ropey::Rope;
use strata_base::key::FileKey;
use strata_grammars::LanguageId;

use super::mask::ParseMask;
use super::tree::{parse_with_limit, text_reader};
use super::work::WorkLimit;
use super::*;

fn outline(language: &str, source: &str) -> Outline {
    Outline::read(LanguageId::by_name(language).unwrap(), source, &Cancel::new()).unwrap()
}

fn block(path: &str, source: &str) -> MapBlock {
    let language = LanguageId::by_path(path, "").unwrap();
    let outline = Outline::read(language, source, &Cancel::new()).unwrap();
    map_block(language, &FileKey::from(path), &outline)
}

fn assert_block(path: &str, source: &str, expected: &Expect) {
    expected.assert_eq(&block(path, source).text);
}

fn describe(outline: &Outline) -> String {
    let mut text = String::new();
    for symbol in outline.symbols.iter() {
        let indent = "  ".repeat(symbol.depth as usize);
        let scope = if symbol.scope == SymbolPurpose::Tests { " (tests)" } else { "" };
        let _ = writeln!(text, "{indent}{:?} {}{scope}: {}", symbol.kind, symbol.name, symbol.head);
        for attribute in symbol.attributes.iter() {
            let _ = writeln!(text, "{indent}  attribute {attribute}");
        }
        if !symbol.instance.is_empty() {
            let _ = writeln!(text, "{indent}  instance {:?}", symbol.instance);
        }
    }
    let _ = writeln!(text, "imports {:?}", outline.imports);
    let _ = writeln!(text, "references {:?}", outline.references);
    let _ = writeln!(text, "tests {}", outline.tests);
    text
}

fn expected(language: LanguageId) -> ExpectFile {
    expect_file![format!("../../../../../grammars/{language}/outline.txt")]
}

/// `UPDATE_EXPECT=1` rewrites the expected files.
#[test]
fn every_fixture_has_its_expected_outline_and_block() {
    for language in LanguageId::all() {
        let outline = Outline::read(language, language.fixture, &Cancel::new()).unwrap();
        let block = map_block(language, &FileKey::from("src/fixture"), &outline);
        expected(language).assert_eq(&format!("{}\n{}", describe(&outline), block.text));
    }
}

#[test]
fn broken_code_yields_the_definitions_that_can_be_recognized() {
    assert_block(
        "a.py",
        "import os\nclass A(:\n    def f(self, x):\n        return x +\n\ndef whole(a): pass\nclass B:\n    y = \n",
        &expect![[r#"
            a.py
             imports os
             class A
              def f(self, x)
             def whole(a)
             class B
             … unparsed lines 2, 8
        "#]],
    );
    assert_block(
        "a.rs",
        "use std::io;\nfn broken(x: u32 -> {\nstruct Whole { a: u32 }\nimpl Whole { fn f(&self) { let }\n}",
        &expect![[r#"
            a.rs
             imports std::io
             struct Whole
              a: u32
             impl Whole
              fn f(&self)
             … unparsed lines 2
        "#]],
    );
    assert_block(
        "a.ts",
        "class A { f(a: number) { return ) }\n g() {}\n}\nfunction whole(a: string) {",
        &expect![[r#"
            a.ts
             class A
              f(a: number)
              g()
             … unparsed lines 4
        "#]],
    );
}

#[test]
fn a_test_file_is_shown_as_counts() {
    assert_block(
        "tests/test_a.py",
        "import x\nclass T:\n    def test_a(self): ...\n    def test_b(self): ...\ndef helper(): ...\n",
        &expect![[r#"
            tests/test_a.py: 2 tests, 1 type, 1 function
        "#]],
    );
    assert_block(
        "tests/__init__.py",
        "",
        &expect![[r#"
        tests/__init__.py
    "#]],
    );
}

#[test]
fn names_and_literals_cannot_break_lines_of_a_block() {
    assert_block(
        "a\n def evil(): pass.py",
        "def f(x='''a\n def evil(): pass''', y=\"\\n\"): pass\nclass A(B,\n   # comment (\n   C): pass\n",
        &expect![[r#"
            a\u{a} def evil()\u{3a} pass.py
             def f(x='''a  def evil(): pass…', y="\n")
             class A(B, C)
        "#]],
    );
}

#[test]
fn a_repeated_function_signature_is_shown_once() {
    assert_block(
        "a.c",
        "int f(int a);\nint g(void);\nstruct s { int f; };\n#if X\n#define M(x) x\nint f(int a) { return M(a); }\n\
         #else\n#define M(x)\nint f(int a, int b) { return 1; }\n#endif\n",
        &expect![[r#"
            a.c
             int f(int a)
             int g(void)
             struct s
              int f
             #define M(x)
             int f(int a, int b)
        "#]],
    );
    assert_block(
        "a.py",
        "class A:\n    def f(self): ...\n    def f(self): ...\nclass B:\n    def f(self): ...\n    @x\n    def f(self): ...\n",
        &expect![[r#"
            a.py
             class A
              def f(self)
             class B
              def f(self)
              @x def f(self)
        "#]],
    );
}

#[test]
fn a_rename_changes_only_the_first_line() {
    let source = LanguageId::by_name("rust").unwrap().fixture;
    let (old, new) = (block("src/old.rs", source), block("src/new.rs", source));
    assert_ne!(old.text_hash, new.text_hash);
    assert_eq!(old.text.split_once('\n').unwrap().1, new.text.split_once('\n').unwrap().1);
}

#[test]
fn local_values_and_second_assignments_are_omitted() {
    assert_block(
        "a.py",
        "x = 1\nx = 2\nif x:\n    y = 3\ndef f():\n    z = 4\n    class Local:\n        w = 5\n",
        &expect![[r#"
            a.py
             x, y
             def f()
        "#]],
    );
}

#[test]
fn deep_nesting_overflows_no_stack_and_takes_no_quadratic_time() {
    let deep = 10_000;
    // The scanners of three languages search the rest of a text with unclosed declarations for each of them.
    let unclosed = 2_000;
    let nested = [
        ("(", ")", deep),
        ("[", "]", deep),
        ("{", "}", deep),
        ("f(", ")", deep),
        ("class A:\n ", "", unclosed),
    ];
    for language in LanguageId::all() {
        for (open, close, depth) in nested {
            let source = format!("x = {}1{}", open.repeat(depth), close.repeat(depth));
            Outline::read(language, &source, &Cancel::new()).unwrap();
        }
    }
    let modules = format!("{}{}", "mod a { ".repeat(deep), "}".repeat(deep));
    assert_eq!(outline("rust", &modules).symbols.len(), deep);
    let functions = format!("{}{}", "function f() { this.x = 1; ".repeat(deep), "}".repeat(deep));
    assert_eq!(outline("javascript", &functions).symbols.len(), deep);
    let mut nested = String::new();
    for level in 0..400 {
        let _ = writeln!(nested, "{}class C{level}:", " ".repeat(level));
    }
    let _ = writeln!(nested, "{}x = 1", " ".repeat(400));
    assert_eq!(outline("python", &nested).symbols.len(), 401);
}

#[test]
fn generated_code_is_bounded() {
    let mut source = String::new();
    for number in 0..MAX_SYMBOLS + 10 {
        let _ = writeln!(source, "def f{number}(): pass");
    }
    let outline = outline("python", &source);
    assert_eq!(outline.symbols.len(), MAX_SYMBOLS);
    let block = map_block(LanguageId::by_name("python").unwrap(), &FileKey::from("a.py"), &outline);
    assert!(block.text.len() < 40_000);
    assert!(block.text.ends_with(" more\n"), "{}", &block.text[block.text.len() - 80..]);
}

#[test]
fn a_raised_cancel_flag_stops_parsing_and_outlining() {
    let python = LanguageId::by_name("python").unwrap();
    let cancel = Cancel::new();
    let tree = parse(python, "x = 1\n", None, &cancel).unwrap();
    cancel.cancel();
    assert!(parse(python, "x = 1\n", None, &cancel).is_err());
    let long = "f(x)\n".repeat(10_000);
    let long_tree = parse(python, &long, None, &Cancel::new()).unwrap();
    assert_eq!(Outline::from_tree(&long_tree, &long, &cancel), Err(Cancelled));
    // A parser that was stopped can be used again.
    let again = parse(python, "y = 1\n", Some(&tree), &Cancel::new()).unwrap();
    let outline = Outline::from_tree(&again, "y = 1\n", &Cancel::new()).unwrap();
    assert_eq!(outline.symbols.iter().map(|symbol| &*symbol.name).collect::<Vec<_>>(), ["y"]);
}

#[test]
fn too_deeply_nested_text_is_not_parsed() {
    let csharp = LanguageId::by_name("csharp").unwrap();
    let deep = |depth: usize| parse(csharp, &"A<".repeat(depth), None, &Cancel::new()).unwrap();
    assert_eq!(deep(500).unparsed, None);
    assert_eq!(deep(1_001).unparsed, Some(Unparsed::NestedAngles));
}

#[test]
fn parsing_stops_at_the_work_limit() {
    let python = LanguageId::by_name("python").unwrap();
    let source = "class A: pass\n".repeat(1_000);
    let limit = WorkLimit { work: 5 * 4_096, ..WorkLimit::NONE };
    let mut tree =
        parse_with_limit(limit, python, &text_reader(&source), None, ParseMask::default(), &Cancel::new())
            .unwrap()
            .0;
    assert!(tree.unparsed == Some(Unparsed::TooMuchWork) && tree.has_error());
    let outline = Outline::from_tree(&tree, &source, &Cancel::new()).unwrap();
    assert_eq!(outline, Outline::unparsed(Unparsed::TooMuchWork));
    tree.edit(&TreeEdit::from_replacement(&Rope::from_str(&source), 0..source.len(), "x = 1"));
    let tree = parse(python, "x = 1", Some(&tree), &Cancel::new()).unwrap();
    assert!(tree.unparsed.is_none() && !tree.has_error());
    assert_eq!(Outline::from_tree(&tree, "x = 1", &Cancel::new()).unwrap().symbols.len(), 1);
}

#[test]
fn an_edit_moves_the_nodes_after_it() {
    let python = LanguageId::by_name("python").unwrap();
    let source = "first = 1\nsecond = 2; third = 3\n";
    let mut tree = parse(python, source, None, &Cancel::new()).unwrap();
    tree.edit(&TreeEdit::from_replacement(&Rope::from_str(source), 19..19, "00\n+ 1"));
    let third = tree.root().named_child(2).unwrap();
    assert_eq!((third.start_byte(), third.start_position()), (28, tree_sitter::Point::new(2, 6)));
}

#[test]
fn an_outline_round_trips_through_json() {
    for language in LanguageId::all() {
        let outline = Outline::read(language, language.fixture, &Cancel::new()).unwrap();
        let json = serde_json::to_string(&outline).unwrap();
        assert_eq!(serde_json::from_str::<Outline>(&json).unwrap(), outline);
    }
}

/// A replacement somewhere in a text.
#[derive(Clone, Debug)]
struct Edit {
    start: Index,
    length: usize,
    text: String,
}

/// Pieces of text that open, close or end something in one of the languages.
const PIECES: &[&str] = &[
    "",
    "\n",
    "\r\n",
    "\r",
    " ",
    "    ",
    "(",
    ")",
    "{",
    "}",
    "[",
    "\"",
    "'",
    "\"\"\"",
    "/*",
    "*/",
    "//",
    "#",
    ":",
    ";",
    ",",
    "def f(a):\n",
    "class X:\n",
    "fn f() {}\n",
    "ä",
    "😀",
    "\u{2028}",
    "\0",
    "@",
    "=",
    "=>",
    "x = 1\n",
];

fn edit() -> impl Strategy<Value = Edit> {
    let text = prop_oneof![
        prop::sample::select(PIECES).prop_map(str::to_owned),
        "[a-z_]{1,5}".prop_map(|word| word)
    ];
    (any::<Index>(), 0_usize..6, text).prop_map(|(start, length, text)| Edit { start, length, text })
}

/// Returns the edit as a range of bytes on character boundaries.
fn range(edit: &Edit, source: &str) -> std::ops::Range<usize> {
    let starts: Vec<usize> = source.char_indices().map(|(i, _)| i).chain([source.len()]).collect();
    let first = edit.start.index(starts.len());
    starts[first]..starts[(first + edit.length).min(starts.len() - 1)]
}

/// Whether a tree that was parsed with the help of an older one has another outline than a new one of the same text.
fn has_two_readings(tree: &SyntaxTree, source: &str) -> bool {
    let fresh = parse(tree.language, source, None, &Cancel::new()).unwrap();
    let outline = |tree| Outline::from_tree(tree, source, &Cancel::new()).unwrap();
    outline(tree) != outline(&fresh)
}

fn language() -> impl Strategy<Value = LanguageId> {
    prop::sample::select(LanguageId::all().collect::<Vec<_>>())
}

proptest! {
    /// For broken text, a parser may give a different tree when it reuses an old one, because recovery depends on where
    /// it started. Valid text has only one outline. All edits are undone at the end, so that each case returns to valid
    /// text from whatever state it reached.
    #[test]
    fn an_edited_tree_gives_the_same_outline_as_a_new_one(
        language in language(),
        edits in prop::collection::vec(edit(), 1..8),
    ) {
        let mut source = language.fixture.to_owned();
        let mut tree = parse(language, &source, None, &Cancel::new()).unwrap();
        let mut replace = |source: &mut String, range: std::ops::Range<usize>, text: &str| {
            tree.edit(&TreeEdit::from_replacement(&Rope::from_str(source), range.clone(), text));
            source.replace_range(range, text);
            tree = parse(language, source, Some(&tree), &Cancel::new()).unwrap();
            let fresh = parse(language, source, None, &Cancel::new()).unwrap();
            prop_assert_eq!(tree.root().range(), fresh.root().range());
            if !fresh.has_error() {
                // The trees may only differ in whether a comment is inside or outside a statement.
                prop_assert!(!tree.has_error(), "{}", source);
                let outline = |tree| Outline::from_tree(tree, source, &Cancel::new()).unwrap();
                prop_assert_eq!(outline(&tree), outline(&fresh));
            }
            Ok(())
        };
        let mut undo = Vec::new();
        for edit in &edits {
            let range = range(edit, &source);
            undo.push((range.start..range.start + edit.text.len(), source[range.clone()].to_owned()));
            replace(&mut source, range, &edit.text)?;
        }
        for (range, text) in undo.into_iter().rev() {
            replace(&mut source, range, &text)?;
        }
        prop_assert_eq!(&*source, language.fixture);
    }

    /// A live outline equals the outline of the same tree, whatever edits led to it, including through broken text. All
    /// edits are undone at the end, so that each case returns to valid text. A case ends where a reused tree has another
    /// outline than a new one, because the parser then reads the same text in two ways, and may change its mind about text
    /// that no edit touched.
    #[test]
    fn a_live_outline_equals_the_outline_of_the_same_tree(
        language in language(),
        copies in 1_usize..4,
        has_macros in any::<bool>(),
        batches in prop::collection::vec(prop::collection::vec(edit(), 1..4), 1..8),
    ) {
        let key = FileKey::from("src/file");
        let source = if has_macros { language.constructs } else { language.fixture }.repeat(copies);
        let mut text = Rope::from_str(&source);
        let mut tree = parse_rope(language, &text, None, &Cancel::new()).unwrap();
        let mut live = LiveOutline::new(&tree, &text, &Cancel::new()).unwrap();
        let mut trees = Vec::new();
        let mut undo = Vec::new();
        let mut replace = |text: &mut Rope, edits: &mut dyn Iterator<Item = (Index, usize, Option<usize>, String)>| {
            let (mut tree_edits, mut undo_edits) = (Vec::new(), Vec::new());
            for (index, length, exact, inserted) in edits {
                let range = match exact {
                    Some(start) => start..start + length,
                    None => range(&Edit { start: index, length, text: String::new() }, &text.to_string()),
                };
                let tree_edit = TreeEdit::from_replacement(text, range.clone(), &inserted);
                tree.edit(&tree_edit);
                tree_edits.push(tree_edit);
                undo_edits.push((index, inserted.len(), Some(range.start), text.byte_slice(range.clone()).to_string()));
                let start = text.byte_to_char(range.start);
                text.remove(start..text.byte_to_char(range.end));
                text.insert(start, &inserted);
            }
            let new_tree = parse_rope(language, text, Some(&tree), &Cancel::new()).unwrap();
            let freshness = live.refresh(&new_tree, text, &tree_edits, &Cancel::new()).unwrap();
            tree = new_tree;
            prop_assert_eq!(freshness == OutlineFreshness::Stale, tree.has_error());
            if freshness == OutlineFreshness::Current {
                let source = text.to_string();
                let outline = Outline::from_tree(&tree, &source, &Cancel::new()).unwrap();
                trees.push((tree.clone(), source.clone()));
                if live.outline() != outline && trees.iter().any(|(tree, source)| has_two_readings(tree, source)) {
                    return Ok(None);
                }
                prop_assert_eq!(live.outline(), outline.clone(), "{}", source);
                prop_assert_eq!(live.block(&key), map_block(language, &key, &outline), "{}", source);
            }
            undo_edits.reverse();
            Ok(Some(undo_edits))
        };
        for batch in batches {
            let mut edits = batch.into_iter().map(|edit| (edit.start, edit.length, None, edit.text));
            let Some(undo_edits) = replace(&mut text, &mut edits)? else { return Ok(()) };
            undo.push(undo_edits);
        }
        for batch in undo.into_iter().rev() {
            if replace(&mut text, &mut batch.into_iter())?.is_none() {
                return Ok(());
            }
        }
        prop_assert_eq!(text.to_string(), source);
    }

    #[test]
    fn a_block_is_well_formed_for_any_text(
        language in language(),
        edits in prop::collection::vec(edit(), 0..30),
    ) {
        let mut source = language.fixture.to_owned();
        for edit in &edits {
            source.replace_range(range(edit, &source), &edit.text);
        }
        let outline = Outline::read(language, &source, &Cancel::new()).unwrap();
        prop_assert!(outline.references.iter().is_sorted());
        let mut depth = 0;
        for symbol in outline.symbols.iter() {
            prop_assert!(symbol.depth <= depth, "{:?}", outline);
            depth = symbol.depth + 1;
            prop_assert!(!symbol.name.is_empty() && !symbol.head.is_empty(), "{:?} in\n{}", symbol, source);
            prop_assert!(symbol.head.chars().count() <= 200);
        }
        let block = map_block(language, &FileKey::from("src/file"), &outline);
        prop_assert!(block.text.ends_with('\n'));
        prop_assert!(!block.text.contains(|c: char| c.is_control() && c != '\n'));
        for (number, line) in block.text.lines().enumerate() {
            prop_assert_eq!(line.starts_with(' '), number > 0, "{}", block.text);
            prop_assert!(!line.trim().is_empty());
        }
        let again = map_block(language, &FileKey::from("src/file"), &outline);
        prop_assert_eq!(again, block);
    }

    #[test]
    fn a_position_in_a_rope_equals_the_position_in_its_text(
        text in "([a-z]|\r|\n|\r\n|ä|\u{2028}){0,3000}",
        indices in any::<(Index, Index)>(),
    ) {
        let rope = Rope::from_str(&text);
        let (a, b) = (indices.0.index(text.len() + 1), indices.1.index(text.len() + 1));
        let edit = TreeEdit::from_replacement(&rope, a.min(b)..a.max(b), "x\ny");
        let zero = TreePoint { byte: 0, row: 0, column: 0 };
        prop_assert_eq!(edit.start, zero.advance(&text.as_bytes()[..a.min(b)]));
        prop_assert_eq!(edit.old_end, zero.advance(&text.as_bytes()[..a.max(b)]));
        prop_assert_eq!(edit.new_end, edit.start.advance(b"x\ny"));
    }
}

fn block_at(path: &str, source: &str, level: MapLevel, shown: &[&str]) -> String {
    let language = LanguageId::by_path(path, "").unwrap();
    let outline = Outline::read(language, source, &Cancel::new()).unwrap();
    let detail = BlockDetail { level, shown: shown.iter().collect() };
    block_text(language, &FileKey::from(path), &outline, &detail)
}

#[test]
fn a_block_shows_the_definitions_of_its_level() {
    let source = "import os\nLIMIT = 1\nclass Pool:\n    def take(self): ...\n    def _grow(self): ...\ndef _helper(): ...\n";
    let text = |level, shown: &[&str]| block_at("a.py", source, level, shown);
    assert_eq!(text(MapLevel::Path, &[]), "a.py\n");
    assert_eq!(text(MapLevel::Names, &[]), "a.py: LIMIT, Pool, _helper\n");
    assert_eq!(text(MapLevel::Signatures, &["_grow"]), "a.py\n class Pool\n  def _grow(self)\n …\n");
    assert_eq!(text(MapLevel::Public, &[]), "a.py\n LIMIT\n class Pool\n  def take(self)\n …\n");
    let full =
        "a.py\n imports os\n LIMIT\n class Pool\n  def take(self)\n  def _grow(self)\n def _helper()\n";
    assert_eq!(text(MapLevel::Full, &[]), full);
}

#[test]
fn each_language_has_its_own_rules_for_public_definitions() {
    let public = |path: &str, source: &str| block_at(path, source, MapLevel::Public, &[]);
    let rust = "pub(crate) struct A;\nimpl A { pub fn a(&self) {}\n fn b() {} }\nimpl Drop for A { fn drop(&mut self) {} }\n\
                trait T { fn t(); }\npub trait U { fn u(); }\nfn hidden(a: pub_type) {}\n";
    let shown = public("a.rs", rust);
    assert!(shown.contains("fn a(") && shown.contains("fn drop(") && shown.contains("fn u("), "{shown}");
    assert!(!shown.contains("fn b(") && !shown.contains("fn t(") && !shown.contains("hidden"), "{shown}");
    assert_eq!(public("a.go", "package a\nfunc Open() {}\nfunc close() {}\n"), "a.go\n func Open()\n …\n");
    let ts = "export class A {\n  private b() {}\n  c(private d: string) {}\n}\n";
    let shown = public("a.ts", ts);
    assert!(shown.contains(" c(") && !shown.contains("b()"), "{shown}");
}

#[test]
fn definitions_inside_an_unnamed_default_export_are_local() {
    assert_block(
        "a.js",
        "export default function (app) {\n  function helper() {}\n  const x = () => 1;\n}\n",
        &expect![[r#"
            a.js
             export default function (app)
        "#]],
    );
    assert_block(
        "a.ts",
        "export default async (app: App) => {\n  function helper() {}\n  const x = () => 1;\n}\n",
        &expect![[r#"
            a.ts
             export default async (app: App)
        "#]],
    );
    assert_block(
        "b.js",
        "export default class {\n  run() {}\n}\n",
        &expect![[r#"
            b.js
             export default class
              run()
        "#]],
    );
}

#[test]
fn a_chain_of_assignments_is_one_line() {
    assert_block(
        "a.js",
        "req.get =\nreq.header = function header(name) { function inner() {} };\nvar a = exports.b = function (c) {};\n",
        &expect![[r#"
            a.js
             req.get = req.header = function header(name)
             var a = exports.b = function (c)
        "#]],
    );
    assert_block(
        "a.py",
        "first = second = make()\nfirst_of = second_of = third_of = 3\n",
        &expect![[r#"
            a.py
             first = second, first_of = second_of = third_of
        "#]],
    );
}

#[test]
fn generated_code_is_detected_by_its_text() {
    let generated = |path: &str, source: &str| {
        Outline::read(LanguageId::by_path(path, "").unwrap(), source, &Cancel::new()).unwrap().generated
    };
    assert!(generated("a.go", "// Code generated by stringer; DO NOT EDIT.\npackage a\n"));
    assert!(generated("a.js", "/**\n * @generated SignedSource<<1>>\n */\n"));
    assert!(!generated("a.py", "x = '@generated'\n"));
    assert!(!generated("a.py", "# about `@generated` files\n"));
    assert!(!generated("a.rs", &format!("{}// @generated\n", "\n".repeat(30))));
    assert!(generated("a.js", &"var a=function(){return 1};".repeat(400)));
}
