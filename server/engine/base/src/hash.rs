//! Content hashes, by which the engine recognizes text that it has seen before. A hash only identifies a
//! text; it does not protect against an adversary who controls both texts.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The first 128 bits of the BLAKE3 hash of a byte string. Written as 32 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentHash(u128);

impl ContentHash {
    /// Placeholder for the hash of a text that is not known yet. No known text has this hash.
    pub const NONE: Self = Self(0);

    /// Hashes the UTF-8 bytes of a text.
    pub fn from_text(text: &str) -> Self {
        Self::from_parts([text.as_bytes()])
    }

    /// Returns the first eight digits, as shown to users and models.
    pub fn short(self) -> String {
        let mut digits = self.to_string();
        digits.truncate(8);
        digits
    }

    /// Hashes the concatenation of several byte strings, without separators.
    pub fn from_parts<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hasher = blake3::Hasher::new();
        for part in parts {
            hasher.update(part);
        }
        let mut first = [0; 16];
        hasher.finalize_xof().fill(&mut first);
        Self(u128::from_be_bytes(first))
    }

    /// Returns the hash as big-endian bytes, for use as input to another hash.
    pub fn to_bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }

    /// Creates a hash from the bytes that [`Self::to_bytes`] returned.
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(u128::from_be_bytes(bytes))
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ContentHash({self})")
    }
}

impl Serialize for ContentHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl JsonSchema for ContentHash {
    fn schema_name() -> Cow<'static, str> {
        "ContentHash".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "description": "The hash of a text, as 32 hexadecimal digits." })
    }
}

impl<'de> Deserialize<'de> for ContentHash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        u128::from_str_radix(&text, 16).map(Self).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_identifies_the_text_and_round_trips_through_json() {
        let hash = ContentHash::from_text("fn main() {}");
        assert_ne!(hash, ContentHash::from_text("fn main() { }"));
        assert_eq!(hash, ContentHash::from_parts(["fn main".as_bytes(), "() {}".as_bytes()]));
        let json = serde_json::to_string(&hash).unwrap();
        assert_eq!(serde_json::from_str::<ContentHash>(&json).unwrap(), hash);
    }
}
