//! Finds secrets inside base64: keys and files that were encoded as a whole, over one line or several. Each line is a
//! separate secret, so that redaction preserves the line structure.

use std::ops::Range;

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::key_lines::is_base64;

/// Maximum length of one encoded text, in bytes.
const MAX_ENCODED_BYTES: usize = 64 << 10;
/// Minimum length of an encoded text, in bytes.
const MIN_ENCODED_BYTES: usize = 24;
/// Minimum length of a line that the next line continues, in bytes: that of PEM, less than that of MIME.
const MIN_CONTINUED_LINE_BYTES: usize = 60;

const BASE64_DECODER: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// Returns the lines of base64 that start at `from`. Returns none if `from` is inside a run of base64, or if the run is
/// short.
pub(super) fn base64_lines_from(text: &str, from: usize) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let before = bytes.get(..from).unwrap_or_default();
    // An equals sign assigns the run, and the letter of an escaped line break is not part of it.
    let is_run_start = before.last().is_none_or(|byte| !is_base64(*byte) || *byte == b'=')
        || [b"\\n", b"\\r", b"\\t"].iter().any(|escape| before.ends_with(*escape));
    if !is_run_start {
        return Vec::new();
    }
    let limit = bytes.len().min(from.saturating_add(MAX_ENCODED_BYTES));
    let run_at = |start: usize| {
        let rest = bytes.get(start..limit).unwrap_or_default();
        let end = rest.iter().position(|byte| !is_base64(*byte) || *byte == b'=').unwrap_or(rest.len());
        let padding = rest.iter().skip(end).take(2).take_while(|byte| **byte == b'=').count();
        start..start + end + padding
    };
    let mut lines = vec![run_at(from)];
    if lines.first().is_none_or(|line| line.len() < MIN_ENCODED_BYTES) {
        return Vec::new();
    }
    while let Some(last) = lines.last().filter(|last| last.len() >= MIN_CONTINUED_LINE_BYTES) {
        let Some(start) = next_line_start(bytes, last.end) else { break };
        let line = run_at(start);
        let is_line_end = matches!(bytes.get(line.end), None | Some(b'\r' | b'\n' | b'\\' | b'"' | b'\''));
        if line.is_empty() || line.len() > last.len() || !is_line_end {
            break;
        }
        lines.push(line);
    }
    lines
}

/// Returns where the text of the next line starts, after a real or escaped line break and indentation.
fn next_line_start(bytes: &[u8], end: usize) -> Option<usize> {
    let rest = bytes.get(end..)?;
    let line_break = [&b"\r\n"[..], b"\n", b"\\r\\n", b"\\n"]
        .into_iter()
        .find(|line_break| rest.starts_with(line_break))?;
    let rest = rest.get(line_break.len()..)?;
    Some(end + line_break.len() + rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count())
}

/// Decodes the text in lines of base64, or returns `None` if they do not contain text.
pub(super) fn decode_lines(text: &str, lines: &[Range<usize>]) -> Option<String> {
    let encoded: String = lines.iter().filter_map(|line| text.get(line.clone())).collect();
    let unpadded = encoded.trim_end_matches('=');
    // A text that was cut off ends inside a group of four characters.
    let unpadded = unpadded.get(..unpadded.len() - usize::from(unpadded.len() % 4 == 1))?;
    String::from_utf8(BASE64_DECODER.decode(unpadded).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_base64_continue_while_they_are_full() {
        let full = "QUJD".repeat(16);
        let found = |text: &str| -> Vec<String> {
            let from = text.find("QUJD").unwrap();
            base64_lines_from(text, from).into_iter().map(|line| text[line].to_owned()).collect()
        };
        assert_eq!(found(&format!("a: {full}\n  {full}\n  QUI=\n  b: c")), [&*full, &full, "QUI="]);
        assert_eq!(found(&format!("\"{full}\\n{full}\\nQUI=\"")), [&*full, &full, "QUI="]);
        assert_eq!(found(&format!("a: {full}\nname: c")), [&*full]);
        assert_eq!(found(&format!("a={full}")), [&*full]);
        assert!(found(&format!("x{full}")).is_empty());
        assert!(found("QUJD").is_empty());
    }

    #[test]
    fn truncated_base64_is_decoded() {
        let text = "eyJhIjogImIifQ==";
        for end in 4..text.len() {
            let start = decode_lines(text, std::slice::from_ref(&(0..end))).unwrap();
            assert!("{\"a\": \"b\"}".starts_with(&start), "{start}");
        }
        assert_eq!(decode_lines("////", std::slice::from_ref(&(0..4))), None);
    }
}
