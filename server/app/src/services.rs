//! Services that commands use outside their session: the store, and the connection to the client. All threads share
//! them. They contain no state of conversations.

pub mod compaction;
pub mod compaction_notice;
pub mod front_end;
pub mod provider_client;
pub mod running_compaction;
pub(crate) mod summarizer_client;
pub mod token_count_client;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use strata_base::hash::ContentHash;
use strata_base::key::FileKey;
use strata_conversation::compaction::Summariser;
use strata_host::outline_cache::cache_directory;
use strata_host::preview_file::PreviewFiles;

use crate::model::session_store::SessionStore;
use crate::model::snapshot::Snapshot;
use crate::services::compaction_notice::CompactionNotice;
use crate::services::front_end::{FrontEnd, Warning};
use crate::services::summarizer_client::SummarizerClient;
use crate::services::token_count_client::TokenCountClient;

/// Maximum number of notices of one kind to remember. Their hashes take 16 KiB. With more models or files than this, the
/// oldest notices are repeated.
const MAX_NOTICES: usize = 1 << 10;

/// Services that commands use outside their session.
#[derive(Debug, Default)]
pub struct Services {
    pub store: SessionStore,
    /// Files to which prompts are written for editors that can only show files.
    pub previews: PreviewFiles,
    /// Connection to the user and the client. `None` in a headless workspace.
    front_end: Option<Arc<dyn FrontEnd>>,
    /// Unknown models that the user has been warned about.
    unknown_models: Mutex<ShownNotices>,
    /// Files with secrets that the user has been warned about.
    redacted: Mutex<ShownNotices>,
}

/// Hashes of the notices shown to the user, newest last.
#[derive(Debug, Default)]
struct ShownNotices(VecDeque<ContentHash>);

impl ShownNotices {
    /// Records a notice. Returns whether it is new.
    fn insert(&mut self, text: &str) -> bool {
        let hash = ContentHash::from_text(text);
        if self.0.contains(&hash) {
            return false;
        }
        if self.0.len() == MAX_NOTICES {
            self.0.pop_front();
        }
        self.0.push_back(hash);
        true
    }
}

impl Services {
    pub fn new(front_end: Arc<dyn FrontEnd>) -> Self {
        let previews = PreviewFiles::in_cache(cache_directory(|name| std::env::var_os(name)));
        Self { previews, front_end: Some(front_end), ..Self::default() }
    }

    /// Returns the client for summaries under the current settings.
    pub(crate) fn summarizer(&self, snapshot: &Snapshot) -> SummarizerClient {
        SummarizerClient::new(
            snapshot.trust,
            &snapshot.settings.compaction,
            &snapshot.models,
            &snapshot.screen,
            self.front_end.as_ref(),
        )
    }

    /// Returns whether a model writes the summaries. A command that needs a summary may then have to wait.
    pub(crate) fn has_summary_model(&self, snapshot: &Snapshot) -> bool {
        matches!(self.summarizer(snapshot).summarizer(), Summariser::Model { .. })
    }

    /// Returns the client for exact token counts, if the front end's client can provide them.
    pub fn token_count_client(&self) -> Option<TokenCountClient> {
        self.front_end
            .as_ref()
            .filter(|front_end| front_end.abilities().counts_tokens)
            .cloned()
            .map(TokenCountClient::new)
    }

    /// Records a warning about an unknown model. Returns whether it is the first one about this model.
    pub(crate) fn record_unknown_model(&self, model: &str) -> bool {
        let mut log = self.unknown_models.lock().unwrap_or_else(PoisonError::into_inner);
        log.insert(model)
    }

    /// Warns the user that secrets in a file were replaced, once per file. Returns `false` if the user had been warned
    /// before.
    pub(crate) fn warn_of_secrets(&self, path: &FileKey, message: &str) -> bool {
        let is_new = self.redacted.lock().unwrap_or_else(PoisonError::into_inner).insert(path.as_str());
        if is_new {
            let (code, message) = ("redacted".to_owned(), message.to_owned());
            self.send_warning(Warning { code, message, path: Some(path.clone()) });
        }
        is_new
    }

    pub fn notify_compaction(&self, notice: CompactionNotice) {
        if let Some(front_end) = &self.front_end {
            front_end.notify_compaction(notice);
        }
    }

    pub fn warn(&self, code: &'static str, message: String) {
        tracing::warn!(code, "{message}");
        self.send_warning(Warning { code: code.to_owned(), message, path: None });
    }

    fn send_warning(&self, warning: Warning) {
        if let Some(front_end) = &self.front_end {
            front_end.warn(warning);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_oldest_notices_are_forgotten() {
        let services = Services::default();
        let model = |number: usize| format!("model-{number}");
        for number in 0..MAX_NOTICES {
            assert!(services.record_unknown_model(&model(number)));
            assert!(services.warn_of_secrets(&FileKey::new(model(number)), "it holds a secret"));
        }
        assert!(
            !services.record_unknown_model(&model(0))
                && !services.record_unknown_model(&model(MAX_NOTICES - 1))
        );
        assert!(services.record_unknown_model(&model(MAX_NOTICES)));
        assert!(services.record_unknown_model(&model(0)), "it had to make way");
        assert!(!services.record_unknown_model(&model(MAX_NOTICES - 1)));
        assert!(!services.warn_of_secrets(&FileKey::new(model(0)), "it holds a secret"));
        for log in [&services.unknown_models, &services.redacted] {
            assert_eq!(log.lock().unwrap().0.len(), MAX_NOTICES);
        }
    }
}
