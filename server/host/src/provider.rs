//! Provides the only access to language models: sends a request body and receives the reply, complete or streamed.
//! Handles addresses, keys, deadlines, limits and retries. Does not decide what to ask or how to use a reply, and
//! connects only when called.
//!
//! A key from the environment, or from a command that the user configured, is sent only in one header of a request.
//! Addresses, errors and logs contain no keys and no bodies, and replies contain no key either, even if the provider
//! repeats it (`key_filter`).

mod address;
mod attempt;
mod error;
mod http;
mod key;
mod key_command;
mod key_filter;
mod key_lookup;
mod kind;
mod model;
mod outcome;
mod retry;
mod window;

use serde_json::Value;
use strata_base::cancel::Cancel;
use strata_base::json;
use strata_conversation::providers::reply::{ProviderError, ProviderErrorKind, Reply};

pub use self::error::SendError;
pub use self::key::{ApiKey, KeySource};
pub use self::model::Provider;
pub use self::outcome::{RequestLimits, StreamEvent, StreamOutcome};

pub(crate) use self::address::RequestTarget;

use self::address::RequestAddress;
use self::attempt::{CompleteReader, RetryingRequest, StreamReader};
use self::http::HttpRequest;
use self::key_filter::RedactKey;

impl Provider {
    /// Posts a body and waits for the complete reply. Can be called on any thread. Raising `cancel` ends the call
    /// within about 20 ms.
    ///
    /// # Errors
    /// [`SendError`] if the request fails. A partial reply is discarded.
    pub(crate) fn send(
        &self,
        body: &Value,
        limits: &RequestLimits,
        cancel: &Cancel,
    ) -> Result<Reply, SendError> {
        let dialect = self.kind.dialect();
        self.request(
            RequestTarget::Complete,
            Some(body),
            &|bytes| Reply::read(dialect, bytes),
            limits,
            cancel,
        )
    }

    /// Posts a body and delivers the reply on the calling thread as it arrives. Once a part of the reply
    /// has been delivered, the request is not retried, and an early end, including cancellation, is reported in [`StreamOutcome::broken`].
    ///
    /// # Errors
    /// [`SendError`] if the request fails before an event is delivered.
    pub fn stream(
        &self,
        body: &Value,
        limits: &RequestLimits,
        cancel: &Cancel,
        on_event: &mut dyn FnMut(StreamEvent),
    ) -> Result<StreamOutcome, SendError> {
        let mut body = body.clone();
        self.kind.dialect().ask_for_stream(&mut body);
        let exchange = self.prepare_request(RequestTarget::Stream, Some(&body), limits, cancel)?;
        exchange.run(&mut StreamReader::new(self.kind, on_event))
    }

    /// Requests the list of models. The request is free of charge and verifies the key.
    ///
    /// # Errors
    /// [`SendError`] if the request fails or the reply is not a list of models.
    pub fn check_connection(&self, limits: &RequestLimits, cancel: &Cancel) -> Result<(), SendError> {
        self.request(RequestTarget::Models, None, &check_model_list, limits, cancel)
    }

    /// Checks that the address is allowed and that a required key is available. Opens no connection and runs no
    /// command.
    ///
    /// # Errors
    /// [`SendError::BadAddress`], [`SendError::NoKey`] or [`SendError::KeyCommand`].
    pub fn check_configuration(&self) -> Result<(), SendError> {
        RequestAddress::new(self)?;
        self.key.check_key(self)
    }

    /// Sends a request to one of the provider's endpoints, as a POST if it has a body, and parses the complete reply with
    /// `read`.
    pub(crate) fn request<T: RedactKey>(
        &self,
        target: RequestTarget,
        body: Option<&Value>,
        read: &dyn Fn(&[u8]) -> Result<T, ProviderError>,
        limits: &RequestLimits,
        cancel: &Cancel,
    ) -> Result<T, SendError> {
        let exchange = self.prepare_request(target, body, limits, cancel)?;
        exchange.run(&mut CompleteReader::new(self.kind, read))
    }

    /// Checks everything that does not require the network, gets the key, and builds the request.
    fn prepare_request<'a>(
        &self,
        target: RequestTarget,
        body: Option<&Value>,
        limits: &RequestLimits,
        cancel: &'a Cancel,
    ) -> Result<RetryingRequest<'a>, SendError> {
        cancel.check().map_err(|_| SendError::Cancelled)?;
        let url = RequestAddress::new(self)?.url(target)?;
        let key = self.key.find_key(self, cancel)?;
        let body = body.map(|body| self.serialize_body(body));
        let headers = kind::headers(self.kind.endpoint(), &url, key.as_ref());
        let request = HttpRequest { url, headers, body };
        let stall = if target == RequestTarget::Stream { limits.stall } else { limits.deadline };
        let filter = key.as_ref().map(ApiKey::redactor).unwrap_or_default();
        Ok(RetryingRequest::new(
            request,
            filter,
            self.key.clone(),
            RequestLimits { stall, ..limits.clone() },
            cancel,
        ))
    }

    /// Serializes the body, without the model if the URL contains it.
    fn serialize_body(&self, body: &Value) -> bytes::Bytes {
        if !self.kind.endpoint().path.contains("{model}") {
            return body.to_string().into();
        }
        let mut body = body.clone();
        if let Some(fields) = body.as_object_mut() {
            fields.shift_remove(self.kind.dialect().properties().model_field);
        }
        body.to_string().into()
    }
}

/// Checks that a reply is a list of models.
fn check_model_list(body: &[u8]) -> Result<(), ProviderError> {
    let list: Option<Value> = json::from_slice(body).ok();
    let names = ["data", "models", "modelSummaries"];
    let is_list = list.is_some_and(|list| names.iter().any(|name| list.get(name).is_some()));
    let error = || ProviderError::new(ProviderErrorKind::Garbage, "the reply is not a list of models");
    if is_list { Ok(()) } else { Err(error()) }
}
