//! What every message passes before the library sees it. Posts what the library would not say, which document a message is
//! about and what cannot be read, so that mail stays in the order of the wire; and reads generously what the library would
//! refuse. Answers nothing itself.

use std::sync::mpsc::Sender;
use std::task::{Context, Poll};

use serde_json::Value;
use tower_lsp::jsonrpc::Request;
use tower_service::Service;

use crate::attention;
use crate::mail::Mail;
use crate::misread::misread;

/// A service that stands in front of another one.
#[derive(Debug)]
pub struct Ingress<S> {
    service: S,
    mail: Sender<Mail>,
    /// The document of the last message, so that typing in one is told once.
    document: Option<String>,
}

impl<S> Ingress<S> {
    /// Stands in front of `service` and posts to `mail`.
    pub fn new(service: S, mail: Sender<Mail>) -> Self {
        Self { service, mail, document: None }
    }

    fn post(&self, mail: Mail) {
        // The loop is gone when the server is ending; then the mail has no meaning any more.
        let _ = self.mail.send(mail);
    }
}

impl<S: Service<Request>> Service<Request> for Ingress<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.service.poll_ready(context)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        if let Some(misread) = misread(request.method(), request.params()) {
            self.post(Mail::Misread(misread));
        }
        match attention::document(request.method(), request.params()) {
            Some(uri) if self.document.as_deref() != Some(uri) => {
                self.document = Some(uri.to_owned());
                self.post(Mail::Named(uri.to_owned()));
            }
            // It may be closed, and named again as the next one.
            None if request.method() == "textDocument/didClose" => self.document = None,
            _ => {}
        }
        self.service.call(generously(request))
    }
}

/// `null` where a list of arguments may be missing, as some clients write a command without any.
fn generously(request: Request) -> Request {
    let is_null = |params: &Value| params.get("arguments").is_some_and(Value::is_null);
    if request.method() != "workspace/executeCommand" || !request.params().is_some_and(is_null) {
        return request;
    }
    let (method, id, params) = request.into_parts();
    let mut params = params.unwrap_or_default();
    if let Value::Object(fields) = &mut params {
        fields.shift_remove("arguments");
    }
    let request = Request::build(method).params(params);
    match id {
        Some(id) => request.id(id).finish(),
        None => request.finish(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_that_are_null_are_none() {
        let request =
            |method: &'static str, params: Value| Request::build(method).params(params).id(7).finish();
        let command = |params: Value| request("workspace/executeCommand", params);
        let bare = command(json!({ "command": "strata.here.select" }));
        let null = command(json!({ "command": "strata.here.select", "arguments": null }));
        assert_eq!(generously(null), bare);
        let others = [
            command(json!({ "command": "c", "arguments": [null] })),
            command(json!([])),
            request("workspace/symbol", json!({ "arguments": null })),
            Request::build("workspace/executeCommand").finish(),
        ];
        for other in others {
            assert_eq!(generously(other.clone()), other);
        }
    }
}
