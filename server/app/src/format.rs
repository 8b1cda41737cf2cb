//! Formats numbers, lines and extents for users.

use strata_base::sanitize::is_invisible;
use strata_conversation::selection::{Extent, LineRange};

pub use strata_base::text::group_digits;

/// Formats a number with its noun: `1 file`, `1,204 files`.
pub fn pluralize(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", group_digits(number))
}

/// Formats a number of tokens: `1 token`, `1,234 tokens`.
pub(crate) fn tokens(number: usize) -> String {
    pluralize(number, "token")
}

/// Formats an amount of money: `$0.0123`, `$4.56`.
pub fn dollars(amount: f64) -> String {
    match amount {
        _ if amount <= 0.0 => "$0".to_owned(),
        _ if amount < 0.00005 => "<$0.0001".to_owned(),
        _ if amount < 0.99995 => format!("${amount:.4}"),
        _ => {
            let cents = (amount * 100.0).round();
            let (units, remainder) = ((cents / 100.0).floor(), cents % 100.0);
            format!("${}.{remainder:02.0}", group_digits(units as usize))
        }
    }
}

/// Formats a range of lines: `line 3`, `lines 3-9`.
pub fn lines(lines: LineRange) -> String {
    let (first, last) = (lines.first(), lines.last());
    if first == last { format!("line {first}") } else { format!("lines {first}-{last}") }
}

/// Formats how much of a file is shown: `in full`, `with lines 3-9, line 20`.
pub(crate) fn extent(extent: &Extent) -> String {
    match extent {
        Extent::Whole => "in full".to_owned(),
        Extent::Lines(shown) if shown.is_empty() => "without the selected lines, which are gone".to_owned(),
        Extent::Lines(shown) => {
            let shown: Vec<String> = shown.iter().map(|shown| lines(*shown)).collect();
            format!("with {}", shown.join(", "))
        }
    }
}

/// Writes invisible characters in the strings of a JSON text as JSON escapes, which mean the same.
pub fn visible_json(text: &str) -> String {
    let mut visible = String::with_capacity(text.len());
    for character in text.chars() {
        if character == '\n' || !is_invisible(character) {
            visible.push(character);
            continue;
        }
        let code = u32::from(character);
        // JSON writes a character beyond U+FFFF as two surrogates (RFC 8259, section 7).
        visible.push_str(&match code.checked_sub(0x1_0000) {
            None => format!("\\u{code:04x}"),
            Some(code_offset) => {
                format!("\\u{:04x}\\u{:04x}", 0xd800 + (code_offset >> 10), 0xdc00 + (code_offset & 0x3ff))
            }
        });
    }
    visible
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_has_its_noun() {
        assert_eq!((pluralize(1, "file"), pluralize(1_000, "file")), ("1 file".into(), "1,000 files".into()));
        assert_eq!((tokens(1), tokens(0)), ("1 token".to_owned(), "0 tokens".to_owned()));
    }

    #[test]
    fn small_amounts_have_four_decimals_and_others_two() {
        let shown = [0.0, 0.00001, 0.00005, 0.04213, 0.99994, 0.99996, 4.999, 1234.5].map(dollars);
        let expected = ["$0", "<$0.0001", "$0.0001", "$0.0421", "$0.9999", "$1.00", "$5.00", "$1,234.50"];
        assert_eq!(shown, expected);
    }

    #[test]
    fn an_extent_lists_its_lines() {
        let range = |first, last| LineRange::new(first, last).unwrap();
        assert_eq!(extent(&Extent::Lines(vec![range(3, 9), range(20, 20)])), "with lines 3-9, line 20");
        assert_eq!(extent(&Extent::Whole), "in full");
    }

    #[test]
    fn visible_json_means_the_same() {
        let value = serde_json::json!({ "a\u{202e}\n": "\u{e0041}\u{7f}é\"" });
        for text in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
            let shown = visible_json(&text);
            assert!(!shown.chars().any(|c| c != '\n' && is_invisible(c)), "{shown}");
            assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
        }
    }
}
