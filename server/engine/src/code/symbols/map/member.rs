//! The part of a map that a session stores.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::code::outline::{BlockDetail, MapLevel, block_text};
use crate::code::symbols::index::SymbolIndex;
use crate::hash::ContentHash;
use crate::key::FileKey;

/// A file with a block in the last prompt's map. The block is kept as long as the same detail gives the same text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Stored")]
pub struct MapMember {
    /// The file that the block describes.
    pub path: FileKey,
    /// The detail of the block.
    #[serde(flatten)]
    pub detail: BlockDetail,
    /// Hash of the block's text; `None` to choose the block again.
    pub hash: Option<ContentHash>,
}

impl MapMember {
    /// The current text of the block; `None` if the file no longer has an outline.
    pub fn text_in(&self, index: &SymbolIndex) -> Option<Arc<str>> {
        let file = index.get(&self.path)?;
        Some(match self.detail.level {
            MapLevel::Full => Arc::clone(&file.block.text),
            _ => block_text(file.language, &self.path, &file.outline, &self.detail).into(),
        })
    }
}

/// Stored members. Sessions stored before levels existed contain only paths.
#[derive(Deserialize)]
#[serde(untagged)]
enum Stored {
    Path(FileKey),
    Member {
        path: FileKey,
        #[serde(flatten)]
        detail: BlockDetail,
        hash: Option<ContentHash>,
    },
}

impl From<Stored> for MapMember {
    fn from(stored: Stored) -> Self {
        match stored {
            Stored::Path(path) => Self { path, detail: BlockDetail::default(), hash: None },
            Stored::Member { path, detail, hash } => Self { path, detail, hash },
        }
    }
}
