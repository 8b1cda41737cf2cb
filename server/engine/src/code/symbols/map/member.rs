//! What a session remembers of the last prompt's map.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::code::outline::{BlockDetail, MapLevel, block_text};
use crate::code::symbols::index::SymbolIndex;
use crate::hash::ContentHash;
use crate::key::FileKey;

/// A file that had a block in the last prompt's map, and its detail. The block stays unchanged as long as that gives the same
/// text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Stored")]
pub struct MapMember {
    /// The file of the block.
    pub path: FileKey,
    /// The detail it showed.
    #[serde(flatten)]
    pub detail: BlockDetail,
    /// The hash of its text; none when the block is to be chosen again.
    pub hash: Option<ContentHash>,
}

impl MapMember {
    /// The current text of its block; `None` if the file no longer has an outline.
    pub fn text_in(&self, index: &SymbolIndex) -> Option<Arc<str>> {
        let file = index.get(&self.path)?;
        Some(match self.detail.level {
            MapLevel::Full => Arc::clone(&file.block.text),
            _ => block_text(file.language, &self.path, &file.outline, &self.detail).into(),
        })
    }
}

/// Members as stored. Sessions from before levels existed contain paths.
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
