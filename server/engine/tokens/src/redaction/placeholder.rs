//! Placeholders of secrets, such as `[secret:github-token:1a2b3c4d5e6f]`. The same secret and key always give
//! the same placeholder, so that prompts are stable and edits can be mapped back.
//!
//! The digits are the first 48 bits of a keyed hash. The hash is keyed because passwords can be guessed: a
//! reader of a prompt could compare a plain hash, however short, with those of likely passwords. 48 bits
//! suffice to keep secrets apart: among 10,000 secrets, two share a placeholder with a probability of two in
//! ten million. More digits would only cost tokens.

use std::fmt;
use std::ops::Range;

use serde::{Serialize, Serializer};

const OPENING: &str = "[secret:";
/// Number of hexadecimal digits of the hash in a placeholder.
const PLACEHOLDER_HASH_DIGITS: usize = 12;
/// Maximum length of the rule name in a placeholder, in bytes.
const MAX_LABEL_BYTES: usize = 48;

/// Key of the placeholder hashes. Random, different for each user, and never shown.
#[derive(Clone, Copy)]
pub struct PlaceholderKey([u8; 32]);

/// A placeholder such as `[secret:github-token:1a2b3c4d5e6f]`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Placeholder(String);

impl PlaceholderKey {
    /// Creates a key from bytes, which should be random.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns the placeholder for `secret`. `label` is the kind of secret.
    pub(super) fn placeholder(&self, label: &str, secret: &str) -> Placeholder {
        let mut digits = blake3::keyed_hash(&self.0, secret.as_bytes()).to_hex().to_string();
        digits.truncate(PLACEHOLDER_HASH_DIGITS);
        Placeholder(format!("{OPENING}{label}:{digits}]"))
    }
}

/// Never prints the key.
impl fmt::Debug for PlaceholderKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PlaceholderKey")
    }
}

impl Placeholder {
    /// Returns the placeholder as it appears in text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the kind of secret: a rule name or `credential`.
    pub fn label(&self) -> &str {
        let inside = self.0.strip_prefix(OPENING).unwrap_or_default();
        inside.split(':').next().unwrap_or_default()
    }
}

impl fmt::Display for Placeholder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Placeholder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for Placeholder {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// Returns the placeholders in a text with their byte ranges, in order.
pub fn placeholders(text: &str) -> impl Iterator<Item = (Range<usize>, Placeholder)> {
    text.match_indices(OPENING).filter_map(|(start, _)| {
        let rest = text.get(start..)?;
        let placeholder = rest.get(..placeholder_length(rest)?)?;
        Some((start..start + placeholder.len(), Placeholder(placeholder.to_owned())))
    })
}

/// Returns the byte offset at which a possibly incomplete placeholder at the end of `text` starts, or the
/// length of `text` if there is none.
pub(super) fn incomplete_placeholder_start(text: &str) -> usize {
    let search_start =
        text.len().saturating_sub(OPENING.len() + MAX_LABEL_BYTES + 1 + PLACEHOLDER_HASH_DIGITS + 1);
    let may_continue =
        |rest: &str| OPENING.starts_with(rest) || rest.strip_prefix(OPENING).is_some_and(may_be_unfinished);
    let mut starts =
        text.char_indices().filter(|(start, c)| *start >= search_start && *c == '[').map(|(start, _)| start);
    starts.find(|start| text.get(*start..).is_some_and(may_continue)).unwrap_or(text.len())
}

/// Whether `inside` can be the label and digits after [`OPENING`], possibly cut short.
fn may_be_unfinished(inside: &str) -> bool {
    let (label, digits) = match inside.split_once(':') {
        Some(("", _)) => return false,
        Some((label, digits)) => (label, digits),
        None => (inside, ""),
    };
    label.len() <= MAX_LABEL_BYTES
        && label.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
        && digits.len() <= PLACEHOLDER_HASH_DIGITS
        && digits.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

/// Returns the length in bytes of the placeholder that `text` starts with, if any.
fn placeholder_length(text: &str) -> Option<usize> {
    let rest = text.strip_prefix(OPENING)?.as_bytes();
    let is_in_label = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-';
    let label_length = rest
        .iter()
        .take(MAX_LABEL_BYTES + 1)
        .position(|byte| !is_in_label(byte))
        .filter(|length| *length > 0)?;
    let digits = rest.get(label_length..)?.strip_prefix(b":")?.get(..=PLACEHOLDER_HASH_DIGITS)?;
    let (last, digits) = digits.split_last()?;
    let is_digit = |byte: &u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(byte);
    (*last == b']' && digits.iter().all(is_digit))
        .then_some(OPENING.len() + label_length + 1 + PLACEHOLDER_HASH_DIGITS + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_placeholder_is_parsed_from_text_and_depends_on_the_key() {
        let (key, other_key) = (PlaceholderKey::new([1; 32]), PlaceholderKey::new([2; 32]));
        let placeholder = key.placeholder("github-token", "hunter2");
        assert_eq!(placeholder, key.placeholder("github-token", "hunter2"));
        assert_ne!(placeholder, key.placeholder("github-token", "hunter3"));
        assert_ne!(placeholder, other_key.placeholder("github-token", "hunter2"));
        assert_eq!(placeholder.label(), "github-token");
        let text = format!("[secret:[secret:x] {placeholder}, {placeholder}]");
        let parsed: Vec<_> =
            placeholders(&text).map(|(range, parsed)| (text[range].to_owned(), parsed)).collect();
        assert_eq!(parsed, vec![(placeholder.to_string(), placeholder); 2]);
    }

    #[test]
    fn text_that_resembles_a_placeholder_is_not_one() {
        for text in [
            "[secret:a:1a2b3c4d5e6]",
            "[secret::1a2b3c4d5e6f]",
            "[secret:A:1a2b3c4d5e6f]",
            "[secret:a:1a2b3c4d5e6g]",
            "[secret:a:1a2b3c4d5e6f",
        ] {
            assert_eq!(placeholders(text).count(), 0, "{text}");
        }
    }
}
