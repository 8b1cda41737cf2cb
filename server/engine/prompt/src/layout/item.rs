//! Ids of prompt items, and how they are written and parsed.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use strata_base::external::ExternalText;
use strata_base::hash::ContentHash;
use strata_base::key::FileKey;
use strata_conversation::history::MessageId;
use strata_conversation::selection::LineRange;

use super::excerpt_key::ExcerptKey;

/// Id of one unit of prompt content that is tracked across prompts.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ItemKey {
    /// The system prompt.
    System,
    /// A file's block in the symbol map: `symbol:{path}`.
    Symbol(FileKey),
    /// A file's full text: `file:{path}`.
    File(FileKey),
    /// A range of lines of a file: `file:{path}#L10-40`.
    Lines(FileKey, LineRange),
    /// An excerpt chosen for a question: `excerpt:{path}#{definition}`.
    Excerpt(ExcerptKey),
    /// A message of the conversation: `history:{n}`.
    History(MessageId),
    /// A web page, identified by the hash of its address: `url:{hash}`.
    Url(ContentHash),
}

impl ItemKey {
    /// Returns the key as it is stored and sent. Contains the file's name as it is.
    pub(crate) fn to_wire_string(&self) -> String {
        match self {
            Self::System => "system".to_owned(),
            Self::Symbol(path) => format!("symbol:{}", path.as_str()),
            Self::File(path) => format!("file:{}", path.as_str()),
            Self::Lines(path, lines) => format!("file:{}#{lines}", path.as_str()),
            Self::Excerpt(excerpt) => format!("excerpt:{}", excerpt.to_wire_string()),
            Self::History(id) => format!("history:{}", id.0),
            Self::Url(hash) => format!("url:{hash}"),
        }
    }

    /// The key in a message, which any front end may show: one line without links.
    pub fn notice_text(&self) -> String {
        ExternalText::new(&self.to_wire_string()).notice().to_string()
    }

    /// Returns the file that the item belongs to, if any.
    pub(crate) fn path(&self) -> Option<&FileKey> {
        match self {
            Self::Symbol(path) | Self::File(path) | Self::Lines(path, _) => Some(path),
            Self::Excerpt(excerpt) => Some(&excerpt.file),
            Self::System | Self::History(_) | Self::Url(_) => None,
        }
    }
}

impl fmt::Debug for ItemKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_wire_string())
    }
}

impl Serialize for ItemKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_wire_string())
    }
}

impl JsonSchema for ItemKey {
    fn schema_name() -> Cow<'static, str> {
        "ItemKey".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "Id of a tracked unit of prompt content: `system`, `symbol:{path}`, `file:{path}`, `file:{path}#L1-9`, \
                            `excerpt:{path}#{definition}`, `history:{n}`, `url:{hash}`.",
        })
    }
}

impl<'de> Deserialize<'de> for ItemKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let unknown = || serde::de::Error::custom(format!("`{text}` is not the id of an item"));
        if text == "system" {
            return Ok(Self::System);
        }
        let (kind, name) = text.split_once(':').ok_or_else(unknown)?;
        match kind {
            "symbol" => Ok(Self::Symbol(FileKey::from(name))),
            "file" => Ok(match name.rsplit_once('#').map(|(path, lines)| (path, lines.parse())) {
                Some((path, Ok(lines))) => Self::Lines(FileKey::from(path), lines),
                _ => Self::File(FileKey::from(name)),
            }),
            "excerpt" => name.parse().map(Self::Excerpt).map_err(|_| unknown()),
            "history" => name.parse().map(|n| Self::History(MessageId(n))).map_err(|_| unknown()),
            "url" => serde_json::from_value(name.into()).map(Self::Url).map_err(|_| unknown()),
            _ => Err(unknown()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn item_keys_round_trip() {
        let keys = [
            ItemKey::System,
            ItemKey::Symbol("src/a.rs".into()),
            ItemKey::File("untitled:Untitled-1".into()),
            ItemKey::File("odd#name".into()),
            ItemKey::Lines("src/a.rs".into(), "L10-40".parse().unwrap()),
            ItemKey::Excerpt("src/a.rs#Session.send~2".parse().unwrap()),
            ItemKey::History(MessageId(7)),
            ItemKey::Url(ContentHash::from_text("https://example.org")),
        ];
        for key in keys {
            let json = serde_json::to_string(&key).unwrap();
            assert_eq!(json, format!("\"{}\"", key.to_wire_string()));
            assert_eq!(serde_json::from_str::<ItemKey>(&json).unwrap(), key);
        }
        assert!(serde_json::from_str::<ItemKey>("\"history:x\"").is_err());
    }
}
