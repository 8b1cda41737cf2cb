//! Decodes UTF-8 with or without a byte order mark, and UTF-16 with one. Rejects binary data. Does not guess other
//! encodings, since a wrong guess would silently corrupt the text.

use serde::{Deserialize, Serialize};

/// A change that the decoder made to the content. Shown next to the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "camelCase")]
pub enum DecodeNotice {
    /// Some bytes were invalid in the file's encoding and were replaced.
    #[error("invalid bytes were replaced by U+FFFD")]
    Replaced,
    /// The file is a notebook, and its cells are shown without their outputs.
    #[error("the cells of a notebook file, without their outputs")]
    Notebook,
    /// The file is UTF-16 and was converted to UTF-8.
    #[error("decoded from UTF-16")]
    Utf16,
}

/// Why a file cannot be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DecodeError {
    /// The first bytes contain a NUL.
    Binary,
    /// The bytes are neither UTF-8 nor UTF-16.
    OtherEncoding,
}

/// Number of leading bytes in which a NUL marks a file as binary. Same value as Git's (`buffer_is_binary` in
/// `xdiff-interface.c`).
const BINARY_CHECK_BYTES: usize = 8000;

/// Minimum characters per replacement character. Text with more replacements is useless to a reader. Western European
/// text in Latin-1 passes; text in Cyrillic or Shift-JIS does not.
const MIN_CHARACTERS_PER_REPLACEMENT: usize = 8;

/// Decodes bytes as text and removes the byte order mark.
pub(super) fn decode(bytes: Vec<u8>) -> Result<(String, Option<DecodeNotice>), DecodeError> {
    match bytes.as_slice() {
        [0xFF, 0xFE, content @ ..] => decode_utf16(content, u16::from_le_bytes),
        [0xFE, 0xFF, content @ ..] => decode_utf16(content, u16::from_be_bytes),
        [0xEF, 0xBB, 0xBF, content @ ..] => decode_utf8(content.to_vec()),
        _ => decode_utf8(bytes),
    }
}

/// Whether the first bytes contain a NUL.
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    bytes.iter().take(BINARY_CHECK_BYTES).any(|&byte| byte == 0)
}

fn decode_utf8(bytes: Vec<u8>) -> Result<(String, Option<DecodeNotice>), DecodeError> {
    if is_binary(&bytes) {
        return Err(DecodeError::Binary);
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok((text, None)),
        Err(error) => check_replacements(String::from_utf8_lossy(error.as_bytes()).into_owned()),
    }
}

fn decode_utf16(
    bytes: &[u8],
    unit: fn([u8; 2]) -> u16,
) -> Result<(String, Option<DecodeNotice>), DecodeError> {
    let (pairs, odd) = bytes.as_chunks::<2>();
    let mut is_valid = odd.is_empty();
    let mut text = String::with_capacity(bytes.len());
    for decoded in char::decode_utf16(pairs.iter().map(|&pair| unit(pair))) {
        is_valid &= decoded.is_ok();
        text.push(decoded.unwrap_or(char::REPLACEMENT_CHARACTER));
    }
    // UTF-32LE begins with the byte order mark of UTF-16LE, and then decodes with many NULs.
    if text.chars().take(BINARY_CHECK_BYTES).any(|c| c == '\0') {
        return Err(DecodeError::Binary);
    }
    if is_valid { Ok((text, Some(DecodeNotice::Utf16))) } else { check_replacements(text) }
}

fn check_replacements(text: String) -> Result<(String, Option<DecodeNotice>), DecodeError> {
    let replacements = text.matches(char::REPLACEMENT_CHARACTER).count();
    if replacements * MIN_CHARACTERS_PER_REPLACEMENT > text.chars().count() {
        return Err(DecodeError::OtherEncoding);
    }
    Ok((text, Some(DecodeNotice::Replaced)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], expected: Result<(&str, Option<DecodeNotice>), DecodeError>) {
        assert_eq!(decode(bytes.to_vec()), expected.map(|(text, notice)| (text.to_owned(), notice)));
    }

    #[test]
    fn encodings() {
        check(b"", Ok(("", None)));
        check(b"a\r\nb", Ok(("a\r\nb", None)));
        check(b"\xEF\xBB\xBFa", Ok(("a", None)));
        check("€𝄞".as_bytes(), Ok(("€𝄞", None)));
        check(b"\xFF\xFEa\0\x3D\xD8\x00\xDE", Ok(("a😀", Some(DecodeNotice::Utf16))));
        check(b"\xFE\xFF\0a\xD8\x3D\xDE\x00", Ok(("a😀", Some(DecodeNotice::Utf16))));
        let latin_1 = "caf\u{FFFD}, cr\u{FFFD}me et th\u{FFFD} bien chaud";
        check(b"caf\xE9, cr\xE8me et th\xE9 bien chaud", Ok((latin_1, Some(DecodeNotice::Replaced))));
        check(b"\xEF\xF0\xE8\xE2\xE5\xF2", Err(DecodeError::OtherEncoding));
        check(b"\x7FELF\x02\0", Err(DecodeError::Binary));
        check(b"\xFF\xFE\0\0a\0\0\0", Err(DecodeError::Binary));
        check(b"\0", Err(DecodeError::Binary));
    }

    #[test]
    fn a_lone_surrogate_is_replaced() {
        let mut bytes = vec![0xFF, 0xFE];
        bytes.extend("sixteen is enough".encode_utf16().chain([0xD800]).flat_map(u16::to_le_bytes));
        check(&bytes, Ok(("sixteen is enough\u{FFFD}", Some(DecodeNotice::Replaced))));
    }

    #[test]
    fn a_nul_counts_only_near_the_beginning() {
        let mut bytes = vec![b'a'; BINARY_CHECK_BYTES];
        bytes.push(0);
        assert_eq!(decode(bytes.clone()).unwrap().1, None);
        bytes[BINARY_CHECK_BYTES - 1] = 0;
        assert_eq!(decode(bytes), Err(DecodeError::Binary));
    }

    proptest! {
        #[test]
        fn text_is_decoded_without_changes(text in "[^\0\u{FEFF}][^\0]{0,60}") {
            prop_assert_eq!(decode(text.clone().into_bytes()), Ok((text.clone(), None)));
            let utf16 = [0xFEFF].into_iter().chain(text.encode_utf16()).flat_map(u16::to_be_bytes).collect();
            prop_assert_eq!(decode(utf16), Ok((text, Some(DecodeNotice::Utf16))));
        }

        #[test]
        fn arbitrary_bytes_do_not_panic(bytes: Vec<u8>) {
            let _ = decode(bytes);
        }
    }
}
