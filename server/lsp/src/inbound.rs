//! Preprocesses every message before the library handles it. Posts events that the library would not report (the
//! document of a message, and invalid notifications), so that they keep their place in wire order. Tolerates some
//! messages that the library would reject. Sends no answers.

use std::sync::mpsc::Sender;
use std::task::{Context, Poll};

use serde_json::Value;
use tower_lsp::jsonrpc::Request;
use tower_service::Service;

use crate::event::Event;
use crate::invalid_notification::invalid_notification;

/// A service that preprocesses messages for another service.
#[derive(Debug)]
pub(crate) struct Inbound<S> {
    service: S,
    events: Sender<Event>,
    /// URI of the document that the last message referred to. An event is posted only when the document changes, not
    /// for every keystroke.
    document: Option<String>,
}

impl<S> Inbound<S> {
    /// Wraps `service`. Posts events to `events`.
    pub(crate) fn new(service: S, events: Sender<Event>) -> Self {
        Self { service, events, document: None }
    }

    fn post(&self, event: Event) {
        // The main loop has ended if the server is shutting down, so the event no longer matters.
        let _ = self.events.send(event);
    }
}

impl<S: Service<Request>> Service<Request> for Inbound<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.service.poll_ready(context)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        if let Some(invalid_notification) = invalid_notification(request.method(), request.params()) {
            self.post(Event::InvalidNotification(invalid_notification));
        }
        match document_of(request.method(), request.params()) {
            Some(uri) if self.document.as_deref() != Some(uri) => {
                self.document = Some(uri.to_owned());
                self.post(Event::Named(uri.to_owned()));
            }
            // If the same document is opened next, it must be reported again.
            None if request.method() == "textDocument/didClose" => self.document = None,
            _ => {}
        }
        self.service.call(generously(request))
    }
}

/// Returns the URI of the document or notebook that a message refers to. Returns `None` for `didClose`, because
/// closing a document does not make it current.
fn document_of<'a>(method: &str, params: Option<&'a Value>) -> Option<&'a str> {
    if let "notebookDocument/didOpen" | "notebookDocument/didChange" = method {
        return params?.pointer("/notebookDocument/uri")?.as_str();
    }
    match method.strip_prefix("textDocument/")? {
        "didClose" => None,
        _ => params?.pointer("/textDocument/uri")?.as_str(),
    }
}

/// Removes `null` arguments of a command, which some clients send for a command without arguments.
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

    #[test]
    fn every_message_about_a_document_names_it() {
        let params = json!({ "textDocument": { "uri": "file:///a.rs" } });
        for method in ["textDocument/didOpen", "textDocument/codeAction", "textDocument/ofTomorrow"] {
            assert_eq!(document_of(method, Some(&params)), Some("file:///a.rs"));
        }
        for method in ["textDocument/didClose", "workspace/symbol", "notebookDocument/didOpen"] {
            assert_eq!(document_of(method, Some(&params)), None, "{method}");
        }
        assert_eq!(document_of("textDocument/hover", Some(&json!([]))), None);
        assert_eq!(document_of("textDocument/hover", None), None);
    }
}
