//! Waits for the answer to a question about names and symbols. The backend posts the corresponding event.

use serde::de::DeserializeOwned;
use serde_json::Value;
use strata_base::cancel::{Cancel, CancelOnDrop};
use tokio::sync::oneshot;
use tower_lsp::jsonrpc::{Error, Result};

use crate::event::Event;
use crate::navigation::LspRequest;

pub(crate) struct PendingAnswer {
    answer: oneshot::Receiver<Value>,
    /// The transport drops the future of a cancelled request.
    _cancel_on_drop: CancelOnDrop,
}

impl PendingAnswer {
    /// Waits for the answer. Returns `None` if the answer is `null`.
    ///
    /// # Errors
    /// Returns an internal error if the request was dropped without an answer.
    pub(crate) async fn receive<T: DeserializeOwned>(self) -> Result<Option<T>> {
        let value = self.answer.await.map_err(|_| Error::internal_error())?;
        serde_json::from_value(value).map_err(|_| Error::internal_error())
    }
}

/// Creates the event for a standard LSP request, and the receiver of its answer.
pub(crate) fn request_event(request: LspRequest) -> (Event, PendingAnswer) {
    let (answer, receiver) = oneshot::channel();
    let cancel = Cancel::new();
    let event = Event::LspRequest(request, cancel.clone(), answer);
    (event, PendingAnswer { answer: receiver, _cancel_on_drop: CancelOnDrop(cancel) })
}
