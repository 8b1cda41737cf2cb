//! What commands may use outside of their session: the store, and the way to the client. Shared by all threads; holds no
//! state of a conversation.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use strata_engine::hash::ContentHash;
use strata_engine::key::FileKey;
use strata_host::outline_cache::cache_directory;
use strata_host::preview_file::PreviewFiles;
use tokio::sync::mpsc::UnboundedSender;

use crate::asker::Asker;
use crate::client::{Can, ClientInfo};
use crate::compacting::News;
use crate::keeper::Keeper;
use crate::outgoing::{Outgoing, Warning};
use crate::probe::Probe;
use crate::snapshot::Snapshot;

/// So many things of a kind that the person was told of are remembered, as hashes: 16 KiB for as long as the server runs, however long
/// the names are that a client sends. Who meets more models than that, or files with secrets, hears of the oldest again.
const MOST_TOLD: usize = 1 << 10;

/// The outside, as far as commands need it.
#[derive(Debug, Default)]
pub struct Services {
    /// The sessions on disk.
    pub keeper: Keeper,
    /// Where prompts are written for editors that show files and nothing else.
    pub previews: PreviewFiles,
    /// Where things are said; nowhere without an editor.
    outgoing: Option<UnboundedSender<Outgoing>>,
    /// What the client can do; known once it has said so.
    client: RwLock<Arc<ClientInfo>>,
    /// Models of which the person was told that they are not in the table.
    unknown_models: Mutex<Told>,
    /// Files of which the person was told that they hold secrets.
    redacted: Mutex<Told>,
}

/// What the person was told of, the newest last.
#[derive(Debug, Default)]
struct Told(VecDeque<ContentHash>);

impl Told {
    /// Whether this is not known to have been told; from now on it is.
    fn is_news(&mut self, of: &str) -> bool {
        let hash = ContentHash::of(of);
        if self.0.contains(&hash) {
            return false;
        }
        if self.0.len() == MOST_TOLD {
            self.0.pop_front();
        }
        self.0.push_back(hash);
        true
    }
}

impl Services {
    /// Those of a server that speaks through `outgoing`.
    pub fn new(outgoing: UnboundedSender<Outgoing>) -> Self {
        let previews = PreviewFiles::below(cache_directory(|name| std::env::var_os(name)));
        Self { previews, outgoing: Some(outgoing), ..Self::default() }
    }

    /// Takes note of what the client can do.
    pub fn meet(&self, client: Arc<ClientInfo>) {
        *self.client.write().unwrap_or_else(PoisonError::into_inner) = client;
    }

    /// Whom to ask for summaries.
    pub fn asker(&self, snapshot: &Snapshot) -> Asker {
        let client = Arc::clone(&self.client.read().unwrap_or_else(PoisonError::into_inner));
        Asker::new(
            snapshot.trust,
            &snapshot.settings.compaction,
            &snapshot.models,
            &snapshot.screen,
            &client,
            self.outgoing.as_ref(),
        )
    }

    /// Whom to ask for exact counts; nobody when the client does not answer that.
    pub fn probe(&self) -> Option<Probe> {
        let client = self.client.read().unwrap_or_else(PoisonError::into_inner);
        self.outgoing.as_ref().filter(|_| client.counts_tokens == Can::Yes).cloned().map(Probe::new)
    }

    /// Whether nobody was told yet that this model is not in the table; from now on somebody is.
    pub fn is_news_of_model(&self, model: &str) -> bool {
        let mut told = self.unknown_models.lock().unwrap_or_else(PoisonError::into_inner);
        told.is_news(model)
    }

    /// Tells the person that placeholders stand for secrets in a file, the first time. Whether it was.
    pub fn tell_of_secrets(&self, path: &FileKey, message: &str) -> bool {
        let is_news = self.redacted.lock().unwrap_or_else(PoisonError::into_inner).is_news(path.as_str());
        if is_news {
            let (code, message) = ("redacted".to_owned(), message.to_owned());
            self.say(Outgoing::Warning(Warning { code, message, path: Some(path.clone()) }));
        }
        is_news
    }

    /// Tells the client how a compaction stands.
    pub fn tell_compaction(&self, news: News) {
        self.say(Outgoing::Compaction(Box::new(news)));
    }

    /// Tells the person something.
    pub fn warn(&self, code: &'static str, message: String) {
        tracing::warn!(code, "{message}");
        self.say(Outgoing::Warning(Warning { code: code.to_owned(), message, path: None }));
    }

    fn say(&self, outgoing: Outgoing) {
        if let Some(to) = &self.outgoing {
            // The task that speaks ends with the connection; then there is nobody to tell.
            let _ = to.send(outgoing);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_of_what_was_told_is_forgotten() {
        let services = Services::default();
        let model = |number: usize| format!("model-{number}");
        for number in 0..MOST_TOLD {
            assert!(services.is_news_of_model(&model(number)));
            assert!(services.tell_of_secrets(&FileKey::new(model(number)), "it holds a secret"));
        }
        assert!(!services.is_news_of_model(&model(0)) && !services.is_news_of_model(&model(MOST_TOLD - 1)));
        assert!(services.is_news_of_model(&model(MOST_TOLD)));
        assert!(services.is_news_of_model(&model(0)), "it had to make way");
        assert!(!services.is_news_of_model(&model(MOST_TOLD - 1)));
        assert!(!services.tell_of_secrets(&FileKey::new(model(0)), "it holds a secret"));
        for told in [&services.unknown_models, &services.redacted] {
            assert_eq!(told.lock().unwrap().0.len(), MOST_TOLD);
        }
    }
}
