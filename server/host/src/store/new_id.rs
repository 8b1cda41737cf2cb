//! Makes identifiers from the system's random number generator, and validates those from outside, because they become
//! file names.

use std::str::FromStr;

use serde::{Deserialize, Deserializer};

use super::error::StoreError;
use super::id::SessionId;

/// Digits of random identifiers: Crockford's base 32 in lowercase, which omits letters that look like digits.
const BASE32_DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

const MAX_ID_BYTES: usize = 64;

impl SessionId {
    /// Generates an identifier: `s-` followed by 80 random bits.
    ///
    /// # Errors
    /// [`StoreError::NoRandomness`] if the system provides no random bytes.
    pub fn random() -> Result<Self, StoreError> {
        Ok(Self(format!("s-{}", random_base32::<16>()?).into()))
    }
}

impl FromStr for SessionId {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self, StoreError> {
        let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let is_valid = text.len() <= MAX_ID_BYTES
            && text.bytes().next().is_some_and(is_plain)
            && text.bytes().all(|byte| is_plain(byte) || matches!(byte, b'-' | b'_'));
        if is_valid { Ok(Self(text.into())) } else { Err(StoreError::BadSessionId(text.to_owned())) }
    }
}

impl<'de> Deserialize<'de> for SessionId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// Generates `N` random digits of five bits each.
pub(super) fn random_base32<const N: usize>() -> Result<String, StoreError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| StoreError::NoRandomness(error.to_string()))?;
    Ok(bytes.iter().map(|byte| char::from(BASE32_DIGITS[usize::from(byte % 32)])).collect())
}

/// Whether `text` consists only of digits that [`random_base32`] generates.
pub(super) fn is_base32(text: &str) -> bool {
    text.bytes().all(|byte| BASE32_DIGITS.contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_ids_are_valid_and_differ() {
        let (first, second) = (SessionId::random().unwrap(), SessionId::random().unwrap());
        assert_ne!(first, second);
        assert_eq!(first.as_str().parse::<SessionId>().unwrap(), first);
        assert_eq!(first.as_str().len(), 18);
    }

    #[test]
    fn text_that_is_unsafe_as_a_file_name_is_rejected() {
        for invalid in ["", "..", "a/b", "a\\b", "-a", "_a", "A", "a.b", "a b", "é", "a\0", &"a".repeat(65)]
        {
            assert!(invalid.parse::<SessionId>().is_err(), "{invalid:?}");
        }
        for valid in ["a", "0", "s-1_x", "1be6c52f-2f07-4a2c-8d5f-0d6a7a2a1b3c"] {
            assert!(valid.parse::<SessionId>().is_ok(), "{valid:?}");
        }
    }
}
