//! Texts for which a scanner saved more state than the parser has space for, or more than it can read back,
//! which used to abort the process, or for which it searched past the end of the text.

use std::fmt::Write as _;
use std::ops::ControlFlow;

use strata_grammars::LanguageId;
use strata_grammars::limits::{ExceededLimit, Limited, is_exceeded, limited};
use tree_sitter::{ParseOptions, Parser, Tree};

#[track_caller]
fn assert_parses(language: &str, text: &str) {
    let mut parser = Parser::new();
    let grammar = LanguageId::by_name(language).map(LanguageId::grammar);
    assert!(grammar.is_some_and(|grammar| parser.set_language(&grammar).is_ok()), "no {language}");
    let end = parser.parse(text, None).map(|tree| tree.root_node().end_byte());
    assert!(end >= Some(text.trim_end().len()), "{language}: {text:.40}");
}

#[test]
fn lists_in_lists_in_yaml() {
    for depth in 240..300 {
        assert_parses("yaml", &format!("{}a\n", "- ".repeat(depth)));
    }
    let maps = (0..300).fold(String::new(), |text, depth| format!("{text}{:depth$}a:\n", ""));
    assert_parses("yaml", &maps);
}

/// Each open string takes one byte of state, and each indentation two: one byte over the limit in total.
#[test]
fn blocks_in_blocks_in_python() {
    let mut text = String::new();
    for depth in 0..510 {
        let _ = writeln!(text, "{:depth$}if a:", "");
    }
    for depth in 510..520 {
        let _ = writeln!(text, "{:depth$}if f\"{{f'''{{a}}'''}}\":", "");
    }
    assert_parses("python", &text);
}

#[test]
fn long_words_of_here_documents() {
    for length in [10, 200, 255, 256, 300, 1_000, 5_000] {
        let word = "A".repeat(length);
        for language in ["ruby", "php", "bash"] {
            let text = match language {
                "php" => format!("<?php\n$a = <<<{word}\ntext\n{word};\n"),
                _ => format!("cat <<{word}\ntext\n{word}\n"),
            };
            assert_parses(language, &text);
        }
    }
    assert_parses("ruby", &format!("{}\n", (0..400).map(|n| format!("a <<A{n};")).collect::<String>()));
    assert_parses("bash", &format!("{}\n", (0..400).map(|n| format!("a <<A{n};")).collect::<String>()));
}

/// The scanner used to search forever here.
#[test]
fn an_annotation_at_the_end_of_a_kotlin_file() {
    for text in ["class A\n@Inject", "class A @Inject", "class A\n@", "class A\n@a.b(1)", "class A\n@Inject "]
    {
        assert_parses("kotlin", text);
    }
}

#[test]
fn strings_in_strings() {
    assert_parses("ruby", &"\"#{".repeat(400));
    assert_parses("csharp", &"$\"{".repeat(400));
    assert_parses("python", &"f\"{f'{".repeat(200));
    assert_parses("bash", &"\"$(".repeat(400));
    assert_parses("php", &format!("<?php {}", "\"{$a[".repeat(400)));
}

fn parsed(language: LanguageId, text: &str, characters: u64) -> Limited<Option<Tree>> {
    let mut parser = Parser::new();
    assert!(parser.set_language(&language.grammar()).is_ok());
    let mut progress = |_: &_| if is_exceeded() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let mut read = |offset: usize, _| text.as_bytes().get(offset..).unwrap_or_default();
    let options = ParseOptions::new().progress_callback(&mut progress);
    limited(characters, || parser.parse_with_options(&mut read, None, Some(options)))
}

/// The scanner calls itself for each comment in a comment, whatever strings and characters stand between.
#[test]
fn comments_in_comments_in_ocaml() {
    for language in ["ocaml", "ocaml_interface"].map(LanguageId::by_name) {
        let language = language.unwrap();
        for unit in ["(*", "(* \"a\" ", "(* {|x|} ", "(* '(' ", "(*(* *)", "(* {%%a b|(*|b} "] {
            let limited_parse = parsed(language, &unit.repeat(5_000), u64::MAX);
            assert_eq!(limited_parse.exceeded, Some(ExceededLimit::Depth), "{language}: {unit}");
        }
        for closed in ["(* a *) ", "(* (* a *) *) ", "(* \"(*\" *) ", "(* {|(*(*|} *) "] {
            let text = closed.repeat(1_000);
            let limited_parse = parsed(language, &text, u64::MAX);
            assert_eq!(limited_parse.exceeded, None, "{language}: {closed}");
            assert!(limited_parse.result.unwrap().root_node().end_byte() >= text.trim_end().len());
        }
        // Without a limit on the characters, the one on the depth holds, and does not outlast the parse.
        let mut parser = Parser::new();
        parser.set_language(&language.grammar()).unwrap();
        assert!(parser.parse("(*".repeat(5_000), None).is_some());
        assert_parses(language.name, "let a = 1 (* b *)");
    }
}

/// A token that ends nowhere is read to the end of the text from every place at which it may start.
#[test]
fn characters_count_each_time_they_are_read() {
    for (language, unit) in
        [("c", "/*"), ("css", "/*"), ("rust", "r#\""), ("lua", "[[ "), ("python", "'''\\")]
    {
        let language = LanguageId::by_name(language).unwrap();
        let text = unit.repeat(2_000);
        let characters = parsed(language, &text, u64::MAX).characters;
        assert!(characters > text.len() as u64, "{language}: {characters}");
        assert_eq!(parsed(language, &text, characters).exceeded, None, "{language}");
        let limited_parse = parsed(language, &text, characters - 1);
        assert_eq!(limited_parse.exceeded, Some(ExceededLimit::Characters), "{language}");
    }
}

#[test]
fn the_characters_of_every_language_are_counted() {
    for language in LanguageId::all() {
        let characters = parsed(language, language.fixture, u64::MAX).characters;
        let bytes = language.fixture.len() as u64;
        assert!(characters > bytes / 2 && characters < bytes * 40, "{language}: {characters} of {bytes}");
        assert_eq!(parsed(language, language.fixture, characters).exceeded, None, "{language}");
        let limited_parse = parsed(language, language.fixture, 100);
        assert_eq!(limited_parse.exceeded, Some(ExceededLimit::Characters), "{language}");
    }
}
