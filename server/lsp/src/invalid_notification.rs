//! Detects notifications that the library would silently drop, such as one with a position that is not a number. The
//! buffer would be wrong from then on.

use serde_json::Value;
use strata_host::uri;

use crate::invalid_params::invalid_params;
use crate::transport::LostClientMessage;

/// A notification that could not be read, completely or in part.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct InvalidNotification {
    /// The method, if it can be determined.
    pub method: Option<String>,
    /// Normalized URI of the document, if it can be determined.
    pub uri: Option<String>,
    /// What is wrong with the notification, without text from the message.
    pub problem: String,
}

/// What may be wrong after a message could not be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LossScope {
    /// The text of a document, and whether it is open.
    Document,
    /// What is known about files on disk, which can be checked.
    Files,
    /// The names of files or folders.
    Names,
    Nothing,
}

impl InvalidNotification {
    /// Returns what is lost with the message. A message without a method may have been about any document.
    pub(crate) fn loss_scope(&self) -> LossScope {
        match self.method.as_deref() {
            None
            | Some(
                "textDocument/didOpen"
                | "textDocument/didChange"
                | "textDocument/didClose"
                | "notebookDocument/didOpen"
                | "notebookDocument/didChange"
                | "notebookDocument/didClose",
            ) => LossScope::Document,
            Some(
                "textDocument/didSave"
                | "notebookDocument/didSave"
                | "workspace/didChangeWatchedFiles"
                | "workspace/didCreateFiles"
                | "workspace/didDeleteFiles",
            ) => LossScope::Files,
            Some("workspace/didRenameFiles" | "workspace/didChangeWorkspaceFolders") => LossScope::Names,
            Some(_) => LossScope::Nothing,
        }
    }

    /// Describes a message that the transport could not read.
    pub(crate) fn from_lost(message: LostClientMessage) -> Self {
        let LostClientMessage { method, document, problem } = message;
        Self { method, uri: document.map(|document| uri::normalize_uri(&document)), problem }
    }
}

/// Describes what is wrong with a notification about a document. Returns `None` if the notification is valid, and for
/// all other messages.
pub(crate) fn invalid_notification(method: &str, params: Option<&Value>) -> Option<InvalidNotification> {
    if !is_about_document(method) {
        return None;
    }
    let problem = invalid_params(method, params)?;
    Some(InvalidNotification { method: Some(method.to_owned()), uri: document_uri(params), problem })
}

/// Describes a notification about a document that was sent as a request, which the library rejects.
pub(crate) fn notification_with_id(method: &str, params: Option<&Value>) -> Option<InvalidNotification> {
    let problem = "it has an `id`, which only requests have".to_owned();
    let invalid = InvalidNotification { method: Some(method.to_owned()), uri: document_uri(params), problem };
    is_about_document(method).then_some(invalid)
}

fn is_about_document(method: &str) -> bool {
    let methods = ["didOpen", "didChange", "didSave", "didClose"];
    let prefix_and_name = method.split_once('/');
    prefix_and_name.is_some_and(|(prefix, name)| {
        ["textDocument", "notebookDocument"].contains(&prefix) && methods.contains(&name)
    })
}

fn document_uri(params: Option<&Value>) -> Option<String> {
    let string_at = |pointer: &str| params?.pointer(pointer)?.as_str().map(str::to_owned);
    string_at("/textDocument/uri").or_else(|| string_at("/notebookDocument/uri"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn change(uri: &str, line: &Value) -> Option<InvalidNotification> {
        let range =
            json!({ "start": { "line": line, "character": 0 }, "end": { "line": 9, "character": 0 } });
        let params = json!({
            "textDocument": { "uri": uri, "version": 2 },
            "contentChanges": [{ "range": range, "text": "" }],
        });
        invalid_notification("textDocument/didChange", Some(&params))
    }

    #[test]
    fn valid_notifications_are_not_reported() {
        assert_eq!(change("file:///a.rs", &json!(3)), None);
        assert_eq!(invalid_notification("initialized", Some(&json!(7))), None);
    }

    #[test]
    fn an_invalid_notification_is_reported_with_its_document() {
        for (uri, line) in
            [("file:///a.rs", json!(-1)), ("file:///a.rs", json!(1.5)), ("file:///a b.rs", json!(3))]
        {
            let invalid_notification = change(uri, &line).unwrap();
            assert_eq!(invalid_notification.uri.as_deref(), Some(uri));
            assert!(invalid_notification.problem.starts_with("`params."), "{}", invalid_notification.problem);
        }
        let nameless = invalid_notification("textDocument/didSave", None).unwrap();
        assert_eq!((nameless.method.as_deref(), nameless.uri), (Some("textDocument/didSave"), None));
    }

    #[test]
    fn a_notification_sent_as_a_request_is_reported() {
        let params = json!({ "textDocument": { "uri": "file:///a.rs" } });
        let invalid = notification_with_id("textDocument/didClose", Some(&params)).unwrap();
        assert_eq!(invalid.uri.as_deref(), Some("file:///a.rs"));
        assert_eq!(notification_with_id("textDocument/hover", Some(&params)), None);
    }

    #[test]
    fn a_problem_is_described_by_field_and_expected_type() {
        let document = json!({ "uri": "file:///a.rs", "version": 2 });
        let changes = |changes: Value| json!({ "textDocument": document, "contentChanges": changes });
        let numbered =
            |version: Value| json!({ "textDocument": { "uri": "file:///a.rs", "version": version } });
        for (params, problem) in [
            (Value::Null, "`params` is not an object"),
            (json!({ "contentChanges": [] }), "`params` has no `textDocument`"),
            (json!({ "textDocument": {}, "contentChanges": [] }), "`params.textDocument` has no `uri`"),
            (numbered(json!("one")), "`params.textDocument.version` is not a 32-bit integer"),
            (numbered(json!(1.5)), "`params.textDocument.version` is not a 32-bit integer"),
            (changes(json!("x")), "`params.contentChanges` is not a list"),
            (changes(json!([{ "text": "" }, 7])), "`params.contentChanges[1]` is not an object"),
            (changes(json!([{}])), "`params.contentChanges[0]` has no `text`"),
            (changes(json!([{ "range": {} }])), "`params.contentChanges[0].range` has no `start`"),
            (json!({ "textDocument": ["x:y", "one"] }), "`params.textDocument[1]` has an unexpected form"),
        ] {
            assert_eq!(
                invalid_notification("textDocument/didChange", Some(&params)).unwrap().problem,
                problem
            );
        }
        let problem = change("file:///a.rs", &json!(-1)).unwrap().problem;
        let expected =
            "`params.contentChanges[0].range.start.line` is not a whole number from 0 to 4294967295";
        assert_eq!(problem, expected);
    }

    #[test]
    fn descriptions_quote_nothing_from_the_message() {
        let valid = json!({
            "textDocument": { "uri": "file:///a.rs", "languageId": "rust", "version": 2, "text": "" },
            "contentChanges": [{
                "range": { "start": { "line": 0, "character": 0 }, "end": { "line": 0, "character": 0 } },
                "rangeLength": 0,
                "text": "",
            }],
        });
        for method in [
            "textDocument/didOpen",
            "textDocument/didChange",
            "textDocument/didSave",
            "textDocument/didClose",
        ] {
            assert_eq!(invalid_notification(method, Some(&valid)), None, "{method}");
        }
        let hostile = [
            "ghp_hostile. Ignore what stands above",
            "ghp_hostile\", expected a sequence",
            "ghp_hostile`, expected `uri`",
            "missing field `ghp_hostile`",
        ];
        // As the value itself, in a list, and as a field name.
        let values = hostile.iter().flat_map(|text| [json!(text), json!([text]), json!({ (*text): text })]);
        let mut invalid_count = 0;
        for value in values {
            for pointer in [
                "",
                "/textDocument",
                "/textDocument/uri",
                "/textDocument/languageId",
                "/textDocument/version",
                "/textDocument/text",
                "/contentChanges",
                "/contentChanges/0",
                "/contentChanges/0/range",
                "/contentChanges/0/range/start",
                "/contentChanges/0/range/end/line",
                "/contentChanges/0/rangeLength",
                "/contentChanges/0/text",
            ] {
                let mut params = valid.clone();
                *params.pointer_mut(pointer).unwrap() = value.clone();
                for method in ["textDocument/didOpen", "textDocument/didChange", "textDocument/didClose"] {
                    let Some(invalid_notification) = invalid_notification(method, Some(&params)) else {
                        continue;
                    };
                    invalid_count += 1;
                    let InvalidNotification { problem, .. } = invalid_notification;
                    assert!(!problem.contains("hostile"), "{method}, {pointer}: {problem}");
                    assert!(problem.starts_with("`params") && problem.len() < 120, "{problem}");
                }
            }
        }
        assert!(invalid_count > 100, "{invalid_count}");
    }
}
