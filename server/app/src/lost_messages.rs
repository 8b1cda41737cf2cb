//! Remembers that a message from the editor was lost without a trace of the document that it was about. It may have
//! opened any file, so no file on disk is known to be what the editor shows until another message settles that. Stores
//! only keys.

use std::collections::BTreeSet;

use strata_engine::code::document::OutOfStep;
use strata_engine::key::FileKey;

/// The messages that were lost so far.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LostMessages {
    /// Why the last message was lost; `None` if none was.
    reason: Option<OutOfStep>,
    /// Files that the editor has opened, saved or closed since.
    settled: BTreeSet<FileKey>,
}

impl LostMessages {
    /// Records that a message was lost, which may have been about any document.
    pub fn lose(&mut self, reason: OutOfStep) {
        self.reason = Some(reason);
        self.settled.clear();
    }

    /// Records that a message of the editor tells whether this file is open, and with which text.
    pub fn settle(&mut self, key: &FileKey) {
        if self.reason.is_some() {
            self.settled.insert(key.clone());
        }
    }

    /// Whether the state of any file is unknown.
    pub fn is_any(&self) -> bool {
        self.reason.is_some()
    }

    /// Returns why the editor may show other text for a file than the disk. `None` if it does not.
    pub fn reason(&self, key: &FileKey) -> Option<&OutOfStep> {
        self.reason.as_ref().filter(|_| !self.settled.contains(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_in_doubt_until_it_is_mentioned() {
        let (key, other) = (FileKey::from("a"), FileKey::from("b"));
        let mut lost = LostMessages::default();
        lost.settle(&key);
        assert_eq!(lost.reason(&key), None);
        let reason = OutOfStep::Misread { detail: "not JSON".to_owned() };
        lost.lose(reason.clone());
        assert_eq!(lost.reason(&key), Some(&reason));
        lost.settle(&key);
        assert_eq!((lost.reason(&key), lost.reason(&other)), (None, Some(&reason)));
        lost.lose(reason.clone());
        assert_eq!(lost.reason(&key), Some(&reason));
    }
}
