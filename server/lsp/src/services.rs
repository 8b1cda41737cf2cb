//! What commands may use outside of their session: the store, and the way to the client. Shared by all threads; holds no
//! state of a conversation.

use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::mpsc::UnboundedSender;

use crate::asker::Asker;
use crate::client::ClientInfo;
use crate::compacting::News;
use crate::keeper::Keeper;
use crate::outgoing::{Outgoing, Warning};
use crate::snapshot::Snapshot;

/// The outside, as far as commands need it.
#[derive(Debug, Default)]
pub struct Services {
    /// The sessions on disk.
    pub keeper: Keeper,
    /// Where things are said; nowhere without an editor.
    outgoing: Option<UnboundedSender<Outgoing>>,
    /// What the client can do; known once it has said so.
    client: RwLock<Arc<ClientInfo>>,
}

impl Services {
    /// Those of a server that speaks through `outgoing`.
    pub fn new(outgoing: UnboundedSender<Outgoing>) -> Self {
        Self { outgoing: Some(outgoing), ..Self::default() }
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
            &client,
            self.outgoing.as_ref(),
        )
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
