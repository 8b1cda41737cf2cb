//! Finds the secrets in lists of names and values that a rule recognizes as a whole: the pairs of a cookie, and the
//! manifest of a Kubernetes Secret.

use std::ops::Range;

use super::encoded;
use super::words::SecretStrictness;

/// Maximum length of the value of a cookie header, in bytes.
const MAX_COOKIE_BYTES: usize = 8 << 10;
/// Minimum length of a cookie's value that may be a secret, in bytes.
const MIN_COOKIE_VALUE_BYTES: usize = 12;
/// Maximum number of bytes of a manifest before its kind, and after it.
const MAX_MANIFEST_BYTES: usize = 64 << 10;

/// Attributes of a cookie, which are not secrets.
const COOKIE_ATTRIBUTES: &[&str] = &["expires", "max-age", "domain", "path", "samesite", "priority"];
/// Fields of a Kubernetes Secret whose values are not secret.
const PUBLIC_FIELDS: &[&str] = &[
    "username",
    "user",
    "login",
    "email",
    "host",
    "hostname",
    "port",
    "database",
    "dbname",
    "name",
    "type",
    "region",
    "endpoint",
    "tls.crt",
    "ca.crt",
    "namespace",
];

/// Secrets in a list, and where the list ends.
pub(super) struct ListedSecrets {
    pub(super) secrets: Vec<Range<usize>>,
    pub(super) end: usize,
}

/// Returns the values in a list of `name=value` pairs that starts at `from`.
pub(super) fn cookie_values(text: &str, from: usize, words: SecretStrictness) -> ListedSecrets {
    let rest = text.get(from..).unwrap_or_default();
    let is_end = |at: &usize| {
        *at >= MAX_COOKIE_BYTES
            || matches!(rest.as_bytes().get(*at), Some(b'"' | b'\'' | b'`' | b'\n' | b'\\'))
    };
    let end = (0..rest.len()).find(is_end).unwrap_or(rest.len());
    let list = rest.get(..strata_base::text::floor_char_boundary(rest, end)).unwrap_or_default();
    let mut secrets = Vec::new();
    let mut at = from;
    for pair in list.split(';') {
        let start = at;
        at += pair.len() + 1;
        let Some((name, value)) = pair.split_once('=') else { continue };
        let name = name.trim();
        let is_name = !name.is_empty() && !name.contains([' ', '(', '{', '[']);
        if !is_name || COOKIE_ATTRIBUTES.contains(&name.to_ascii_lowercase().as_str()) {
            continue;
        }
        let value = value.trim_end();
        let offset = start + pair.len() - pair.split_once('=').map_or(0, |(_, value)| value.len());
        if value.len() >= MIN_COOKIE_VALUE_BYTES && !value.contains(' ') && words.accepts(value) {
            secrets.push(offset..offset + value.len());
        }
    }
    ListedSecrets { secrets, end: from + list.len() }
}

/// Returns the values under `data` and `stringData` in the YAML document around `kind_offset`.
pub(super) fn manifest_values(text: &str, kind_offset: usize, words: SecretStrictness) -> ListedSecrets {
    let search_start =
        strata_base::text::ceil_char_boundary(text, kind_offset.saturating_sub(MAX_MANIFEST_BYTES));
    let before = text.get(search_start..kind_offset).unwrap_or_default();
    let start = before.rfind("\n---").map_or(search_start, |line| search_start + line + 1);
    let after = text
        .get(
            kind_offset
                ..strata_base::text::floor_char_boundary(
                    text,
                    kind_offset.saturating_add(MAX_MANIFEST_BYTES),
                ),
        )
        .unwrap_or_default();
    let end = after.find("\n---").map_or(kind_offset + after.len(), |line| kind_offset + line);
    let mut secrets = Vec::new();
    // The section being read, with the indentation of its name, and the indentation of a text over several lines.
    let mut section: Option<(ManifestSection, usize)> = None;
    let mut block: Option<usize> = None;
    let mut offset = start;
    for line in text.get(start..end).unwrap_or_default().split_inclusive('\n') {
        let content = line.trim();
        let indent = line.len() - line.trim_start().len();
        let position = offset + indent;
        offset += line.len();
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        if block.is_some_and(|outer| indent > outer) {
            secrets.push(position..position + content.len());
            continue;
        }
        block = None;
        if section.is_none_or(|(_, outer)| indent <= outer) {
            section = match content {
                "data:" => Some((ManifestSection::Encoded, indent)),
                "stringData:" => Some((ManifestSection::Plain, indent)),
                _ => None,
            };
            continue;
        }
        let Some((name, value)) = content.split_once(':') else { continue };
        if PUBLIC_FIELDS.contains(&name.trim_matches(['"', '\'']).to_ascii_lowercase().as_str()) {
            continue;
        }
        let unquoted = value.trim().trim_matches(['"', '\'']);
        if unquoted.starts_with(['|', '>']) {
            block = Some(indent);
            continue;
        }
        let Some(value_offset) =
            content.find(unquoted).filter(|_| unquoted.len() >= 4 && !unquoted.contains("{{"))
        else {
            continue;
        };
        let value_offset = content
            .get(name.len()..)
            .and_then(|rest| rest.find(unquoted))
            .map_or(value_offset, |rest| name.len() + rest);
        let range = position + value_offset..position + value_offset + unquoted.len();
        let is_secret = match section {
            Some((ManifestSection::Encoded, _)) => encoded::decode_lines(text, std::slice::from_ref(&range))
                .is_none_or(|plain| words.accepts(plain.trim())),
            _ => words.accepts(unquoted),
        };
        if is_secret && !unquoted.contains(' ') {
            secrets.push(range);
        }
    }
    ListedSecrets { secrets, end }
}

/// A part of a manifest that holds secrets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ManifestSection {
    /// Values in base64.
    Encoded,
    /// Values as they are.
    Plain,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret_texts(text: &str, entries: &ListedSecrets) -> Vec<String> {
        entries.secrets.iter().map(|range| text[range.clone()].to_owned()).collect()
    }

    #[test]
    fn random_values_of_a_cookie_are_secrets() {
        let text = "theme=dark; sid=aZ3kQ9xW7bN2mT5pR8vL; Path=/; _ga=GA1.2.3'; other=aZ3kQ9xW7bN2mT5pR8vL";
        let entries = cookie_values(text, 0, SecretStrictness::Strict);
        assert_eq!(secret_texts(text, &entries), ["aZ3kQ9xW7bN2mT5pR8vL"]);
        assert_eq!(text.as_bytes()[entries.end], b'\'');
        for text in ["", "=", ";;;", "policy is = ;", "é=é", "a"] {
            assert!(cookie_values(text, 0, SecretStrictness::Strict).secrets.is_empty(), "{text}");
        }
    }

    #[test]
    fn every_value_of_a_kubernetes_secret_is_a_secret() {
        let text = "data:\n  a: b25seWE=\n---\nkind: Secret\nmetadata:\n  name: shop\ndata:\n  username: c2hvcA==\n  \
                    password: aHVudGVyMzM=\nstringData:\n  pin: 'open-sesame'\n  file: |\n    one\n    two\n  \
                    url: {{ .Values.url }}\ntype: Opaque\n---\nkind: Service\ndata:\n  a: b25seWE=\n";
        let entries = manifest_values(text, text.find("kind: Secret").unwrap(), SecretStrictness::Password);
        assert_eq!(secret_texts(text, &entries), ["aHVudGVyMzM=", "open-sesame", "one", "two"]);
    }
}
