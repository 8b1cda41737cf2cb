//! Texts for which a scanner saved more state than the parser has space for, or more than it can read back,
//! which used to abort the process, or for which it searched past the end of the text.

use std::fmt::Write as _;

use strata_grammars::LanguageId;
use tree_sitter::Parser;

#[track_caller]
fn survives(language: &str, text: &str) {
    let mut parser = Parser::new();
    let grammar = LanguageId::by_name(language).map(LanguageId::grammar);
    assert!(grammar.is_some_and(|grammar| parser.set_language(&grammar).is_ok()), "no {language}");
    let end = parser.parse(text, None).map(|tree| tree.root_node().end_byte());
    assert!(end >= Some(text.trim_end().len()), "{language}: {text:.40}");
}

#[test]
fn lists_in_lists_in_yaml() {
    for depth in 240..300 {
        survives("yaml", &format!("{}a\n", "- ".repeat(depth)));
    }
    let maps = (0..300).fold(String::new(), |text, depth| format!("{text}{:depth$}a:\n", ""));
    survives("yaml", &maps);
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
    survives("python", &text);
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
            survives(language, &text);
        }
    }
    survives("ruby", &format!("{}\n", (0..400).map(|n| format!("a <<A{n};")).collect::<String>()));
    survives("bash", &format!("{}\n", (0..400).map(|n| format!("a <<A{n};")).collect::<String>()));
}

/// The scanner used to search forever here.
#[test]
fn an_annotation_at_the_end_of_a_kotlin_file() {
    for text in ["class A\n@Inject", "class A @Inject", "class A\n@", "class A\n@a.b(1)", "class A\n@Inject "]
    {
        survives("kotlin", text);
    }
}

#[test]
fn strings_in_strings() {
    survives("ruby", &"\"#{".repeat(400));
    survives("csharp", &"$\"{".repeat(400));
    survives("python", &"f\"{f'{".repeat(200));
    survives("bash", &"\"$(".repeat(400));
    survives("php", &format!("<?php {}", "\"{$a[".repeat(400)));
}
