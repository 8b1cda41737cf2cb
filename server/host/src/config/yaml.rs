//! Converts YAML 1.2 to JSON. Under the rules of that version, `yes` and `no` are strings.

use serde_json::Value;
use serde_saphyr::{UserMessageFormatter, budget, options};

use super::file::FileError;

/// Maximum number of nodes in a document, including those repeated through aliases.
const MAX_VALUES: usize = 10_000;
const MAX_DEPTH: usize = 32;

/// Parses a YAML file with at most one document as JSON. An empty file becomes `null`. `file` names the source in
/// errors.
///
/// # Errors
/// [`FileError::Syntax`] if the text is not valid YAML or has values that JSON cannot represent.
pub fn from_yaml(file: &str, text: &str) -> Result<Value, FileError> {
    let options = options! {
        budget: budget! { max_nodes: MAX_VALUES, max_events: 4 * MAX_VALUES, max_depth: MAX_DEPTH },
        strict_booleans: true,
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let place = error.location();
        let told = error.render_with_formatter(&UserMessageFormatter);
        let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        FileError::Syntax {
            file: file.to_owned(),
            line: place.map_or(1, |place| number(place.line())),
            column: place.map_or(1, |place| number(place.column())),
            // Drop the position, because `FileError::Syntax` already prints it.
            message: told.split(" at line ").next().unwrap_or_default().to_owned(),
        }
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn yaml_becomes_json() {
        let text = "model: m  # mine\nsymbols: {map_budget: 8000}\nfiles:\n  list: &all [a, 'b', 0.5, true, ~]\n  same: *all\n\
                    day: 2024-02-03\nanswer: no\ntext: |\n  one\n  two\n";
        let list = json!(["a", "b", 0.5, true, null]);
        let expected = json!({
            "model": "m", "symbols": {"map_budget": 8000}, "files": {"list": list, "same": list},
            "day": "2024-02-03", "answer": "no", "text": "one\ntwo\n",
        });
        assert_eq!(from_yaml("f", text), Ok(expected));
        for nothing in ["", "# nothing\n", "---\n"] {
            assert_eq!(from_yaml("f", nothing), Ok(Value::Null));
        }
    }

    #[track_caller]
    fn check_error(text: &str, expected: &str) {
        assert_eq!(from_yaml("web/.strata.yaml", text).unwrap_err().to_string(), expected);
    }

    #[test]
    fn errors_name_file_line_and_column() {
        check_error("a: [1\n", "web/.strata.yaml:1:4: unclosed bracket '['");
        check_error("a: 1\na: 2\n", "web/.strata.yaml:2:1: duplicate mapping key `a` is not allowed here");
        check_error("a: .inf\n", "web/.strata.yaml:1:4: value `.inf` is not a finite number");
        check_error("é: 1\nb: *c\n", "web/.strata.yaml:2:4: reference to unknown value");
    }

    /// Six lines that would expand to a million values, and a very deeply nested text.
    #[test]
    fn a_short_text_cannot_become_a_large_value() {
        let level = |name: char, of: &str| format!("{name}: &{name} [{}]\n", [of; 10].join(","));
        let bomb: String = [('a', "1"), ('b', "*a"), ('c', "*b"), ('d', "*c"), ('e', "*d"), ('f', "*e")]
            .map(|(name, of)| level(name, of))
            .concat();
        let deep = "[".repeat(100_000);
        for text in [&bomb, &deep] {
            assert!(matches!(from_yaml("f", text), Err(FileError::Syntax { .. })));
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[a-z:&*!|>?%\\[\\]{}'\".,0-9\n #é-]{0,60}") {
            let _ = from_yaml("f", &text);
        }
    }
}
