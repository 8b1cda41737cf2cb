//! Notices news of a document that cannot be read: a position that is no number, a name that is no URI. The library
//! drops such a notification without a word, and the text would be silently wrong from then on. Looks at one message at a
//! time and changes none.

use serde::de::DeserializeOwned;
use serde_json::Value;
use tower_lsp::ls_types::{
    DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    DidSaveTextDocumentParams,
};

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

/// What is wrong with a message, if it is about a document and cannot be read.
pub fn misread(method: &str, params: Option<&Value>) -> Option<Misread> {
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
    // Looking for the place of an error takes longer, and most messages have none.
    if P::deserialize(params).is_ok() {
        return None;
    }
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
