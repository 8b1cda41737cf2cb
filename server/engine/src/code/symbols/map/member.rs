//! What a session remembers of the map of its last prompt.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::code::outline::{BlockDetail, MapLevel, block_text};
use crate::code::symbols::index::SymbolIndex;
use crate::hash::ContentHash;
use crate::key::FileKey;

/// A file that had a block in the map of the last prompt, and what it showed. As long as that gives the same text, the block
/// stays as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Stored")]
pub struct MapMember {
    /// Whose block it is.
    pub path: FileKey,
    /// What it showed.
    #[serde(flatten)]
    pub detail: BlockDetail,
    /// The hash of its text; none when the block is to be chosen again.
    pub hash: Option<ContentHash>,
}

impl MapMember {
    /// What its block says now; nothing when the file has no outline any more.
    pub fn text_in(&self, index: &SymbolIndex) -> Option<Arc<str>> {
        let file = index.get(&self.path)?;
        Some(match self.detail.level {
            MapLevel::Full => Arc::clone(&file.block.text),
            _ => block_text(file.language, &self.path, &file.outline, &self.detail).into(),
        })
    }
}

/// Members as they were stored: sessions from before there were levels have paths.
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
