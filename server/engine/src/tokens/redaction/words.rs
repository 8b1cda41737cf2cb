//! Distinguishes random-looking values, such as generated secrets, from words, identifiers and example
//! secrets. Considers only the value, not its context.

use serde::Deserialize;

/// How strictly to check a value before treating it as a secret.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Words {
    /// Rejects example secrets and values with low entropy. For values in a provider's format.
    #[default]
    MadeUp,
    /// Rejects only example secrets. For formats with an unmistakable prefix.
    StandIn,
    /// Rejects example secrets, template placeholders and plain words.
    Password,
    /// Accepts only values that look random. Rejects words.
    Random,
    /// Like `Random`, but also rejects identifiers. For unquoted values.
    Strict,
}

/// Substrings of example secrets.
const STAND_INS: &[&str] =
    &["example", "placeholder", "redacted", "changeme", "change-me", "change_me", "xxxxxx", "your-", "your_"];
/// Further substrings of example secrets, checked only in values without a provider's format.
const DOUBTFUL: &[&str] = &[
    "test", "dummy", "fake", "sample", "secret", "password", "passwd", "token", "abcdef", "123456", "qwerty",
    "foobar",
];
/// Interpolation syntax of programs and templates.
const INTERPOLATED: &[&str] = &["${", "{{", "#{", "$(", "<%", "%(", "{}", "{0", "...", "***", "\u{2026}"];

impl Words {
    /// Whether a value looks like a secret.
    pub(super) fn admit(self, value: &str) -> bool {
        let lower = value.to_ascii_lowercase();
        let holds = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        let entropy = bits_per_character(value);
        match self {
            Self::MadeUp => entropy >= 2.5 && !holds(STAND_INS),
            Self::StandIn => !holds(STAND_INS),
            Self::Password => {
                entropy >= 1.5 && !holds(STAND_INS) && !is_interpolated(value) && !is_plain_word(&lower)
            }
            Self::Random => looks_random(value, &lower, entropy) && !holds(STAND_INS),
            Self::Strict => {
                looks_random(value, &lower, entropy) && !holds(STAND_INS) && !looks_like_code(value)
            }
        }
    }
}

/// Returns the Shannon entropy of a value's bytes, in bits per byte.
fn bits_per_character(value: &str) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in value.bytes() {
        if let Some(count) = counts.get_mut(usize::from(byte)) {
            *count += 1;
        }
    }
    let all = value.len() as f64;
    let share = |count: &u32| f64::from(*count) / all;
    counts.iter().filter(|count| **count > 0).map(share).map(|share| -share * share.log2()).sum()
}

/// Whether a value is a template or refers to a variable.
fn is_interpolated(value: &str) -> bool {
    let variable = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    // A long password may contain `%s` or `%v` by chance.
    let formatted = value.len() < 16 && ["%s", "%v"].iter().any(|mark| value.contains(mark));
    formatted
        || INTERPOLATED.iter().any(|mark| value.contains(mark))
        || value.strip_prefix('$').is_some_and(variable)
        || (value.starts_with('<') && value.ends_with('>'))
        || (value.starts_with('{') && value.ends_with('}'))
        || (value.starts_with('%') && value.ends_with('%'))
}

/// Whether a value is a word that documentation uses in place of a password.
fn is_plain_word(lower: &str) -> bool {
    const PLAIN: &[&str] = &[
        "password", "passwd", "pass", "pwd", "secret", "user", "username", "token", "hunter2", "foobar",
        "test", "root", "guest", "admin",
    ];
    PLAIN.contains(&lower.trim_matches(|c: char| !c.is_ascii_alphabetic()))
}

/// Character class, for distinguishing words from random values.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Lower,
    Upper,
    Digit,
    Other,
}

fn class(byte: u8) -> Class {
    match byte {
        b'a'..=b'z' => Class::Lower,
        b'A'..=b'Z' => Class::Upper,
        b'0'..=b'9' => Class::Digit,
        _ => Class::Other,
    }
}

/// Counts changes of the character class between adjacent bytes. A capital before a lowercase letter begins a
/// word and does not count; neither do separators.
fn changes(value: &str) -> usize {
    let bytes = value.as_bytes();
    let pair = |pair: &[u8]| match pair {
        [one, other] => {
            let (one, other) = (class(*one), class(*other));
            let word = one == Class::Upper && other == Class::Lower;
            let separator = matches!(one, Class::Other) || matches!(other, Class::Other);
            one != other && !word && !separator
        }
        _ => false,
    };
    bytes.windows(2).filter(|two| pair(two)).count()
}

/// Whether a value mixes letters, digits and symbols in a way that words do not.
fn looks_random(value: &str, folded: &str, entropy: f64) -> bool {
    let length = value.len();
    let letters = value.bytes().filter(u8::is_ascii_alphabetic).count();
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let symbols = value.bytes().filter(|byte| b"!#$%&*+=?@^~".contains(byte)).count();
    let others = length - letters - digits;
    if length < 8 || letters == 0 || is_interpolated(value) || !value.is_ascii() {
        return false;
    }
    let least = if length < 12 { 2.7 } else { 3.0 };
    if entropy < least || DOUBTFUL.iter().any(|word| folded.contains(word)) && length < 40 {
        return false;
    }
    let changes = changes(value);
    let upper = value.bytes().filter(u8::is_ascii_uppercase).count();
    let lower = letters - upper;
    // Names have a smaller share of capitals among lowercase letters.
    if length >= 16 && upper * 10 >= length * 3 && (lower * 7 >= length || digits > 0 && others >= 3) {
        return true;
    }
    if digits == 0 {
        return others * 8 < length && length >= 16 && upper >= 3 && changes * 5 >= length;
    }
    // Symbols do not count as changes, so add them in short values: `P@5s!w0rd`.
    let mixed = changes + usize::from(symbols > 0 && length < 24) * symbols.min(3);
    mixed >= 3 && mixed * 6 >= length && others * 2 <= length
}

/// Whether an unquoted value looks like a path, a call, a number or a name rather than a secret.
fn looks_like_code(value: &str) -> bool {
    let hex = |byte: u8| byte.is_ascii_hexdigit() || byte == b'-';
    if value.len() >= 32 && value.bytes().all(hex) {
        return false;
    }
    let parts = || value.split(['.', '/', '-', '_', '@', '+', '=', '#']).filter(|part| !part.is_empty());
    let word = |part: &str| {
        let digits = part.bytes().filter(u8::is_ascii_digit).count();
        digits == 0 && changes(part) <= 2 || digits == part.len() || changes(part) <= 1
    };
    let wordy = parts().filter(|part| word(part)).map(str::len).sum::<usize>();
    let longest = parts().map(str::len).max().unwrap_or_default();
    value.starts_with(['/', '.', '#', '@', '~'])
        || wordy * 2 > value.len()
        || longest < 6
        || changes(value) * 5 < longest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_write_is_no_secret() {
        for value in [
            "correcthorse",
            "my-secret-token",
            "django.contrib.auth",
            "csrfmiddlewaretoken",
            "password123",
            "2012-12-25",
            "X-Custom-Header",
            "${DB_PASSWORD}",
            "{{ secret }}",
            "<your key>",
            "UserAgent/1.0",
            "sha256",
            "utf-8",
            "PBKDF2",
            "getAccessTokenForUser",
            "application/json",
            "aaaaaaaaaaaaaaaa1",
            "TestClient2Token",
        ] {
            assert!(!Words::Random.admit(value), "{value}");
        }
    }

    #[test]
    fn what_machines_write_may_be_one() {
        for value in [
            "d41d8cd98f00b204e9800998ecf8427e",
            "xK9#mP2$vL5n",
            "aZ3kQ9xW7bN2mT5p",
            "kJh7-Gf4D_sA2q8W",
            "P4w!9dKz",
        ] {
            assert!(Words::Random.admit(value), "{value}");
        }
        assert!(Words::Strict.admit("aZ3kQ9xW7bN2mT5p"));
        for value in
            ["self.token2_key", "TokenStream2", "/etc/ssl/key1.pem", "Vec3d_from_u8", "req.body.password1"]
        {
            assert!(!Words::Strict.admit(value), "{value}");
        }
    }
}
