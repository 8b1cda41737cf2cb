//! Asks a server on this machine for the window of its model, which is often smaller than the model's own, and beyond
//! which some servers cut the beginning of a prompt without an error. Asks no other server.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use strata_base::cancel::Cancel;
use strata_base::json;
use strata_conversation::providers::WindowLookupStep;
use strata_conversation::providers::reply::ProviderError;

use super::address::{RequestAddress, RequestTarget};
use super::model::Provider;
use super::outcome::RequestLimits;

/// Timeout for a question about the server, which answers at once unless it hangs.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(5);

/// Timeout for loading a model. Tens of gigabytes from a slow disk take a minute or two.
const LOAD_TIMEOUT: Duration = Duration::from_secs(120);

/// Models (base URL and name) that a server could not load for their windows. The wait is not repeated by each question
/// of this process.
static WINDOW_LOAD_FAILURES: Mutex<BTreeSet<(Option<String>, String)>> = Mutex::new(BTreeSet::new());

/// Maximum size of a reply in bytes. Descriptions of models contain their templates and licenses.
const MAX_REPLY_BYTES: usize = 4 << 20;

impl Provider {
    /// Returns whether the server is on this machine.
    pub fn is_local(&self) -> bool {
        RequestAddress::new(self).is_ok_and(|address| address.is_on_this_machine())
    }

    /// Returns the tokens of the window that the server gives to the model. `None` if the server is not on this machine
    /// or does not report it. Some servers load the model to answer, as they would for the next request.
    pub fn context_window(&self, cancel: &Cancel) -> Option<usize> {
        if !self.is_local() {
            return None;
        }
        let tokens = self.request_window(cancel);
        tokens.and_then(|tokens| usize::try_from(tokens).ok()).filter(|tokens| *tokens > 0)
    }

    /// Makes the requests that the provider's endpoint specifies.
    fn request_window(&self, cancel: &Cancel) -> Option<u64> {
        let mut answers = Vec::new();
        loop {
            let answer = match (self.kind.endpoint().window)(&self.model, &answers) {
                WindowLookupStep::End(tokens) => return tokens,
                WindowLookupStep::Models => {
                    self.query_server(RequestTarget::Models, None, LOOKUP_TIMEOUT, cancel)
                }
                WindowLookupStep::Ask { path, body } => {
                    self.query_server(RequestTarget::Server(path), body.as_ref(), LOOKUP_TIMEOUT, cancel)
                }
                WindowLookupStep::Load { path, body } => Some(self.load_model(path, &body, cancel)?),
            };
            answers.push(answer);
        }
    }

    /// Loads the model, unless that failed before.
    fn load_model(&self, path: &'static str, body: &Value, cancel: &Cancel) -> Option<Value> {
        let failures = || WINDOW_LOAD_FAILURES.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (self.base_url.clone(), self.model.clone());
        if failures().contains(&key) {
            return None;
        }
        let reply = self.query_server(RequestTarget::Server(path), Some(body), LOAD_TIMEOUT, cancel);
        if reply.is_none() && !cancel.is_cancelled() {
            failures().insert(key);
        }
        reply
    }

    fn query_server(
        &self,
        target: RequestTarget,
        body: Option<&Value>,
        timeout: Duration,
        cancel: &Cancel,
    ) -> Option<Value> {
        let limits =
            RequestLimits { deadline: timeout, stall: timeout, max_reply_bytes: MAX_REPLY_BYTES, retries: 0 };
        let read = |bytes: &[u8]| -> Result<Value, ProviderError> {
            json::from_slice(bytes).map_err(|_| ProviderError::from_status(200, bytes, None))
        };
        let reply = self.request(target, body, &read, &limits, cancel);
        reply.inspect_err(|error| tracing::debug!(%error, "cannot read the server's window")).ok()
    }
}
