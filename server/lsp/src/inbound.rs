//! Preprocesses every message before the library handles it. Posts events that the library would not report (the
//! document of a message, and invalid notifications), so that they keep their place in wire order. Accepts messages that
//! the library would reject although it is clear what they mean, and names the field in errors of the others. Nothing
//! behind this module has to know how editors spell what they send.

mod addresses;
mod initialize;
mod lists;

use std::future::Future;
use std::pin::Pin;
use std::sync::mpsc::Sender;
use std::task::{Context, Poll, ready};

use serde_json::{Value, json};
use tower_lsp::jsonrpc::{Error, ErrorCode, Request, Response};
use tower_service::Service;

use crate::event::Event;
use crate::invalid_notification::{InvalidNotification, invalid_notification, notification_with_id};
use crate::invalid_params::invalid_params;

use addresses::UriSpellings;
pub use initialize::refusal_reason as refusal_of_initialize;

/// A service that preprocesses messages for another service.
#[derive(Debug)]
pub(crate) struct InboundMiddleware<S> {
    service: S,
    events: Sender<Event>,
    /// URI of the document that the last message referred to. An event is posted only when the document changes, not
    /// for every keystroke.
    document: Option<String>,
    spellings: UriSpellings,
}

/// A call of the service, with what its response needs.
#[derive(Debug)]
pub(crate) struct PreprocessedCall<F> {
    call: F,
    /// What is wrong with the parameters.
    problem: Option<String>,
    spellings: UriSpellings,
    /// Problems to report when the call has ended.
    startup_warnings: Vec<String>,
    events: Sender<Event>,
}

impl<S> InboundMiddleware<S> {
    /// Wraps `service`. Posts events to `events`.
    pub(crate) fn new(service: S, events: Sender<Event>) -> Self {
        Self { service, events, document: None, spellings: UriSpellings::default() }
    }

    fn post(&self, event: Event) {
        // The main loop has ended if the server is shutting down, so the event no longer matters.
        let _ = self.events.send(event);
    }

    /// Posts the event that a message refers to another document than the last one.
    fn track_current_document(&mut self, method: &str, params: Option<&Value>) {
        match referenced_document(method, params) {
            Some(uri) if self.document.as_deref() != Some(uri) => {
                self.document = Some(uri.to_owned());
                self.post(Event::DocumentReferenced(uri.to_owned()));
            }
            // If the same document is opened next, it must be reported again.
            None if method == "textDocument/didClose" => self.document = None,
            _ => {}
        }
    }

    /// Normalizes the URIs of a message, and records how the client spells its open documents.
    fn normalize_uris(&mut self, method: &str, params: &mut Value) {
        if method == "textDocument/didOpen" {
            addresses::record_spelling(&mut self.spellings, params);
        }
        addresses::normalize_uris(params);
        if method == "textDocument/didClose"
            && let Some(uri) = params.pointer("/textDocument/uri").and_then(Value::as_str)
        {
            addresses::forget_spelling(&mut self.spellings, uri);
        }
    }
}

impl<S: Service<Request, Response = Option<Response>, Future: Unpin>> Service<Request>
    for InboundMiddleware<S>
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = PreprocessedCall<S::Future>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.service.poll_ready(context)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let (method, id, mut params) = request.into_parts();
        let mut startup_warnings = Vec::new();
        if method == "initialize" {
            startup_warnings = initialize::keep_used_initialize_fields(params.get_or_insert_default());
        } else if let Some(params) = &mut params {
            self.normalize_uris(&method, params);
            complete_omitted_params(&method, params);
        }
        for problem in lists::repair_lists(&method, params.as_mut().unwrap_or(&mut Value::Null)) {
            let method = Some(method.clone().into_owned());
            self.post(Event::InvalidNotification(InvalidNotification { method, uri: None, problem }));
        }
        let invalid = match &id {
            None => invalid_notification(&method, params.as_ref()),
            Some(_) => notification_with_id(&method, params.as_ref()),
        };
        if let Some(invalid) = invalid {
            self.post(Event::InvalidNotification(invalid));
        }
        self.track_current_document(&method, params.as_ref());
        let problem = id.as_ref().and_then(|_| invalid_params(&method, params.as_ref()));
        let mut request = Request::build(method);
        if let Some(params) = params {
            request = request.params(params);
        }
        if let Some(id) = id {
            request = request.id(id);
        }
        PreprocessedCall {
            call: self.service.call(request.finish()),
            problem,
            spellings: UriSpellings::clone(&self.spellings),
            startup_warnings,
            events: self.events.clone(),
        }
    }
}

impl<F, E> Future for PreprocessedCall<F>
where
    F: Future<Output = Result<Option<Response>, E>> + Unpin,
{
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let response = ready!(Pin::new(&mut self.call).poll(context));
        for problem in std::mem::take(&mut self.startup_warnings) {
            let _ = self.events.send(Event::StartupWarning("folders", problem));
        }
        Poll::Ready(response.map(|response| response.map(|response| self.adapt_response(response))))
    }
}

impl<F> PreprocessedCall<F> {
    /// Names the invalid field in an error, and documents as the client does in a result.
    fn adapt_response(&mut self, response: Response) -> Response {
        let (id, mut body) = response.into_parts();
        match (&mut body, self.problem.take()) {
            (Ok(result), _) => addresses::respell(result, &self.spellings),
            (Err(Error { code: ErrorCode::InvalidParams, message, .. }), Some(problem)) => {
                *message = problem.into();
            }
            (Err(_), _) => {}
        }
        Response::from_parts(id, body)
    }
}

/// Returns the URI of the document or notebook that a message refers to. Returns `None` for `didClose`, because
/// closing a document does not make it current.
fn referenced_document<'a>(method: &str, params: Option<&'a Value>) -> Option<&'a str> {
    if let "notebookDocument/didOpen" | "notebookDocument/didChange" = method {
        return params?.pointer("/notebookDocument/uri")?.as_str();
    }
    match method.strip_prefix("textDocument/")? {
        "didClose" => None,
        _ => params?.pointer("/textDocument/uri")?.as_str(),
    }
}

/// Completes parameters that some clients leave out: removes `null` arguments of a command without arguments, and adds
/// the settings of a notification that only says that they changed.
fn complete_omitted_params(method: &str, params: &mut Value) {
    match (method, params) {
        ("workspace/executeCommand", Value::Object(fields))
            if fields.get("arguments").is_some_and(Value::is_null) =>
        {
            fields.shift_remove("arguments");
        }
        ("workspace/didChangeConfiguration", Value::Object(fields)) => {
            fields.entry("settings").or_insert(Value::Null);
        }
        ("workspace/didChangeConfiguration", params) => *params = json!({ "settings": null }),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parameters_that_clients_leave_out_are_added() {
        let completed = |method: &str, mut params: Value| {
            complete_omitted_params(method, &mut params);
            params
        };
        let command = |params: Value| completed("workspace/executeCommand", params);
        let null = json!({ "command": "strata.here.select", "arguments": null });
        assert_eq!(command(null), json!({ "command": "strata.here.select" }));
        for other in [json!({ "command": "c", "arguments": [null] }), json!([])] {
            assert_eq!(command(other.clone()), other);
        }
        assert_eq!(completed("workspace/symbol", json!({ "arguments": null })), json!({ "arguments": null }));
        for params in [json!(null), json!([]), json!({})] {
            let settings = completed("workspace/didChangeConfiguration", params);
            assert_eq!(settings, json!({ "settings": null }));
        }
    }

    #[test]
    fn the_document_of_every_document_message_is_found() {
        let params = json!({ "textDocument": { "uri": "file:///a.rs" } });
        for method in ["textDocument/didOpen", "textDocument/codeAction", "textDocument/ofTomorrow"] {
            assert_eq!(referenced_document(method, Some(&params)), Some("file:///a.rs"));
        }
        for method in ["textDocument/didClose", "workspace/symbol", "notebookDocument/didOpen"] {
            assert_eq!(referenced_document(method, Some(&params)), None, "{method}");
        }
        assert_eq!(referenced_document("textDocument/hover", Some(&json!([]))), None);
        assert_eq!(referenced_document("textDocument/hover", None), None);
    }
}
