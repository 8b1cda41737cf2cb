//! The part of a map that is stored with a session.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use strata_base::hash::ContentHash;
use strata_base::key::FileKey;

use crate::outline::{BlockDetail, MapLevel, block_text};
use crate::symbols::index::SymbolIndex;

/// A file with a block in the last prompt's map. The block is kept as long as the same level of detail still produces
/// the same text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MapMember {
    /// The file that the block describes.
    pub path: FileKey,
    #[serde(flatten)]
    pub(crate) detail: BlockDetail,
    /// Hash of the block's text. `None` if the detail of the block must be chosen again.
    pub hash: Option<ContentHash>,
}

impl MapMember {
    /// Returns the current text of the block, or `None` if the file no longer has an outline.
    pub fn current_block_text(&self, index: &SymbolIndex) -> Option<Arc<str>> {
        let file = index.get(&self.path)?;
        Some(match self.detail.level {
            MapLevel::Full => Arc::clone(&file.block.text),
            _ => block_text(file.language, &self.path, &file.outline, &self.detail).into(),
        })
    }
}
