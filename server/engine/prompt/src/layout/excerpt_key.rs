//! Names of excerpts. A name identifies a definition in a file, or a range of lines, and contains no text of the file.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use strata_base::key::FileKey;
use strata_base::text::ParseTextError;
use strata_conversation::selection::LineRange;

/// Name of an excerpt: `src/a.py#Session.send`, `src/a.py#Session.send~2` for the second definition of that name, or
/// `src/a.py#L10-40`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExcerptKey {
    pub file: FileKey,
    /// Definition or lines that the excerpt covers.
    pub place: ExcerptPlace,
}

/// The definition or the range of lines that an excerpt covers.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ExcerptPlace {
    /// A definition, identified by name, so that the key stays valid when the definition moves.
    Definition {
        /// Name of the definition, qualified by its containers (`Session.send`).
        name: Arc<str>,
        /// Zero-based index among the definitions with that name.
        ordinal: u32,
    },
    /// A range of lines, as numbered when the excerpt was first shown.
    Lines(LineRange),
}

impl ExcerptPlace {
    pub(crate) fn definition(name: &str, ordinal: u32) -> Self {
        Self::Definition { name: name.into(), ordinal }
    }

    /// Returns the place as it is written in an [`ExcerptKey`]. Contains the definition's name as it is.
    pub(crate) fn to_wire_string(&self) -> String {
        match self {
            Self::Lines(lines) => lines.to_string(),
            Self::Definition { name, ordinal } => {
                let escaped = name.replace('%', "%25").replace('#', "%23");
                // A name that could be read as lines, or as having an ordinal, is always written with an ordinal.
                let is_ambiguous = escaped.parse::<LineRange>().is_ok() || split_ordinal(&escaped).is_some();
                if *ordinal > 0 || is_ambiguous {
                    return format!("{escaped}~{}", u64::from(*ordinal) + 1);
                }
                escaped
            }
        }
    }
}

impl ExcerptKey {
    /// Returns the key as it is stored and sent. Contains the names of the file and the definition as they are.
    pub fn to_wire_string(&self) -> String {
        format!("{}#{}", self.file.as_str(), self.place.to_wire_string())
    }
}

impl fmt::Debug for ExcerptKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_wire_string())
    }
}

impl fmt::Debug for ExcerptPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_wire_string())
    }
}

/// Splits a name with an ordinal (`name~2`) into the name and the zero-based ordinal.
fn split_ordinal(text: &str) -> Option<(&str, u32)> {
    let (name, number) = text.rsplit_once('~')?;
    let is_plain = number.bytes().all(|byte| byte.is_ascii_digit()) && !number.starts_with('0');
    let number: u32 = number.parse().ok().filter(|_| is_plain)?;
    Some((name, number.checked_sub(1)?))
}

impl FromStr for ExcerptKey {
    type Err = ParseTextError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let place = |place: &str| {
            if let Ok(lines) = place.parse() {
                return ExcerptPlace::Lines(lines);
            }
            let (name, ordinal) = split_ordinal(place).unwrap_or((place, 0));
            ExcerptPlace::definition(&name.replace("%23", "#").replace("%25", "%"), ordinal)
        };
        match text.rsplit_once('#') {
            Some((file, named)) if !file.is_empty() && !named.is_empty() => {
                Ok(Self { file: FileKey::from(file), place: place(named) })
            }
            _ => Err(ParseTextError(format!(
                "`{text}` is not an excerpt; write `src/a.py#Session.send` or `src/a.py#L10-40`"
            ))),
        }
    }
}

impl Serialize for ExcerptKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_wire_string())
    }
}

impl<'de> Deserialize<'de> for ExcerptKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for ExcerptKey {
    fn schema_name() -> Cow<'static, str> {
        "ExcerptKey".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "Id of an excerpt: a definition (`src/a.py#Session.send`, `src/a.py#Session.send~2` for the second with \
                            that name) or lines (`src/a.py#L10-40`).",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpt_keys_round_trip() {
        let definitions =
            ["Session.send", "~Session", "operator~1", "L10", "C# notes", "100%", "50%23", "a~0", ""];
        let places = definitions
            .iter()
            .flat_map(|name| [0, 1, u32::MAX - 1].map(|n| ExcerptPlace::definition(name, n)));
        let lines = ["L10-40", "L3"].map(|lines| ExcerptPlace::Lines(lines.parse().unwrap()));
        for place in places.chain(lines) {
            for file in ["src/a.py", "odd#name.rs"] {
                let key = ExcerptKey { file: file.into(), place: place.clone() };
                match key.to_wire_string().parse::<ExcerptKey>() {
                    Ok(read) => assert_eq!(read, key),
                    Err(error) => assert!(key.to_wire_string().ends_with('#'), "{error}"),
                }
            }
        }
        for text in ["", "a.py", "#x", "a.py#"] {
            assert!(text.parse::<ExcerptKey>().is_err(), "{text}");
        }
    }
}
