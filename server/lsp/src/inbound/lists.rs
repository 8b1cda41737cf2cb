//! Removes the invalid items from lists of files and folders, so that one of them does not lose the whole notification.

use serde_json::{Map, Value, json};
use tower_lsp::ls_types::Uri;

/// A list in the parameters of a notification.
struct UriListLocation {
    method: &'static str,
    /// Names of the fields that lead to the list.
    path: &'static [&'static str],
    /// Fields of an item that contain a URI.
    uri_fields: &'static [&'static str],
}

const URI_LISTS: [UriListLocation; 6] = [
    UriListLocation { method: "workspace/didChangeWatchedFiles", path: &["changes"], uri_fields: &["uri"] },
    UriListLocation { method: "workspace/didCreateFiles", path: &["files"], uri_fields: &["uri"] },
    UriListLocation { method: "workspace/didDeleteFiles", path: &["files"], uri_fields: &["uri"] },
    UriListLocation {
        method: "workspace/didRenameFiles",
        path: &["files"],
        uri_fields: &["oldUri", "newUri"],
    },
    UriListLocation {
        method: "workspace/didChangeWorkspaceFolders",
        path: &["event", "added"],
        uri_fields: &["uri"],
    },
    UriListLocation {
        method: "workspace/didChangeWorkspaceFolders",
        path: &["event", "removed"],
        uri_fields: &["uri"],
    },
];

/// Kind of change of a file for which the client sends none, which the server does not use (`Changed` of LSP 3.17).
const FALLBACK_CHANGE_KIND: u32 = 2;

/// Removes invalid items from the lists of a notification, and adds missing fields that the server does not need.
/// Returns a description of each problem. A list that is missing is empty.
pub(super) fn repair_lists(method: &str, params: &mut Value) -> Vec<String> {
    let mut lists = URI_LISTS.iter().filter(|list| list.method == method).peekable();
    if lists.peek().is_some() && !params.is_object() {
        *params = json!({});
        lists.for_each(|list| _ = list_at(params, list.path));
        return vec!["`params` is not an object".to_owned()];
    }
    let mut problems = Vec::new();
    for list in lists {
        let path_text = format!("params.{}", list.path.join("."));
        let Some(items) = list_at(params, list.path) else {
            problems.push(format!("`{path_text}` is not a list"));
            continue;
        };
        let mut index = 0;
        items.retain_mut(|item| {
            let problem = list.repair_item(item);
            problems.extend(problem.as_ref().map(|problem| format!("`{path_text}[{index}]` {problem}")));
            index += 1;
            problem.is_none()
        });
    }
    problems
}

/// Returns the list at a path. Creates the list if it is missing. Replaces it if it is not a list, and returns `None`.
fn list_at<'v>(value: &'v mut Value, path: &[&str]) -> Option<&'v mut Vec<Value>> {
    let mut is_valid = true;
    let mut current = value;
    for name in path {
        if !current.is_object() {
            is_valid &= current.is_null();
            *current = json!({});
        }
        current = current.as_object_mut()?.entry(*name).or_insert(Value::Null);
    }
    if !current.is_array() {
        is_valid &= current.is_null();
        *current = json!([]);
    }
    current.as_array_mut().filter(|_| is_valid)
}

impl UriListLocation {
    fn repair_item(&self, item: &mut Value) -> Option<String> {
        let Value::Object(fields) = item else { return Some("is not an object".to_owned()) };
        for name in self.uri_fields {
            let uri = fields.get(*name).and_then(Value::as_str);
            if uri.is_none_or(|uri| uri.parse::<Uri>().is_err()) {
                return Some(format!("has no `{name}` that is a URI"));
            }
        }
        match self.method {
            "workspace/didChangeWatchedFiles" => {
                let is_valid_kind = |kind: &Value| kind.as_u64().is_some_and(|kind| (1..=3).contains(&kind));
                if !fields.get("type").is_some_and(is_valid_kind) {
                    fields.insert("type".to_owned(), FALLBACK_CHANGE_KIND.into());
                }
            }
            "workspace/didChangeWorkspaceFolders" => add_missing_folder_name(fields),
            _ => {}
        }
        None
    }
}

/// Adds the name of a workspace folder if it is missing. The server then uses the name of its directory.
pub(super) fn add_missing_folder_name(fields: &mut Map<String, Value>) {
    if !fields.get("name").is_some_and(Value::is_string) {
        fields.insert("name".to_owned(), "".into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invalid_item_is_removed_and_the_others_stay() {
        let mut params = json!({ "changes": [
            { "uri": "file:///a", "type": 1 },
            { "uri": 7, "type": 1 },
            { "uri": "nonsense", "type": 1 },
            7,
            { "uri": "file:///b" },
            { "uri": "file:///c", "type": "deleted" },
        ] });
        let problems = repair_lists("workspace/didChangeWatchedFiles", &mut params);
        let expected = [
            "`params.changes[1]` has no `uri` that is a URI",
            "`params.changes[2]` has no `uri` that is a URI",
            "`params.changes[3]` is not an object",
        ];
        assert_eq!(problems, expected);
        let expected_params = json!({ "changes": [
            { "uri": "file:///a", "type": 1 },
            { "uri": "file:///b", "type": 2 },
            { "uri": "file:///c", "type": 2 },
        ] });
        assert_eq!(params, expected_params);
    }

    #[test]
    fn a_missing_list_is_added_as_an_empty_list() {
        let folder = json!({ "uri": "file:///a" });
        for (params, problems) in [
            (json!({ "event": { "added": [], "removed": [] } }), &[][..]),
            (json!({ "event": { "added": [folder] } }), &[]),
            (json!({}), &[]),
            (json!({ "event": { "added": {}, "removed": null } }), &["`params.event.added` is not a list"]),
            (json!(null), &["`params` is not an object"]),
            (json!([]), &["`params` is not an object"]),
        ] {
            let mut repaired = params.clone();
            assert_eq!(
                repair_lists("workspace/didChangeWorkspaceFolders", &mut repaired),
                problems,
                "{params}"
            );
            let event = &repaired["event"];
            assert!(event["added"].is_array() && event["removed"].is_array(), "{params}: {repaired}");
        }
        let mut params = json!({ "event": { "added": [folder] } });
        repair_lists("workspace/didChangeWorkspaceFolders", &mut params);
        assert_eq!(params["event"]["added"][0]["name"], "");
    }

    #[test]
    fn other_messages_are_unchanged() {
        let mut params = json!({ "changes": 7 });
        assert_eq!(repair_lists("textDocument/didChange", &mut params), [""; 0]);
        assert_eq!(params, json!({ "changes": 7 }));
    }
}
