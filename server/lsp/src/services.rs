//! What commands may use outside of their session: the store, and the way to the client. Shared by all threads; holds no
//! state of a conversation.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

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
    unknown_models: Mutex<BTreeSet<String>>,
    /// Files of which the person was told that they hold secrets.
    redacted: Mutex<BTreeSet<FileKey>>,
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
        told.insert(model.to_owned())
    }

    /// Tells the person that placeholders stand for secrets in a file, the first time. Whether it was.
    pub fn tell_of_secrets(&self, path: &FileKey, message: &str) -> bool {
        let is_news = self.redacted.lock().unwrap_or_else(PoisonError::into_inner).insert(path.clone());
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
