//! Distinguishes random-looking values, such as generated secrets, from words, identifiers and example
//! secrets. Considers only the value, not its context.

use serde::Deserialize;

/// How strictly to check a value before treating it as a secret.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum SecretStrictness {
    /// Rejects example secrets and values with low entropy. For values in a provider's format.
    #[default]
    MadeUp,
    /// Rejects only example secrets. For formats with an unmistakable prefix.
    StandIn,
    /// Rejects example secrets, template placeholders and plain words.
    Password,
    /// Accepts values that look random, and words with digits or symbols, as people choose them for passwords.
    Chosen,
    /// Accepts only values that look random. Rejects words.
    Random,
    /// Like `Random`, but also rejects identifiers. For unquoted values.
    Strict,
}

/// Substrings of example secrets.
const EXAMPLE_MARKERS: &[&str] =
    &["example", "placeholder", "redacted", "changeme", "change-me", "change_me", "xxxxxx", "your-", "your_"];
/// Further substrings of example secrets, checked only in values without a provider's format.
const WEAK_EXAMPLE_MARKERS: &[&str] = &[
    "test", "dummy", "fake", "sample", "secret", "password", "passwd", "token", "abcdef", "123456", "qwerty",
    "foobar", "hunter", "hello",
];
/// Parts of technical names with digits, which people do not choose as passwords.
const TECHNICAL_NAME_PARTS: &[&str] = &[
    "sha1", "sha2", "sha3", "sha5", "md5", "utf8", "utf-8", "utf16", "base64", "base32", "oauth", "x509",
    "ed25519", "rsa", "hmac", "pbkdf", "argon", "crypt", "aes", "pkcs", "http", "version", "ascii", "uint",
    "int32", "int64",
];
/// Interpolation syntax of programs and templates.
const INTERPOLATED: &[&str] = &["${", "{{", "#{", "$(", "<%", "%(", "{}", "{0", "...", "***", "\u{2026}"];

impl SecretStrictness {
    /// Whether a value looks like a secret.
    pub(super) fn accepts(self, value: &str) -> bool {
        let lower = value.to_ascii_lowercase();
        let contains_any = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        let entropy = entropy_per_byte(value);
        if self >= Self::Chosen
            && (is_constant_name(value) || value.starts_with("--") || has_unicode_escape(&lower))
        {
            return false;
        }
        match self {
            Self::MadeUp => entropy >= 2.5 && !contains_any(EXAMPLE_MARKERS),
            Self::StandIn => !contains_any(EXAMPLE_MARKERS),
            Self::Password => {
                entropy >= 1.5
                    && !contains_any(EXAMPLE_MARKERS)
                    && !is_interpolated(value)
                    && !is_sample_password(&lower)
            }
            Self::Chosen => {
                (looks_like_password(value, &lower, entropy) || looks_random(value, &lower, entropy))
                    && !contains_any(EXAMPLE_MARKERS)
            }
            Self::Random => looks_random(value, &lower, entropy) && !contains_any(EXAMPLE_MARKERS),
            Self::Strict => {
                looks_random(value, &lower, entropy)
                    && !contains_any(EXAMPLE_MARKERS)
                    && !looks_like_code(value)
            }
        }
    }
}

/// Returns the Shannon entropy of a value's bytes, in bits per byte.
fn entropy_per_byte(value: &str) -> f64 {
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
    let is_variable = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    // A long password may contain `%s` or `%v` by chance.
    let has_format = value.len() < 16 && ["%s", "%v"].iter().any(|mark| value.contains(mark));
    has_format
        || INTERPOLATED.iter().any(|mark| value.contains(mark))
        || value.strip_prefix('$').is_some_and(is_variable)
        || (value.starts_with('<') && value.ends_with('>'))
        || (value.starts_with('{') && value.ends_with('}'))
        || (value.starts_with('%') && value.ends_with('%'))
}

/// Whether a value is a word that documentation uses in place of a password.
fn is_sample_password(lower: &str) -> bool {
    const PLAIN: &[&str] = &[
        "password",
        "passwd",
        "pass",
        "pwd",
        "secret",
        "user",
        "username",
        "token",
        "hunter2",
        "foobar",
        "test",
        "root",
        "guest",
        "admin",
        "tiger",
        "mypass",
        "mypassword",
        "mysecret",
        "secretpass",
    ];
    PLAIN.contains(&lower.trim_matches(|c: char| !c.is_ascii_alphabetic()))
}

/// Character class, for distinguishing words from random values.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ByteClass {
    Lower,
    Upper,
    Digit,
    Other,
}

fn byte_class(byte: u8) -> ByteClass {
    match byte {
        b'a'..=b'z' => ByteClass::Lower,
        b'A'..=b'Z' => ByteClass::Upper,
        b'0'..=b'9' => ByteClass::Digit,
        _ => ByteClass::Other,
    }
}

/// Counts changes of the character class between adjacent bytes. A capital before a lowercase letter begins a
/// word and does not count; neither do separators.
fn class_changes(value: &str) -> usize {
    let bytes = value.as_bytes();
    let is_change = |pair: &[u8]| match pair {
        [a, b] => {
            let (a, b) = (byte_class(*a), byte_class(*b));
            let starts_word = a == ByteClass::Upper && b == ByteClass::Lower;
            let has_separator = matches!(a, ByteClass::Other) || matches!(b, ByteClass::Other);
            a != b && !starts_word && !has_separator
        }
        _ => false,
    };
    bytes.windows(2).filter(|pair| is_change(pair)).count()
}

/// Whether a value mixes letters, digits and symbols in a way that words do not.
fn looks_random(value: &str, lower_case: &str, entropy: f64) -> bool {
    let length = value.len();
    let letters = value.bytes().filter(u8::is_ascii_alphabetic).count();
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let symbols = value.bytes().filter(|byte| b"!#$%&*+=?@^~".contains(byte)).count();
    let others = length - letters - digits;
    if length < 8 || letters == 0 || is_interpolated(value) || !value.is_ascii() {
        return false;
    }
    let min_entropy = if length < 12 { 2.7 } else { 3.0 };
    if entropy < min_entropy
        || WEAK_EXAMPLE_MARKERS.iter().any(|word| lower_case.contains(word)) && length < 40
        || consists_of_words(value)
    {
        return false;
    }
    let class_changes = class_changes(value);
    let upper = value.bytes().filter(u8::is_ascii_uppercase).count();
    let lower = letters - upper;
    // Names have a smaller share of capitals among lowercase letters.
    if length >= 16 && upper * 10 >= length * 3 && (lower * 7 >= length || digits > 0 && others >= 3) {
        return true;
    }
    if digits == 0 {
        return others * 8 < length && length >= 16 && upper >= 3 && class_changes * 5 >= length;
    }
    // Symbols do not count as changes, so add them in short values: `P@5s!w0rd`.
    let mixed = class_changes + usize::from(symbols > 0 && length < 24) * symbols.min(3);
    mixed >= 3 && mixed * 6 >= length && others * 2 <= length
}

/// Whether a value could be a password that a person made of words, digits and symbols, such as `Winter-2017!`.
fn looks_like_password(value: &str, lower_case: &str, entropy: f64) -> bool {
    let count = |is_counted: fn(&u8) -> bool| value.bytes().filter(is_counted).count();
    let letters = count(u8::is_ascii_alphabetic);
    let digits = count(u8::is_ascii_digit);
    let symbols = count(|byte| b"!#$%&*+=?@^~".contains(byte));
    let contains_any = |words: &[&str]| words.iter().any(|word| lower_case.contains(word));
    if !(8..=64).contains(&value.len())
        || !value.is_ascii()
        || entropy < 2.3
        || is_interpolated(value)
        || contains_any(WEAK_EXAMPLE_MARKERS)
        || contains_any(TECHNICAL_NAME_PARTS)
        || value.contains(['/', '(', ')', '[', ']', '<', '>', '{', '}', '\\', ':', ',', ' '])
        || is_email_or_host(value)
        || value.starts_with(['.', '-', '_', '$', '#', '%'])
    {
        return false;
    }
    // Names with a number inside (`sha1_hash`, `i18nKeys`) are more common than passwords with one digit.
    let trailing = value.bytes().rev().take_while(u8::is_ascii_digit).count();
    let leading = value.bytes().take_while(u8::is_ascii_digit).count();
    let is_name = symbols == 0 && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    match (digits, symbols) {
        (0, 0) => {
            letters == value.len()
                && letters >= 12
                && !consists_of_words(value)
                && !value.bytes().any(|b| b.is_ascii_uppercase())
        }
        (0, _) => symbols >= 2 && letters >= 4 && !consists_of_words(value),
        _ if letters < 3 => false,
        _ if is_name => digits >= 2 && (trailing >= 2 || leading >= 2 || digits >= 3),
        _ => symbols > 0 || digits >= 2,
    }
}

/// Whether a value is the name of a constant, such as `SCRAM_SHA_256`.
fn is_constant_name(value: &str) -> bool {
    let is_in_name = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    value.bytes().all(is_in_name) && value.bytes().filter(|byte| *byte == b'_').count() >= 2
}

/// Whether a value is text of another script in JSON: `\u30d0\u30a4`.
fn has_unicode_escape(lower_case: &str) -> bool {
    let code =
        |at: usize| lower_case.get(at + 2..at + 6).and_then(|digits| u32::from_str_radix(digits, 16).ok());
    lower_case.match_indices("\\u").any(|(at, _)| code(at).is_some_and(|code| code >= 0x80))
}

/// Whether a value is an email address or a host name with a domain.
fn is_email_or_host(value: &str) -> bool {
    let after = value.rsplit('@').next().unwrap_or_default();
    let domain = after.rsplit('.').next().unwrap_or_default();
    after.contains('.')
        && (2..=4).contains(&domain.len())
        && domain.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// Letters that commonly follow each letter from `a` to `z` in names: 97 % of all pairs in the identifiers of Rust, C and
/// TypeScript sources, but fewer than half of all possible pairs.
const COMMON_NEXT_LETTERS: [&str; 26] = [
    "abcdfgiklmnprstuvwxy",
    "abceilorstuy",
    "acdehiklmoprstuy",
    "adefilorsuv",
    "abcdefghiklmnopqrstuvwxyz",
    "acdefilorstuy",
    "aeghilnorsu",
    "aeimortuy",
    "abcdefgklmnoprstvxz",
    "eoua",
    "aeis",
    "acdefilostuvy",
    "abeimopsu",
    "abcdefgiklnoprstuvy",
    "abcdfgiklmnoprstuvwx",
    "aehiloprstu",
    "u",
    "abcdefgiklmnoprstuvy",
    "acefghiklmnoprstuwy",
    "acdefhilmnoprstuwxy",
    "abcdefgilmnoprst",
    "aeio",
    "aehinors",
    "aceipt",
    "eimnps",
    "aei",
];

/// Whether most letters of a value belong to words, as in `Ed25519KeyPairSigner`.
fn consists_of_words(value: &str) -> bool {
    let letters = value.bytes().filter(u8::is_ascii_alphabetic).count();
    let is_hex = value.len() >= 16 && value.bytes().all(|byte| byte.is_ascii_hexdigit());
    if letters * 2 < value.len() || is_hex {
        return false;
    }
    let in_words: usize = letter_runs(value.as_bytes()).filter(|part| is_word(part)).map(<[u8]>::len).sum();
    in_words * 10 >= letters * 7
}

/// Splits a name into its runs of letters: words with at most one capital, at the start, and words in capitals.
fn letter_runs(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    let class_at = |index: usize| value.get(index).map_or(ByteClass::Other, |byte| byte_class(*byte));
    let is_run_start = move |index: usize| match (class_at(index.wrapping_sub(1)), class_at(index)) {
        (ByteClass::Upper, ByteClass::Upper) => class_at(index + 1) == ByteClass::Lower,
        (ByteClass::Upper, ByteClass::Lower) => false,
        (previous, current) => previous != current,
    };
    let mut start = 0;
    std::iter::from_fn(move || {
        let rest = value.get(start..).filter(|rest| !rest.is_empty())?;
        let end = (start + 1..value.len()).find(|index| is_run_start(*index)).unwrap_or(value.len());
        let part = rest.get(..end - start)?;
        start = end;
        Some(part)
    })
}

/// Whether the letters of a part follow each other as in words.
fn is_word(part: &[u8]) -> bool {
    let letter = |byte: u8| usize::from(byte.to_ascii_lowercase().wrapping_sub(b'a'));
    let follows = |pair: &&[u8]| match pair {
        [a, b] => COMMON_NEXT_LETTERS
            .get(letter(*a))
            .is_some_and(|next| next.as_bytes().contains(&b.to_ascii_lowercase())),
        _ => false,
    };
    let pairs = part.len().saturating_sub(1);
    part.len() >= 3
        && part.iter().all(u8::is_ascii_alphabetic)
        && pairs - part.windows(2).filter(follows).count() <= part.len() / 6
}

/// Whether an unquoted value looks like a path, a call, a number or a name rather than a secret.
fn looks_like_code(value: &str) -> bool {
    let is_hex = |byte: u8| byte.is_ascii_hexdigit() || byte == b'-';
    if value.len() >= 32 && value.bytes().all(is_hex) {
        return false;
    }
    let parts = || value.split(['.', '/', '-', '_', '@', '+', '=', '#']).filter(|part| !part.is_empty());
    let is_word_like = |part: &str| {
        let digits = part.bytes().filter(u8::is_ascii_digit).count();
        digits == 0 && class_changes(part) <= 2 || digits == part.len() || class_changes(part) <= 1
    };
    let word_bytes = parts().filter(|part| is_word_like(part)).map(str::len).sum::<usize>();
    let longest = parts().map(str::len).max().unwrap_or_default();
    value.starts_with(['/', '.', '#', '@', '~'])
        || word_bytes * 2 > value.len()
        || longest < 6
        || class_changes(value) * 5 < longest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_identifiers_are_not_secrets() {
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
            assert!(!SecretStrictness::Random.accepts(value), "{value}");
        }
    }

    #[test]
    fn names_with_digits_are_not_secrets() {
        for value in [
            "Ed25519KeyPairSigner",
            "GenBashCompletionV2",
            "uploadToS3BucketWithRetry",
            "toBase64UrlEncoded",
            "XMLHttpRequest2Level",
            "KAFKA_SASL_GSSAPI_KRB5_CONF",
            "\\u30d0\\u30a4\\u30d1\\u30b9\\u30d6",
        ] {
            assert!(
                !SecretStrictness::Strict.accepts(value) && !SecretStrictness::Random.accepts(value),
                "{value}"
            );
        }
    }

    #[test]
    fn words_with_digits_and_symbols_may_be_passwords() {
        for value in ["Winter-2017!", "blue-Canyon_1982", "Sunshine@34", "copperkettle65", "T3achers!Only"] {
            assert!(SecretStrictness::Chosen.accepts(value), "{value}");
        }
        for value in [
            "correct-horse",
            "utf8_general",
            "sha256sum",
            "someone2@mail.org",
            "config/db2.yml",
            "${DB_PASS_2}",
            "get_user2",
            "password123",
            "SCRAM_SHA_256",
            "2012-12-25",
        ] {
            assert!(!SecretStrictness::Chosen.accepts(value), "{value}");
        }
    }

    #[test]
    fn random_values_may_be_secrets() {
        for value in [
            "d41d8cd98f00b204e9800998ecf8427e",
            "xK9#mP2$vL5n",
            "aZ3kQ9xW7bN2mT5p",
            "kJh7-Gf4D_sA2q8W",
            "P4w!9dKz",
        ] {
            assert!(SecretStrictness::Random.accepts(value), "{value}");
        }
        assert!(SecretStrictness::Strict.accepts("aZ3kQ9xW7bN2mT5p"));
        for value in
            ["self.token2_key", "TokenStream2", "/etc/ssl/key1.pem", "Vec3d_from_u8", "req.body.password1"]
        {
            assert!(!SecretStrictness::Strict.accepts(value), "{value}");
        }
    }
}
