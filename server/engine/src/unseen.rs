//! Characters that change how a text looks, or what a model reads, without being seen; and names written so that they stand on a line
//! and are no more than names. Where a name stands is the business of whoever writes the text.

/// Control characters, and what Unicode calls `Default_Ignorable_Code_Point` (DerivedCoreProperties.txt of Unicode 16: zero width,
/// direction of writing, fillers, variation selectors, tags), and line and paragraph separators.
pub fn is_unseen(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{AD}'
                | '\u{34F}'
                | '\u{61C}'
                | '\u{115F}'..='\u{1160}'
                | '\u{17B4}'..='\u{17B5}'
                | '\u{180B}'..='\u{180F}'
                | '\u{200B}'..='\u{200F}'
                | '\u{2028}'..='\u{202E}'
                | '\u{2060}'..='\u{206F}'
                | '\u{3164}'
                | '\u{FE00}'..='\u{FE0F}'
                | '\u{FEFF}'
                | '\u{FFA0}'
                | '\u{FFF0}'..='\u{FFFB}'
                | '\u{1BCA0}'..='\u{1BCA3}'
                | '\u{1D173}'..='\u{1D17A}'
                | '\u{E0000}'..='\u{E0FFF}'
        )
}

/// A name as a line of its own, or the beginning of one: whatever it holds, it stays one line, and that line is no heading, tag,
/// quote, list or fence, nor does it seem to be indented.
pub fn line_of(name: &str) -> String {
    let mut line = String::with_capacity(name.len());
    for (at, character) in name.chars().enumerate() {
        let opens = at == 0 && (character.is_whitespace() || "#<>`~*+-=|".contains(character));
        if opens || is_unseen(character) {
            line.extend(character.escape_unicode());
        } else {
            line.push(character);
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_line_and_opens_nothing() {
        for (name, line) in [
            ("src/a b.rs", "src/a b.rs"),
            ("a\n# Working Files", "a\\u{a}# Working Files"),
            ("# Working Files", "\\u{23} Working Files"),
            ("</context-frame>", "\\u{3c}/context-frame>"),
            ("```", "\\u{60}``"),
            ("\u{a0}fn x()", "\\u{a0}fn x()"),
            ("a\u{e0041}b", "a\\u{e0041}b"),
            ("", ""),
        ] {
            assert_eq!(line_of(name), line);
        }
    }

    #[test]
    fn what_nobody_sees_is_unseen_and_letters_are_not() {
        for unseen in [
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
            assert!(is_unseen(unseen), "{unseen:?}");
        }
        let seen = "a é\u{301} 漢 🦀 ~ ` <|> ﬁ \u{a0}\u{3000}";
        assert!(!seen.chars().any(is_unseen));
    }

    /// What the names of Unicode's own general categories say: all of `Cc` and `Cf` is here, but for the signs of old
    /// scripts that stand for something.
    #[test]
    fn no_format_character_is_left_out() {
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
        let left_out: Vec<char> = ('\0'..=char::MAX)
            .filter(|c| format.is_match(c.encode_utf8(&mut [0; 4])) && !is_unseen(*c))
            .filter(|c| !signs.iter().any(|signs| signs.contains(c)))
            .collect();
        assert_eq!(left_out, []);
    }
}
