//! Messages as text, whole or damaged on their way to the server.

use e2e::{Rng, uri_of};
use std::path::Path;

/// A notification as JSON text.
pub(super) fn notification(method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#)
}

/// How a message is lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Damage {
    InvalidUtf8,
    ControlCharacter,
    NoVersion,
    NullId,
    MethodTwice,
    Truncated,
    ShortLength,
    Batch,
    Garbage,
}

impl Damage {
    const ALL: [Self; 9] = [
        Self::InvalidUtf8,
        Self::ControlCharacter,
        Self::NoVersion,
        Self::NullId,
        Self::MethodTwice,
        Self::Truncated,
        Self::ShortLength,
        Self::Batch,
        Self::Garbage,
    ];

    pub(super) fn any(rng: &mut Rng) -> Self {
        rng.one_of(&Self::ALL)
    }

    /// Whether it can be read which document the message was about.
    pub(super) fn keeps_document(self) -> bool {
        !matches!(self, Self::Truncated | Self::ShortLength | Self::Batch | Self::Garbage)
    }

    /// The bytes that reach the server.
    pub(super) fn apply(self, message: &str, rng: &mut Rng) -> Vec<u8> {
        let with = |bytes: &[u8]| {
            let open = message.strip_suffix("}}").unwrap();
            [open.as_bytes(), b",\"more\":\"", bytes, b"\"}}"].concat()
        };
        let version = r#""jsonrpc":"2.0","#;
        let body = match self {
            Self::InvalidUtf8 => with(b"\xFF"),
            Self::ControlCharacter => with(b"\x01"),
            Self::NoVersion => message.replacen(version, "", 1).into_bytes(),
            Self::NullId => message.replacen(version, r#""jsonrpc":"2.0","id":null,"#, 1).into_bytes(),
            Self::MethodTwice => {
                message.replacen(version, r#""jsonrpc":"2.0","method":"m","#, 1).into_bytes()
            }
            Self::Truncated | Self::ShortLength => {
                message.as_bytes()[..1 + rng.below(message.len() - 1)].to_vec()
            }
            Self::Batch => format!("[{message}]").into_bytes(),
            Self::Garbage => return format!("Content-Len: {message}\r\n\r\n").into_bytes(),
        };
        let header = format!("Content-Length: {}\r\n\r\n", body.len());
        let rest = if self == Self::ShortLength { &message.as_bytes()[body.len()..] } else { b"" };
        [header.as_bytes(), &body, rest].concat()
    }
}

/// A spelling of the address of a file, as JSON text.
pub(super) fn spelled(rng: &mut Rng, path: &Path) -> String {
    let encoded = uri_of(path);
    let (scheme, rest) = encoded.split_once("://").unwrap();
    let scheme = rng.one_of(&[scheme, scheme, scheme, "FILE", "File"]);
    let slashes = rng.one_of(&["://", "://", "://", ":", "://localhost"]);
    let mut uri = format!("{scheme}{slashes}");
    let text = percent_decoded(rest);
    let codes_of = rng.one_of(&[0, 1, 2]);
    for character in text.chars() {
        let mut bytes = [0; 4];
        let is_raw = match (codes_of, character) {
            (_, '%') => false,
            (_, '/' | ':' | 'a'..='z') | (0, _) => true,
            (1, _) => character.is_ascii_alphanumeric() || "-._~".contains(character),
            _ => !rng.once_in(2),
        };
        if is_raw {
            uri.push(character);
        } else {
            let lower = rng.once_in(2);
            for byte in character.encode_utf8(&mut bytes).bytes() {
                uri.push_str(&if lower { format!("%{byte:02x}") } else { format!("%{byte:02X}") });
            }
        }
    }
    serde_json::to_string(&uri).unwrap()
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        match (first, after) {
            (b'%', [high, low, after @ ..]) => {
                let digits = [*high, *low];
                bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap());
                rest = after;
            }
            _ => bytes.push(*first),
        }
    }
    String::from_utf8(bytes).unwrap()
}
