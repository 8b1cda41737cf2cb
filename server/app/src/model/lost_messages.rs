//! Remembers that a message from the editor was lost without a trace of the document that it was about. It may have
//! opened any file, so no file on disk is known to be what the editor shows until another message settles that. Stores
//! only names.

use std::collections::{BTreeMap, BTreeSet};

use strata_base::key::FileKey;
use strata_code::document::OutOfStep;
use strata_host::roots::Roots;
use strata_host::uri;

use crate::model::documents::key_of;

/// The messages that were lost so far.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LostEditorMessages {
    /// Why the last message was lost; `None` if none was.
    reason: Option<OutOfStep>,
    /// Files that the editor has opened, saved or closed since, by their own names.
    settled: BTreeSet<FileKey>,
    /// URIs through links that the editor has ever used, and whether it has since the last loss.
    links: BTreeMap<String, bool>,
}

impl LostEditorMessages {
    /// Records that a message was lost, which may have been about any document.
    pub fn record_loss(&mut self, reason: OutOfStep) {
        self.reason = Some(reason);
        self.settled.clear();
        self.links.values_mut().for_each(|is_settled| *is_settled = false);
    }

    /// Records that a message of the editor tells whether this document is open, and with which text. The file may
    /// still be open under another URI.
    pub fn mark_known(&mut self, key: &FileKey, uri: &str, roots: &Roots) {
        let as_written = uri::to_path(uri).ok().and_then(|path| roots.key_of(&path));
        if as_written.is_some_and(|written| !written.as_str().eq_ignore_ascii_case(key.as_str())) {
            self.links.insert(uri.to_owned(), true);
        } else if self.reason.is_some() {
            self.settled.insert(key.clone());
        }
    }

    /// Records that files have other keys from now on.
    pub fn mark_all_unknown(&mut self) {
        self.settled.clear();
    }

    /// Whether the state of any file is unknown.
    pub fn has_losses(&self) -> bool {
        self.reason.is_some()
    }

    /// Returns why the editor may show other text for a file than the disk. `None` if it does not.
    pub fn reason(&self, key: &FileKey, roots: &Roots) -> Option<&OutOfStep> {
        let reason = self.reason.as_ref()?;
        let mut unsettled_links = self.links.iter().filter(|(_, is_settled)| !**is_settled);
        let is_uncertain = !self.settled.contains(key)
            || unsettled_links.any(|(link, _)| key_of(link, roots).as_ref() == Some(key));
        is_uncertain.then_some(reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_message_makes_each_file_uncertain_until_the_editor_mentions_it() {
        let (key, other) = (FileKey::from("a"), FileKey::from("b"));
        let roots = Roots::default();
        let mut lost = LostEditorMessages::default();
        lost.mark_known(&key, "file:///a", &roots);
        assert_eq!(lost.reason(&key, &roots), None);
        let reason = OutOfStep::Misread { detail: "not JSON".to_owned() };
        lost.record_loss(reason.clone());
        assert_eq!(lost.reason(&key, &roots), Some(&reason));
        lost.mark_known(&key, "file:///a", &roots);
        assert_eq!((lost.reason(&key, &roots), lost.reason(&other, &roots)), (None, Some(&reason)));
        lost.record_loss(reason.clone());
        assert_eq!(lost.reason(&key, &roots), Some(&reason));
    }

    #[cfg(unix)]
    #[test]
    fn a_file_stays_uncertain_until_the_editor_mentions_it_by_every_uri() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a"), "").unwrap();
        std::os::unix::fs::symlink("a", folder.path().join("link")).unwrap();
        let roots = Roots::single(folder.path()).unwrap();
        let key = FileKey::from("a");
        let [own_uri, link_uri] = ["a", "link"].map(|name| uri::file_uri(&folder.path().join(name)).unwrap());
        let reason = OutOfStep::Misread { detail: "not JSON".to_owned() };
        let mut lost = LostEditorMessages::default();
        lost.mark_known(&key, &link_uri, &roots);
        lost.record_loss(reason.clone());
        lost.mark_known(&key, &own_uri, &roots);
        assert_eq!(lost.reason(&key, &roots), Some(&reason));
        lost.mark_known(&key, &link_uri, &roots);
        assert_eq!(lost.reason(&key, &roots), None);
    }
}
