//! Finds the secrets in lists of names and values that a rule recognizes as a whole: the pairs of a cookie, and the
//! manifest of a Kubernetes Secret.

use std::ops::Range;

use super::encoded;
use super::words::Words;

/// Maximum length of the value of a cookie header, in bytes.
const LONGEST_COOKIE: usize = 8 << 10;
/// Minimum length of a cookie's value that may be a secret, in bytes.
const SHORTEST_COOKIE: usize = 12;
/// Maximum number of bytes of a manifest before its kind, and after it.
const LONGEST_MANIFEST: usize = 64 << 10;

/// Attributes of a cookie, which are not secrets.
const ATTRIBUTES: &[&str] = &["expires", "max-age", "domain", "path", "samesite", "priority"];
/// Fields of a Kubernetes Secret whose values are not secret.
const PUBLIC: &[&str] = &[
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
pub(super) struct Entries {
    pub(super) secrets: Vec<Range<usize>>,
    pub(super) end: usize,
}

/// Returns the values in a list of `name=value` pairs that starts at `from`.
pub(super) fn pairs(text: &str, from: usize, words: Words) -> Entries {
    let rest = text.get(from..).unwrap_or_default();
    let is_end = |at: &usize| {
        *at >= LONGEST_COOKIE || matches!(rest.as_bytes().get(*at), Some(b'"' | b'\'' | b'`' | b'\n' | b'\\'))
    };
    let end = (0..rest.len()).find(is_end).unwrap_or(rest.len());
    let list = rest.get(..strata_base::text::floor(rest, end)).unwrap_or_default();
    let mut secrets = Vec::new();
    let mut at = from;
    for pair in list.split(';') {
        let start = at;
        at += pair.len() + 1;
        let Some((name, value)) = pair.split_once('=') else { continue };
        let name = name.trim();
        let is_name = !name.is_empty() && !name.contains([' ', '(', '{', '[']);
        if !is_name || ATTRIBUTES.contains(&name.to_ascii_lowercase().as_str()) {
            continue;
        }
        let value = value.trim_end();
        let offset = start + pair.len() - pair.split_once('=').map_or(0, |(_, value)| value.len());
        if value.len() >= SHORTEST_COOKIE && !value.contains(' ') && words.admit(value) {
            secrets.push(offset..offset + value.len());
        }
    }
    Entries { secrets, end: from + list.len() }
}

/// Returns the values under `data` and `stringData` in the YAML document around `at`.
pub(super) fn manifest(text: &str, at: usize, words: Words) -> Entries {
    let from = strata_base::text::ceil(text, at.saturating_sub(LONGEST_MANIFEST));
    let before = text.get(from..at).unwrap_or_default();
    let start = before.rfind("\n---").map_or(from, |line| from + line + 1);
    let after =
        text.get(at..strata_base::text::floor(text, at.saturating_add(LONGEST_MANIFEST))).unwrap_or_default();
    let end = after.find("\n---").map_or(at + after.len(), |line| at + line);
    let mut secrets = Vec::new();
    // The section being read, with the indentation of its name, and the indentation of a text over several lines.
    let mut section: Option<(Section, usize)> = None;
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
                "data:" => Some((Section::Encoded, indent)),
                "stringData:" => Some((Section::Plain, indent)),
                _ => None,
            };
            continue;
        }
        let Some((name, value)) = content.split_once(':') else { continue };
        if PUBLIC.contains(&name.trim_matches(['"', '\'']).to_ascii_lowercase().as_str()) {
            continue;
        }
        let bare = value.trim().trim_matches(['"', '\'']);
        if bare.starts_with(['|', '>']) {
            block = Some(indent);
            continue;
        }
        let Some(shift) = content.find(bare).filter(|_| bare.len() >= 4 && !bare.contains("{{")) else {
            continue;
        };
        let shift = content
            .get(name.len()..)
            .and_then(|rest| rest.find(bare))
            .map_or(shift, |rest| name.len() + rest);
        let range = position + shift..position + shift + bare.len();
        let is_secret = match section {
            Some((Section::Encoded, _)) => encoded::decoded(text, std::slice::from_ref(&range))
                .is_none_or(|plain| words.admit(plain.trim())),
            _ => words.admit(bare),
        };
        if is_secret && !bare.contains(' ') {
            secrets.push(range);
        }
    }
    Entries { secrets, end }
}

/// A part of a manifest that holds secrets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    /// Values in base64.
    Encoded,
    /// Values as they are.
    Plain,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, entries: &Entries) -> Vec<String> {
        entries.secrets.iter().map(|range| text[range.clone()].to_owned()).collect()
    }

    #[test]
    fn the_random_values_of_a_cookie_are_secrets() {
        let text = "theme=dark; sid=aZ3kQ9xW7bN2mT5pR8vL; Path=/; _ga=GA1.2.3'; other=aZ3kQ9xW7bN2mT5pR8vL";
        let found = pairs(text, 0, Words::Strict);
        assert_eq!(shown(text, &found), ["aZ3kQ9xW7bN2mT5pR8vL"]);
        assert_eq!(text.as_bytes()[found.end], b'\'');
        for text in ["", "=", ";;;", "policy is = ;", "é=é", "a"] {
            assert!(pairs(text, 0, Words::Strict).secrets.is_empty(), "{text}");
        }
    }

    #[test]
    fn every_value_of_a_secret_in_kubernetes_is_one() {
        let text = "data:\n  a: b25seWE=\n---\nkind: Secret\nmetadata:\n  name: shop\ndata:\n  username: c2hvcA==\n  \
                    password: aHVudGVyMzM=\nstringData:\n  pin: 'open-sesame'\n  file: |\n    one\n    two\n  \
                    url: {{ .Values.url }}\ntype: Opaque\n---\nkind: Service\ndata:\n  a: b25seWE=\n";
        let found = manifest(text, text.find("kind: Secret").unwrap(), Words::Password);
        assert_eq!(shown(text, &found), ["aHVudGVyMzM=", "open-sesame", "one", "two"]);
    }
}
