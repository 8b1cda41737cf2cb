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
    /// Accepts values that look random, and words with digits or symbols, as people choose them for passwords.
    Chosen,
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
    "foobar", "hunter", "hello",
];
/// Parts of technical names with digits, which people do not choose as passwords.
const TECHNICAL: &[&str] = &[
    "sha1", "sha2", "sha3", "sha5", "md5", "utf8", "utf-8", "utf16", "base64", "base32", "oauth", "x509",
    "ed25519", "rsa", "hmac", "pbkdf", "argon", "crypt", "aes", "pkcs", "http", "version", "ascii", "uint",
    "int32", "int64",
];
/// Interpolation syntax of programs and templates.
const INTERPOLATED: &[&str] = &["${", "{{", "#{", "$(", "<%", "%(", "{}", "{0", "...", "***", "\u{2026}"];

impl Words {
    /// Whether a value looks like a secret.
    pub(super) fn admit(self, value: &str) -> bool {
        let lower = value.to_ascii_lowercase();
        let holds = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        let entropy = bits_per_character(value);
        if self >= Self::Chosen && (is_constant(value) || value.starts_with("--") || escapes_letters(&lower))
        {
            return false;
        }
        match self {
            Self::MadeUp => entropy >= 2.5 && !holds(STAND_INS),
            Self::StandIn => !holds(STAND_INS),
            Self::Password => {
                entropy >= 1.5 && !holds(STAND_INS) && !is_interpolated(value) && !is_plain_word(&lower)
            }
            Self::Chosen => {
                (looks_chosen(value, &lower, entropy) || looks_random(value, &lower, entropy))
                    && !holds(STAND_INS)
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
    if entropy < least || DOUBTFUL.iter().any(|word| folded.contains(word)) && length < 40 || is_wordy(value)
    {
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

/// Whether a value could be a password that a person made of words, digits and symbols, such as `Winter-2017!`.
fn looks_chosen(value: &str, folded: &str, entropy: f64) -> bool {
    let count = |wanted: fn(&u8) -> bool| value.bytes().filter(wanted).count();
    let letters = count(u8::is_ascii_alphabetic);
    let digits = count(u8::is_ascii_digit);
    let symbols = count(|byte| b"!#$%&*+=?@^~".contains(byte));
    let holds = |words: &[&str]| words.iter().any(|word| folded.contains(word));
    if !(8..=64).contains(&value.len())
        || !value.is_ascii()
        || entropy < 2.3
        || is_interpolated(value)
        || holds(DOUBTFUL)
        || holds(TECHNICAL)
        || value.contains(['/', '(', ')', '[', ']', '<', '>', '{', '}', '\\', ':', ',', ' '])
        || is_address(value)
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
                && !is_wordy(value)
                && !value.bytes().any(|b| b.is_ascii_uppercase())
        }
        (0, _) => symbols >= 2 && letters >= 4 && !is_wordy(value),
        _ if letters < 3 => false,
        _ if is_name => digits >= 2 && (trailing >= 2 || leading >= 2 || digits >= 3),
        _ => symbols > 0 || digits >= 2,
    }
}

/// Whether a value is the name of a constant, such as `SCRAM_SHA_256`.
fn is_constant(value: &str) -> bool {
    let in_name = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    value.bytes().all(in_name) && value.bytes().filter(|byte| *byte == b'_').count() >= 2
}

/// Whether a value is text of another script in JSON: `\u30d0\u30a4`.
fn escapes_letters(folded: &str) -> bool {
    let code = |at: usize| folded.get(at + 2..at + 6).and_then(|digits| u32::from_str_radix(digits, 16).ok());
    folded.match_indices("\\u").any(|(at, _)| code(at).is_some_and(|code| code >= 0x80))
}

/// Whether a value is an email address or a host name with a domain.
fn is_address(value: &str) -> bool {
    let after = value.rsplit('@').next().unwrap_or_default();
    let domain = after.rsplit('.').next().unwrap_or_default();
    after.contains('.')
        && (2..=4).contains(&domain.len())
        && domain.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// Letters that commonly follow each letter from `a` to `z` in names: 97 % of all pairs in the identifiers of Rust, C and
/// TypeScript sources, but fewer than half of all possible pairs.
const FOLLOWERS: [&str; 26] = [
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
fn is_wordy(value: &str) -> bool {
    let letters = value.bytes().filter(u8::is_ascii_alphabetic).count();
    let hex = value.len() >= 16 && value.bytes().all(|byte| byte.is_ascii_hexdigit());
    if letters * 2 < value.len() || hex {
        return false;
    }
    let in_words: usize = humps(value.as_bytes()).filter(|part| is_word(part)).map(<[u8]>::len).sum();
    in_words * 10 >= letters * 7
}

/// Splits a name into its runs of letters: words with at most one capital, at the start, and words in capitals.
fn humps(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    let at = |index: usize| value.get(index).map_or(Class::Other, |byte| class(*byte));
    let starts = move |index: usize| match (at(index.wrapping_sub(1)), at(index)) {
        (Class::Upper, Class::Upper) => at(index + 1) == Class::Lower,
        (Class::Upper, Class::Lower) => false,
        (before, here) => before != here,
    };
    let mut from = 0;
    std::iter::from_fn(move || {
        let rest = value.get(from..).filter(|rest| !rest.is_empty())?;
        let end = (from + 1..value.len()).find(|index| starts(*index)).unwrap_or(value.len());
        let part = rest.get(..end - from)?;
        from = end;
        Some(part)
    })
}

/// Whether the letters of a part follow each other as in words.
fn is_word(part: &[u8]) -> bool {
    let letter = |byte: u8| usize::from(byte.to_ascii_lowercase().wrapping_sub(b'a'));
    let follows = |pair: &&[u8]| match pair {
        [one, other] => FOLLOWERS
            .get(letter(*one))
            .is_some_and(|next| next.as_bytes().contains(&other.to_ascii_lowercase())),
        _ => false,
    };
    let pairs = part.len().saturating_sub(1);
    part.len() >= 3
        && part.iter().all(u8::is_ascii_alphabetic)
        && pairs - part.windows(2).filter(follows).count() <= part.len() / 6
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
    fn names_with_digits_are_words() {
        for value in [
            "Ed25519KeyPairSigner",
            "GenBashCompletionV2",
            "uploadToS3BucketWithRetry",
            "toBase64UrlEncoded",
            "XMLHttpRequest2Level",
            "KAFKA_SASL_GSSAPI_KRB5_CONF",
            "\\u30d0\\u30a4\\u30d1\\u30b9\\u30d6",
        ] {
            assert!(!Words::Strict.admit(value) && !Words::Random.admit(value), "{value}");
        }
    }

    #[test]
    fn what_people_choose_may_be_a_password() {
        for value in ["Winter-2017!", "blue-Canyon_1982", "Sunshine@34", "copperkettle65", "T3achers!Only"] {
            assert!(Words::Chosen.admit(value), "{value}");
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
            assert!(!Words::Chosen.admit(value), "{value}");
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
