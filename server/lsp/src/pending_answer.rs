//! Whoever waits for the answer to a question about names and symbols. The event itself is posted by `backend`.

use serde::de::DeserializeOwned;
use serde_json::Value;
use strata_engine::cancel::Cancel;
use tokio::sync::oneshot;
use tower_lsp::jsonrpc::{Error, Result};

use crate::event::Event;
use crate::navigation::Question;

/// Raises its flag when it is dropped: the transport drops a request that was cancelled.
pub(crate) struct CancelOnDrop(Cancel);

impl CancelOnDrop {
    pub(crate) fn new(cancel: &Cancel) -> Self {
        Self(cancel.clone())
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// A caller that waits for the answer to a question.
pub(crate) struct PendingAnswer {
    answer: oneshot::Receiver<Value>,
    _dropped: CancelOnDrop,
}

impl PendingAnswer {
    /// The answer.
    ///
    /// # Errors
    /// An internal error if no one answers any more.
    pub(crate) async fn found<T: DeserializeOwned>(self) -> Result<Option<T>> {
        let found = self.answer.await.map_err(|_| Error::internal_error())?;
        serde_json::from_value(found).map_err(|_| Error::internal_error())
    }
}

/// A question as event, and whoever waits for its answer.
pub(crate) fn asked(question: Question) -> (Event, PendingAnswer) {
    let (answer, wait) = oneshot::channel();
    let cancel = Cancel::new();
    let event = Event::Asked(question, cancel.clone(), answer);
    (event, PendingAnswer { answer: wait, _dropped: CancelOnDrop(cancel) })
}
