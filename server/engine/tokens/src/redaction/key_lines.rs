//! Finds the base64 lines of private keys, with real or escaped line breaks. Each line is a separate secret,
//! so that redaction preserves the line structure.

use std::ops::Range;

/// Maximum length of a key, in bytes: ten times that of the longest RSA key in use.
const LONGEST: usize = 64 << 10;
/// Maximum number of bytes between a match and the end of its line. The limit keeps the scan linear if a text
/// repeats the header on one line.
const FIRST_LINE: usize = 64;
/// Minimum length of a base64 line, in bytes, if the end of the key is unknown.
const LINE: usize = 24;
/// Minimum length of the first base64 line, in bytes, if the key has an end line. Later lines, such as a
/// checksum, may be shorter.
const LONG_RUN: usize = 16;
/// Maximum number of words on a line of a key.
const MAX_WORDS: usize = 4;

/// Returns the secret lines of a PEM key whose begin line ends at `from`.
pub(super) fn of_pem(text: &str, from: usize) -> Vec<Range<usize>> {
    let rest = key_from(text, from);
    // The next dashes belong to the end line or to the begin line of another key. Either ends this key.
    match find(rest, b"-----") {
        Some(end) => {
            let body = rest.get(..end).unwrap_or_default();
            let ended = rest.get(end..).is_some_and(|end| end.starts_with(b"-----END"));
            runs(body, from, if ended { 1 } else { LINE }, ended)
        }
        None => runs(until_prose(rest), from, LINE, false),
    }
}

/// Returns the secret lines of a PEM key whose end line starts at `end`, if its begin line is missing.
pub(super) fn before_pem_end(text: &str, end: usize) -> Vec<Range<usize>> {
    let from = end.saturating_sub(LONGEST);
    let before = text.as_bytes().get(from..end).unwrap_or_default();
    let (mut start, mut line_end) = (before.len(), before.len());
    for (at, byte) in before.iter().enumerate().rev() {
        let begins_line = matches!(byte, b'\n' | b'\\');
        if begins_line || at == 0 {
            let line = before.get(at..line_end).unwrap_or_default();
            if words(line) > MAX_WORDS || (at == 0 && from > 0) {
                break;
            }
            (start, line_end) = (at, at);
        }
        // A difference of two files has a sign before each line.
        let is_sign =
            *byte == b'-' && at.checked_sub(1).is_none_or(|before_it| before.get(before_it) == Some(&b'\n'));
        if is_foreign(*byte) && !is_sign {
            break;
        }
    }
    let body = before.get(start..).unwrap_or_default();
    runs(body, from + start, 1, true)
}

/// Returns the base64 lines that directly follow the line that contains `from`.
pub(super) fn of_lines(text: &str, from: usize) -> Vec<Range<usize>> {
    let rest = key_from(text, from);
    // Only the number of lines follows on the header line.
    let line = rest.get(..FIRST_LINE).unwrap_or(rest);
    let ends = [&b"\n"[..], b"\\n"].into_iter().filter_map(|end| Some(find(line, end)? + end.len()));
    let Some(end) = ends.min() else { return Vec::new() };
    runs(until_prose(rest.get(end..).unwrap_or_default()), from + end, LINE, false)
}

/// Returns up to [`LONGEST`] bytes of `text`, starting at `from`.
fn key_from(text: &str, from: usize) -> &[u8] {
    let rest = text.as_bytes().get(from..).unwrap_or_default();
    rest.get(..LONGEST).unwrap_or(rest)
}

/// Returns the bytes before the first line that contains more than four words, or a character other than
/// base64 and the punctuation that surrounds it in source code.
fn until_prose(body: &[u8]) -> &[u8] {
    let mut end = 0;
    // A backslash may begin an escaped line break.
    for line in body.split_inclusive(|byte| matches!(byte, b'\n' | b'\\')) {
        if line.iter().any(|byte| is_foreign(*byte)) || words(line) > MAX_WORDS {
            break;
        }
        end += line.len();
    }
    body.get(..end).unwrap_or_default()
}

/// Whether a byte is neither base64 nor punctuation that surrounds it in source code.
fn is_foreign(byte: u8) -> bool {
    !is_base64(byte) && !b" \t\r\n\\\"',;:+#*|>()".contains(&byte)
}

fn words(line: &[u8]) -> usize {
    line.split(|byte| *byte == b' ').filter(|word| !word.trim_ascii().is_empty()).count()
}

/// Returns the ranges of base64 runs of at least `least` characters, shifted by `offset`. If the key `ended`,
/// drops short runs before the first long one, such as those of header lines (`Proc-Type: 4,ENCRYPTED`).
fn runs(body: &[u8], offset: usize, least: usize, ended: bool) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    while at < body.len() {
        let end = body.get(at..).unwrap_or_default().iter().position(|byte| !is_base64(*byte));
        let end = end.map_or(body.len(), |length| at + length);
        // Skip the letter of an escaped line break.
        let escaped =
            at > 0 && body.get(at - 1) == Some(&b'\\') && matches!(body.get(at), Some(b'n' | b'r' | b't'));
        let start = at + usize::from(escaped);
        if end >= start + least.max(1) {
            found.push(start..end);
        }
        at = end.max(at) + 1;
    }
    if ended {
        // After the first long run, a short one is the last line or the checksum of the key.
        let key = found.iter().position(|run| run.len() >= LONG_RUN);
        let Some(first) = key else { return Vec::new() };
        found.drain(..first);
    }
    found.iter().map(|run| run.start + offset..run.end + offset).collect()
}

pub(super) fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Vec<&str> {
        of_pem(text, 0).into_iter().map(|range| &text[range]).collect()
    }

    const LONG: &str = "MIIEpAIBAAKCAQEA1c7+9z5Pad7OejecsQ0buYk1n5Ov3bWRqfX";

    #[test]
    fn every_line_of_a_key_is_a_secret_however_lines_are_written() {
        let plain = format!("\n{LONG}\n{LONG}\nab==\n-----END PRIVATE KEY-----\n{LONG}");
        assert_eq!(parts(&plain), [LONG, LONG, "ab=="]);
        let escaped = format!("\\n{LONG}\\nab==\\n-----END PRIVATE KEY-----\\n");
        assert_eq!(parts(&escaped), [LONG, "ab=="]);
        let encrypted =
            format!("\nProc-Type: 4,ENCRYPTED\nDEK-Info: X\n\n{LONG}\n-----END RSA PRIVATE KEY-----");
        assert_eq!(parts(&encrypted), [LONG]);
    }

    #[test]
    fn lines_follow_what_names_them_at_once() {
        let lines = |text: &str| -> Vec<String> {
            of_lines(text, 0).into_iter().map(|range| text[range].to_owned()).collect()
        };
        assert_eq!(lines(&format!(" 2\r\n{LONG}\n{LONG}\nPrivate-MAC: 1")), [LONG, LONG]);
        assert_eq!(lines(&format!(" 2\\n{LONG}\\n{LONG}\\nPrivate-MAC: 1")), [LONG, LONG]);
        assert!(lines(&format!(" 2{}\n{LONG}\n", " ".repeat(100))).is_empty());
    }

    #[test]
    fn the_end_of_a_key_leads_to_the_lines_before_it() {
        let lines = |text: &str| -> Vec<String> {
            let end = text.find("-----END").unwrap();
            before_pem_end(text, end).into_iter().map(|range| text[range].to_owned()).collect()
        };
        assert_eq!(lines(&format!("{LONG}\n{LONG}\nab==\n-----END PRIVATE KEY-----")), [LONG, LONG, "ab=="]);
        assert_eq!(
            lines(&format!("@@ -1 +1 @@\n-{LONG}\n-ab==\n -----END PRIVATE KEY-----")),
            [LONG, "ab=="]
        );
        assert_eq!(lines(&format!("The key is below, sir.\n{LONG}\n-----END PRIVATE KEY-----")), [LONG]);
        assert!(lines("It ends with\n-----END PRIVATE KEY-----").is_empty());
    }

    #[test]
    fn a_key_that_is_cut_off_ends_with_its_lines() {
        assert_eq!(parts(&format!("\n{LONG}\n{LONG}")), [LONG, LONG]);
        assert_eq!(parts(&format!("\n{LONG}\nAnd then the story goes on, at some length.\n{LONG}")), [LONG]);
        assert!(parts(" is how such a file begins.").is_empty());
        assert!(parts("\n...\n-----END PRIVATE KEY-----").is_empty());
    }
}
