//! Finds the base64 lines of private keys, with real or escaped line breaks. Each line is a separate secret,
//! so that redaction preserves the line structure.

use std::ops::Range;

/// Maximum length of a key, in bytes: ten times that of the longest RSA key in use.
const MAX_KEY_BYTES: usize = 64 << 10;
/// Maximum number of bytes between a match and the end of its line. The limit keeps the scan linear if a text
/// repeats the header on one line.
const MAX_BYTES_AFTER_HEADER: usize = 64;
/// Minimum length of a base64 line, in bytes, if the end of the key is unknown.
const MIN_KEY_LINE_BYTES: usize = 24;
/// Minimum length of the first base64 line, in bytes, if the key has an end line. Later lines, such as a
/// checksum, may be shorter.
const MIN_FIRST_LINE_BYTES: usize = 16;
/// Maximum number of words on a line of a key.
const MAX_KEY_LINE_WORDS: usize = 4;

/// Returns the secret lines of a PEM key whose begin line ends at `from`.
pub(super) fn pem_lines(text: &str, from: usize) -> Vec<Range<usize>> {
    let rest = key_bytes_from(text, from);
    // The next dashes belong to the end line or to the begin line of another key. Either ends this key.
    match find_bytes(rest, b"-----") {
        Some(end) => {
            let body = rest.get(..end).unwrap_or_default();
            let has_end_line = rest.get(end..).is_some_and(|end| end.starts_with(b"-----END"));
            base64_runs(body, from, if has_end_line { 1 } else { MIN_KEY_LINE_BYTES }, has_end_line)
        }
        None => base64_runs(bytes_before_prose(rest), from, MIN_KEY_LINE_BYTES, false),
    }
}

/// Returns the secret lines of a PEM key whose end line starts at `end`, if its begin line is missing.
pub(super) fn lines_before_pem_end(text: &str, end: usize) -> Vec<Range<usize>> {
    let from = end.saturating_sub(MAX_KEY_BYTES);
    let before = text.as_bytes().get(from..end).unwrap_or_default();
    let (mut start, mut line_end) = (before.len(), before.len());
    for (index, byte) in before.iter().enumerate().rev() {
        let is_line_start = matches!(byte, b'\n' | b'\\');
        if is_line_start || index == 0 {
            let line = before.get(index..line_end).unwrap_or_default();
            if word_count(line) > MAX_KEY_LINE_WORDS || (index == 0 && from > 0) {
                break;
            }
            (start, line_end) = (index, index);
        }
        // A difference of two files has a sign before each line.
        let is_sign =
            *byte == b'-' && index.checked_sub(1).is_none_or(|previous| before.get(previous) == Some(&b'\n'));
        if is_prose_byte(*byte) && !is_sign {
            break;
        }
    }
    let body = before.get(start..).unwrap_or_default();
    base64_runs(body, from + start, 1, true)
}

/// Returns the base64 lines that directly follow the line that contains `from`.
pub(super) fn base64_lines_after(text: &str, from: usize) -> Vec<Range<usize>> {
    let rest = key_bytes_from(text, from);
    // Only the number of lines follows on the header line.
    let line = rest.get(..MAX_BYTES_AFTER_HEADER).unwrap_or(rest);
    let ends = [&b"\n"[..], b"\\n"].into_iter().filter_map(|end| Some(find_bytes(line, end)? + end.len()));
    let Some(end) = ends.min() else { return Vec::new() };
    base64_runs(
        bytes_before_prose(rest.get(end..).unwrap_or_default()),
        from + end,
        MIN_KEY_LINE_BYTES,
        false,
    )
}

/// Returns up to [`MAX_KEY_BYTES`] bytes of `text`, starting at `from`.
fn key_bytes_from(text: &str, from: usize) -> &[u8] {
    let rest = text.as_bytes().get(from..).unwrap_or_default();
    rest.get(..MAX_KEY_BYTES).unwrap_or(rest)
}

/// Returns the bytes before the first line that contains more than four words, or a character other than
/// base64 and the punctuation that surrounds it in source code.
fn bytes_before_prose(body: &[u8]) -> &[u8] {
    let mut end = 0;
    // A backslash may begin an escaped line break.
    for line in body.split_inclusive(|byte| matches!(byte, b'\n' | b'\\')) {
        if line.iter().any(|byte| is_prose_byte(*byte)) || word_count(line) > MAX_KEY_LINE_WORDS {
            break;
        }
        end += line.len();
    }
    body.get(..end).unwrap_or_default()
}

/// Whether a byte is neither base64 nor punctuation that surrounds it in source code.
fn is_prose_byte(byte: u8) -> bool {
    !is_base64(byte) && !b" \t\r\n\\\"',;:+#*|>()".contains(&byte)
}

fn word_count(line: &[u8]) -> usize {
    line.split(|byte| *byte == b' ').filter(|word| !word.trim_ascii().is_empty()).count()
}

/// Returns the ranges of base64 runs of at least `min_length` characters, shifted by `offset`. If the key has an
/// end line, drops short runs before the first long one, such as those of header lines (`Proc-Type: 4,ENCRYPTED`).
fn base64_runs(body: &[u8], offset: usize, min_length: usize, has_end_line: bool) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut index = 0;
    while index < body.len() {
        let end = body.get(index..).unwrap_or_default().iter().position(|byte| !is_base64(*byte));
        let end = end.map_or(body.len(), |length| index + length);
        // Skip the letter of an escaped line break.
        let is_escape = index > 0
            && body.get(index - 1) == Some(&b'\\')
            && matches!(body.get(index), Some(b'n' | b'r' | b't'));
        let start = index + usize::from(is_escape);
        if end >= start + min_length.max(1) {
            ranges.push(start..end);
        }
        index = end.max(index) + 1;
    }
    if has_end_line {
        // After the first long run, a short one is the last line or the checksum of the key.
        let key = ranges.iter().position(|run| run.len() >= MIN_FIRST_LINE_BYTES);
        let Some(first) = key else { return Vec::new() };
        ranges.drain(..first);
    }
    ranges.iter().map(|run| run.start + offset..run.end + offset).collect()
}

pub(super) fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

fn find_bytes(text: &[u8], searched: &[u8]) -> Option<usize> {
    text.windows(searched.len()).position(|window| window == searched)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Vec<&str> {
        pem_lines(text, 0).into_iter().map(|range| &text[range]).collect()
    }

    const LONG: &str = "MIIEpAIBAAKCAQEA1c7+9z5Pad7OejecsQ0buYk1n5Ov3bWRqfX";

    #[test]
    fn every_line_of_a_key_is_a_secret_with_real_and_escaped_line_breaks() {
        let plain = format!("\n{LONG}\n{LONG}\nab==\n-----END PRIVATE KEY-----\n{LONG}");
        assert_eq!(parts(&plain), [LONG, LONG, "ab=="]);
        let escaped = format!("\\n{LONG}\\nab==\\n-----END PRIVATE KEY-----\\n");
        assert_eq!(parts(&escaped), [LONG, "ab=="]);
        let encrypted =
            format!("\nProc-Type: 4,ENCRYPTED\nDEK-Info: X\n\n{LONG}\n-----END RSA PRIVATE KEY-----");
        assert_eq!(parts(&encrypted), [LONG]);
    }

    #[test]
    fn key_lines_must_follow_their_header_directly() {
        let lines = |text: &str| -> Vec<String> {
            base64_lines_after(text, 0).into_iter().map(|range| text[range].to_owned()).collect()
        };
        assert_eq!(lines(&format!(" 2\r\n{LONG}\n{LONG}\nPrivate-MAC: 1")), [LONG, LONG]);
        assert_eq!(lines(&format!(" 2\\n{LONG}\\n{LONG}\\nPrivate-MAC: 1")), [LONG, LONG]);
        assert!(lines(&format!(" 2{}\n{LONG}\n", " ".repeat(100))).is_empty());
    }

    #[test]
    fn the_end_line_of_a_key_reveals_the_lines_before_it() {
        let lines = |text: &str| -> Vec<String> {
            let end = text.find("-----END").unwrap();
            lines_before_pem_end(text, end).into_iter().map(|range| text[range].to_owned()).collect()
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
    fn a_truncated_key_ends_with_its_last_base64_line() {
        assert_eq!(parts(&format!("\n{LONG}\n{LONG}")), [LONG, LONG]);
        assert_eq!(parts(&format!("\n{LONG}\nAnd then the story goes on, at some length.\n{LONG}")), [LONG]);
        assert!(parts(" is how such a file begins.").is_empty());
        assert!(parts("\n...\n-----END PRIVATE KEY-----").is_empty());
    }
}
