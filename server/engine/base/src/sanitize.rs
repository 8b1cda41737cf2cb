//! Makes external text safe to embed in a prompt: finds invisible characters, keeps names on one line, and
//! escapes closing tags.

use crate::external::ExternalText;
pub use crate::external::is_invisible;

/// Escapes a name for use at the start of a line ([`ExternalText::line_start`]).
pub fn escape_line_start(name: &str) -> String {
    ExternalText::new(name).line_start().to_string()
}

/// Escapes everything in `text` that could be read as a closing tag with one of these names, ignoring case,
/// white space and invisible characters.
pub fn escape_closing_tags(text: &str, names: &[&str]) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let (before, tag) = rest.split_at(at + 1);
        safe.push_str(before);
        if names.iter().any(|name| is_closing_tag(tag, name)) {
            safe.push('\\');
        }
        rest = tag;
    }
    safe.push_str(rest);
    safe
}

/// Whether the text after a `<` closes the tag `name`. Stops at the first letter that does not match.
fn is_closing_tag(tag: &str, name: &str) -> bool {
    let mut letters = tag.chars().filter(|c| !c.is_whitespace() && !is_invisible(*c)).peekable();
    if letters.next_if_eq(&'/').is_none() {
        return false;
    }
    while letters.next_if_eq(&'/').is_some() {}
    name.chars().all(|expected| letters.next().is_some_and(|letter| letter.eq_ignore_ascii_case(&expected)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_on_one_line_and_starts_no_markup() {
        for (name, line) in [
            ("src/a b.rs", "src/a b.rs"),
            ("a\n# Working Files", "a\\u{a}# Working Files"),
            ("warning: a", "warning\\u{3a} a"),
            ("# Working Files", "\\u{23} Working Files"),
            ("</context-frame>", "\\u{3c}/context-frame>"),
            ("```", "\\u{60}``"),
            ("\u{a0}fn x()", "\\u{a0}fn x()"),
            ("a\u{e0041}b", "a\\u{e0041}b"),
            ("", ""),
        ] {
            assert_eq!(escape_line_start(name), line);
        }
    }

    #[test]
    fn control_and_format_characters_are_invisible_and_letters_are_not() {
        for invisible in [
            '\0',
            '\n',
            '\u{1b}',
            '\u{85}',
            '\u{ad}',
            '\u{202e}',
            '\u{feff}',
            '\u{fe0f}',
            '\u{e0041}',
            '\u{e01ef}',
        ] {
            assert!(is_invisible(invisible), "{invisible:?}");
        }
        let visible = "a é\u{301} 漢 🦀 ~ ` <|> ﬁ \u{a0}\u{3000}";
        assert!(!visible.chars().any(is_invisible));
    }

    /// Checks against Unicode's general categories: all of `Cc`, `Cf`, `Zl` and `Zp` counts as invisible,
    /// except for the visible signs of historic scripts.
    #[test]
    fn every_format_character_is_invisible() {
        use regex::Regex;
        let format = Regex::new(r"^[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]$").unwrap();
        let signs = [
            '\u{600}'..='\u{605}',
            '\u{6DD}'..='\u{6DD}',
            '\u{70F}'..='\u{70F}',
            '\u{890}'..='\u{891}',
            '\u{8E2}'..='\u{8E2}',
            '\u{110BD}'..='\u{110BD}',
            '\u{110CD}'..='\u{110CD}',
            '\u{13430}'..='\u{1343F}',
        ];
        let missed: Vec<char> = ('\0'..=char::MAX)
            .filter(|c| format.is_match(c.encode_utf8(&mut [0; 4])) && !is_invisible(*c))
            .filter(|c| !signs.iter().any(|signs| signs.contains(c)))
            .collect();
        assert_eq!(missed, []);
    }

    #[test]
    fn only_closing_tags_with_the_given_names_are_escaped() {
        for (text, expected) in [
            ("a </results> b", "a <\\/results> b"),
            ("</RESULTS>", "<\\/RESULTS>"),
            ("< / results >", "<\\ / results >"),
            ("<\n//re\u{200b}sults>", "<\\\n//re\u{200b}sults>"),
            ("<</results", "<<\\/results"),
            ("</result> <results> </div>", "</result> <results> </div>"),
            ("a < b </", "a < b </"),
        ] {
            assert_eq!(escape_closing_tags(text, &["goal", "results"]), expected);
        }
    }
}
