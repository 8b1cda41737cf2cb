//! Parses JSON from outside. JavaScript strings may contain half of a surrogate pair (`"\ud83d"`), which is no text, so
//! `serde_json` rejects it. Here it becomes U+FFFD. Everything else that is not JSON remains an error.

use std::borrow::Cow;

use serde::de::DeserializeOwned;
use serde_json::Error;

/// Parses JSON, in which lone surrogates become U+FFFD.
///
/// # Errors
/// If `text` is not JSON, or does not have the form of `T`.
pub fn from_str<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    from_slice(text.as_bytes())
}

/// Parses JSON in UTF-8, in which lone surrogates become U+FFFD.
///
/// # Errors
/// If `bytes` are not JSON in UTF-8, or do not have the form of `T`.
pub fn from_slice<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Error> {
    match serde_json::from_slice(bytes) {
        Err(error) if error.is_syntax() => match replace_lone_surrogates(bytes) {
            Cow::Owned(repaired) => serde_json::from_slice(&repaired),
            Cow::Borrowed(_) => Err(error),
        },
        parsed => parsed,
    }
}

/// Replaces the escapes of lone surrogates in JSON with `\ufffd`. All offsets stay the same.
pub fn replace_lone_surrogates(json: &[u8]) -> Cow<'_, [u8]> {
    let mut repaired = Cow::Borrowed(json);
    let mut offset = 0;
    while let Some(escape) = json.get(offset..).and_then(|rest| rest.iter().position(|byte| *byte == b'\\')) {
        offset += escape;
        offset += match (surrogate(json, offset), surrogate(json, offset + UNICODE_ESCAPE_BYTES)) {
            (Some(SurrogateHalf::Leading), Some(SurrogateHalf::Trailing)) => 2 * UNICODE_ESCAPE_BYTES,
            (Some(_), _) => {
                if let Some(lone) = repaired.to_mut().get_mut(offset..offset + UNICODE_ESCAPE_BYTES) {
                    lone.copy_from_slice(br"\ufffd");
                }
                UNICODE_ESCAPE_BYTES
            }
            // Another escape, of which the second byte may be a backslash too.
            (None, _) => 2,
        };
    }
    repaired
}

/// Length of an escape such as `\ud83d`, in bytes.
const UNICODE_ESCAPE_BYTES: usize = 6;

/// Half of a surrogate pair.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum SurrogateHalf {
    Leading,
    Trailing,
}

/// Returns which surrogate is escaped at `at`, if any.
fn surrogate(json: &[u8], offset: usize) -> Option<SurrogateHalf> {
    let digits = json.get(offset..offset + UNICODE_ESCAPE_BYTES)?.strip_prefix(br"\u")?;
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    match u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()? {
        0xD800..=0xDBFF => Some(SurrogateHalf::Leading),
        0xDC00..=0xDFFF => Some(SurrogateHalf::Trailing),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn lone_surrogates_are_replaced_and_pairs_are_not() {
        for (text, expected) in [
            (r#""\ud83d""#, "\u{FFFD}"),
            (r#""\uDE00!""#, "\u{FFFD}!"),
            (r#""\ud83d\ude00""#, "😀"),
            (r#""\ud83d\ud83d\ude00""#, "\u{FFFD}😀"),
            (r#""\ude00\ud83d""#, "\u{FFFD}\u{FFFD}"),
            (r#""\\ud83d""#, r"\ud83d"),
            (r#""\\\ud83d\u0041""#, "\\\u{FFFD}A"),
            (r#""\ud83d\n""#, "\u{FFFD}\n"),
        ] {
            assert_eq!(from_str::<String>(text).unwrap(), expected, "{text}");
        }
        assert_eq!(
            from_str::<Value>(r#"{"\ud83d": ["\udc00"]}"#).unwrap(),
            json!({"\u{FFFD}": ["\u{FFFD}"]})
        );
    }

    #[test]
    fn text_that_is_not_json_remains_an_error() {
        for text in
            [r#""\ud83""#, r#""\ud83"#, r#"{"a": "\ud83d""#, r#""\ux83d\ud83d""#, "\"\u{1}\\ud83d\"", ""]
        {
            assert!(from_str::<Value>(text).is_err(), "{text}");
        }
        assert!(from_slice::<Value>(b"\"\xFF\\ud83d\"").is_err());
    }

    proptest! {
        #[test]
        fn only_surrogate_pairs_become_characters(units in prop::collection::vec(prop_oneof![any::<u16>(), 0xD7FF..0xE001_u16], 0..12)) {
            let escapes: String = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
            let mut expected = String::new();
            let mut units = units.iter().map(|unit| u32::from(*unit)).peekable();
            while let Some(unit) = units.next() {
                let code = match (unit, units.peek()) {
                    (0xD800..=0xDBFF, Some(low @ 0xDC00..=0xDFFF)) => {
                        let code = 0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
                        units.next();
                        code
                    }
                    _ => unit,
                };
                expected.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            prop_assert_eq!(from_str::<String>(&format!("\"{escapes}\"")).unwrap(), expected);
        }

        #[test]
        fn json_without_surrogates_is_unchanged(text in ".{0,40}") {
            let json = serde_json::to_string(&text).unwrap();
            prop_assert_eq!(replace_lone_surrogates(json.as_bytes()), json.as_bytes());
        }
    }
}
