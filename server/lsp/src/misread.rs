//! Notices news of a document that cannot be read: a position that is no number, a name that is no URI. The library
//! drops such a notification without a word, and the text would be silently wrong from then on. Posts what it notices
//! before the library sees it, so that mail stays in the order of the wire, and passes everything on unchanged.

use std::sync::mpsc::Sender;
use std::task::{Context, Poll};

use serde::de::DeserializeOwned;
use serde_json::Value;
use tower_lsp::jsonrpc::Request;
use tower_lsp::ls_types::{
    DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    DidSaveTextDocumentParams,
};
use tower_service::Service;

use crate::mail::Mail;

/// A notification about a document that cannot be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Misread {
    /// The method.
    pub method: String,
    /// The document, as far as it can be told.
    pub uri: Option<String>,
    /// What is wrong.
    pub problem: String,
}

/// A service that posts what it could not read.
#[derive(Debug)]
pub struct Proofread<S> {
    service: S,
    mail: Sender<Mail>,
}

impl<S> Proofread<S> {
    /// Stands in front of `service` and posts to `mail`.
    pub fn new(service: S, mail: Sender<Mail>) -> Self {
        Self { service, mail }
    }
}

impl<S: Service<Request>> Service<Request> for Proofread<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.service.poll_ready(context)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        if let Some(misread) = misread(request.method(), request.params()) {
            // The loop is gone when the server is ending; then the mail has no meaning any more.
            let _ = self.mail.send(Mail::Misread(misread));
        }
        self.service.call(request)
    }
}

fn misread(method: &str, params: Option<&Value>) -> Option<Misread> {
    let nothing = Value::Null;
    let params = params.unwrap_or(&nothing);
    let problem = match method {
        "textDocument/didOpen" => problem::<DidOpenTextDocumentParams>(params),
        "textDocument/didChange" => problem::<DidChangeTextDocumentParams>(params),
        "textDocument/didSave" => problem::<DidSaveTextDocumentParams>(params),
        "textDocument/didClose" => problem::<DidCloseTextDocumentParams>(params),
        _ => None,
    }?;
    let uri = params.pointer("/textDocument/uri").and_then(Value::as_str).map(str::to_owned);
    Some(Misread { method: method.to_owned(), uri, problem })
}

fn problem<P: DeserializeOwned>(params: &Value) -> Option<String> {
    let error = serde_path_to_error::deserialize::<_, P>(params).err()?;
    Some(format!("`{}`: {}", error.path(), error.inner()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn change(uri: &str, line: &Value) -> Option<Misread> {
        let range =
            json!({ "start": { "line": line, "character": 0 }, "end": { "line": 9, "character": 0 } });
        let params = json!({
            "textDocument": { "uri": uri, "version": 2 },
            "contentChanges": [{ "range": range, "text": "" }],
        });
        misread("textDocument/didChange", Some(&params))
    }

    #[test]
    fn what_can_be_read_is_no_news() {
        assert_eq!(change("file:///a.rs", &json!(3)), None);
        assert_eq!(misread("initialized", Some(&json!(7))), None);
    }

    #[test]
    fn what_cannot_be_read_is_told_with_its_document() {
        for (uri, line) in
            [("file:///a.rs", json!(-1)), ("file:///a.rs", json!(1.5)), ("file:///a b.rs", json!(3))]
        {
            let misread = change(uri, &line).unwrap();
            assert_eq!(misread.uri.as_deref(), Some(uri));
            assert!(misread.problem.starts_with('`'), "{}", misread.problem);
        }
        let nameless = misread("textDocument/didSave", None).unwrap();
        assert_eq!((nameless.method.as_str(), nameless.uri), ("textDocument/didSave", None));
    }
}
