//! Reads the parameters of `initialize` field by field, and keeps the fields that the server uses. What cannot be read
//! counts as absent, so that an unknown or invalid capability never prevents the server from starting.

use serde_json::{Map, Value, json};
use strata_host::config::set_at_path;
use strata_host::uri;
use tower_lsp::ls_types::Uri;

use super::lists::add_missing_folder_name;
use crate::invalid_params::invalid_params;

/// Capabilities that are true or false.
const BOOLEAN_CAPABILITIES: [&str; 13] = [
    "/textDocument/codeAction/dynamicRegistration",
    "/textDocument/codeLens/dynamicRegistration",
    "/textDocument/definition/dynamicRegistration",
    "/textDocument/documentSymbol/dynamicRegistration",
    "/textDocument/documentSymbol/hierarchicalDocumentSymbolSupport",
    "/textDocument/hover/dynamicRegistration",
    "/textDocument/references/dynamicRegistration",
    "/window/showDocument/support",
    "/window/workDoneProgress",
    "/workspace/codeLens/refreshSupport",
    "/workspace/configuration",
    "/workspace/didChangeWatchedFiles/dynamicRegistration",
    "/workspace/symbol/dynamicRegistration",
];

/// A capability that a client has if it is an object. Its kinds of code actions do not matter.
const LITERAL_ACTIONS: &str = "/textDocument/codeAction/codeActionLiteralSupport";

const POSITION_ENCODINGS: &str = "/general/positionEncodings";

/// Reduces the parameters of `initialize` to the fields that the server uses. Returns a description of each workspace
/// folder that cannot be used. Leaves parameters that are not an object to the library, which rejects them.
pub(super) fn keep_used_initialize_fields(params: &mut Value) -> Vec<String> {
    if params.is_null() {
        *params = json!({});
    }
    let Value::Object(fields) = params else { return Vec::new() };
    let mut problems = Vec::new();
    let mut readable = Map::new();
    let process = fields.get("processId").and_then(Value::as_u64).filter(|id| u32::try_from(*id).is_ok());
    readable.insert("processId".to_owned(), json!(process));
    let capabilities = fields.get("capabilities").map_or_else(|| json!({}), readable_capabilities);
    readable.insert("capabilities".to_owned(), capabilities);
    if let Some(name) = fields.get("clientInfo").and_then(|info| info.get("name")?.as_str()) {
        readable.insert("clientInfo".to_owned(), json!({ "name": name }));
    }
    if let Some(options) = fields.shift_remove("initializationOptions") {
        readable.insert("initializationOptions".to_owned(), options);
    }
    if let Some(folders) =
        fields.shift_remove("workspaceFolders").and_then(|list| usable_folders(list, &mut problems))
    {
        readable.insert("workspaceFolders".to_owned(), folders);
    }
    let root =
        root_uri(fields, "rootUri", &mut problems).or_else(|| root_uri(fields, "rootPath", &mut problems));
    readable.insert("rootUri".to_owned(), json!(root));
    *fields = readable;
    problems
}

/// Returns why `initialize` with these parameters is refused; `None` if it is accepted.
pub fn refusal_reason(mut params: Value) -> Option<String> {
    keep_used_initialize_fields(&mut params);
    invalid_params("initialize", Some(&params))
}

fn readable_capabilities(capabilities: &Value) -> Value {
    let mut readable = json!({});
    for pointer in BOOLEAN_CAPABILITIES {
        if let Some(flag @ Value::Bool(_)) = capabilities.pointer(pointer) {
            insert_at_pointer(&mut readable, pointer, flag.clone());
        }
    }
    if capabilities.pointer(LITERAL_ACTIONS).is_some_and(Value::is_object) {
        insert_at_pointer(&mut readable, LITERAL_ACTIONS, json!({ "codeActionKind": { "valueSet": [] } }));
    }
    if let Some(Value::Array(encodings)) = capabilities.pointer(POSITION_ENCODINGS) {
        let encodings: Vec<&Value> = encodings.iter().filter(|encoding| encoding.is_string()).collect();
        insert_at_pointer(&mut readable, POSITION_ENCODINGS, json!(encodings));
    }
    readable
}

/// Inserts a value at a JSON pointer, with the objects around it.
fn insert_at_pointer(root: &mut Value, pointer: &str, value: Value) {
    set_at_path(root, pointer.split('/').skip(1), value);
}

/// Returns the usable folders of a list. `None` if it names none, although it is not empty, so that the root counts.
fn usable_folders(list: Value, problems: &mut Vec<String>) -> Option<Value> {
    let items = match list {
        Value::Array(items) if items.is_empty() => return Some(json!([])),
        Value::Array(items) => items,
        Value::Null => return None,
        _ => {
            problems.push("`workspaceFolders` is not a list".to_owned());
            return None;
        }
    };
    let mut usable = Vec::new();
    for (index, mut item) in items.into_iter().enumerate() {
        let path = format!("workspaceFolders[{index}]");
        let Value::Object(fields) = &mut item else {
            problems.push(format!("`{path}` is not an object"));
            continue;
        };
        let uri = fields.get("uri").unwrap_or(&Value::Null);
        match folder_uri(uri, &format!("{path}.uri")) {
            Ok(uri_text) => {
                fields.insert("uri".to_owned(), uri_text.into());
                add_missing_folder_name(fields);
                usable.push(item);
            }
            Err(problem) => problems.push(problem),
        }
    }
    (!usable.is_empty()).then(|| usable.into())
}

/// Returns the URI in a field of the parameters, if it names a folder.
fn root_uri(fields: &Map<String, Value>, name: &str, problems: &mut Vec<String>) -> Option<String> {
    let uri = fields.get(name).filter(|uri| !uri.is_null() && *uri != "")?;
    match folder_uri(uri, name) {
        Ok(uri_text) => Some(uri_text),
        Err(problem) => {
            problems.push(problem);
            None
        }
    }
}

/// Returns the normalized URI of a folder, or why the value of `field` is not a directory on this machine.
fn folder_uri(value: &Value, field: &str) -> Result<String, String> {
    let Some(text) = value.as_str() else { return Err(format!("`{field}` is not a string")) };
    let normal = uri::normalize_uri(text);
    match uri::to_path(&normal) {
        Ok(_) if normal.parse::<Uri>().is_ok() => Ok(normal),
        Ok(_) => Err(format!("`{field}` is not a URI")),
        Err(error) => Err(format!("`{field}` is not a directory on this machine: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use tower_lsp::ls_types::InitializeParams;

    use super::*;
    use crate::client::{ClientInfo, InitializationOptions};

    fn reduced(mut params: Value) -> (Value, Vec<String>) {
        let problems = keep_used_initialize_fields(&mut params);
        (params, problems)
    }

    fn client(params: &Value) -> ClientInfo {
        let params: InitializeParams = serde_json::from_value(params.clone()).unwrap();
        ClientInfo::new(&params.capabilities, &InitializationOptions::default())
    }

    /// The capabilities of a client that has all that the server uses.
    fn full_capabilities() -> Value {
        let mut capabilities = json!({ "general": { "positionEncodings": ["utf-8"] } });
        BOOLEAN_CAPABILITIES
            .iter()
            .for_each(|pointer| insert_at_pointer(&mut capabilities, pointer, json!(true)));
        insert_at_pointer(
            &mut capabilities,
            LITERAL_ACTIONS,
            json!({ "codeActionKind": { "valueSet": ["source"] } }),
        );
        capabilities
    }

    #[test]
    fn every_capability_that_the_server_uses_is_kept_and_has_an_effect() {
        let params = json!({ "processId": 7, "rootUri": null, "capabilities": full_capabilities() });
        let (reduced_params, problems) = reduced(params.clone());
        assert_eq!((client(&reduced_params), problems), (client(&params), vec![]));
        for pointer in BOOLEAN_CAPABILITIES.iter().chain(&[LITERAL_ACTIONS, POSITION_ENCODINGS]) {
            for broken in [json!("yes"), json!(7), json!([7]), json!(null)] {
                let mut params = params.clone();
                *params["capabilities"].pointer_mut(pointer).unwrap() = broken.clone();
                let (reduced_params, _) = reduced(params);
                assert_ne!(
                    client(&reduced_params),
                    client(&json!({ "capabilities": full_capabilities() })),
                    "{pointer} {broken}"
                );
            }
        }
    }

    #[test]
    fn unreadable_capabilities_count_as_absent() {
        for capabilities in [
            json!({ "workspace": [] }),
            json!({ "textDocument": { "semanticTokens": {} } }),
            json!({ "textDocument": { "publishDiagnostics": { "tagSupport": {} } } }),
            json!({ "textDocument": { "foldingRange": { "foldingRangeKind": { "valueSet": [7] } } } }),
            json!({ "textDocument": { "codeAction": { "codeActionLiteralSupport": true } } }),
            json!([]),
            json!("all"),
            json!(null),
        ] {
            let (reduced_params, problems) = reduced(json!({ "capabilities": capabilities }));
            assert_eq!(
                (client(&reduced_params), problems),
                (ClientInfo::default(), vec![]),
                "{capabilities}"
            );
        }
        assert_eq!(client(&reduced(json!(null)).0), ClientInfo::default());
        for (process, expected) in [(json!(7), json!(7)), (json!("7"), json!(null)), (json!(-1), json!(null))]
        {
            assert_eq!(reduced(json!({ "processId": process })).0["processId"], expected);
        }
    }

    #[cfg(unix)]
    #[test]
    fn an_unusable_folder_is_reported_and_the_others_are_used() {
        let (reduced_params, problems) = reduced(json!({
            "rootUri": "file:///r/[app]",
            "workspaceFolders": [
                { "uri": "file:///w/[app]", "name": "app" },
                { "uri": "vscode-vfs://github/a", "name": "a" },
                { "uri": 7 },
                "file:///b",
                { "uri": "FILE:///c" },
            ],
        }));
        let expected = [
            "`workspaceFolders[1].uri` is not a directory on this machine: only `file:` URIs are supported, not `vscode-vfs:`",
            "`workspaceFolders[2].uri` is not a string",
            "`workspaceFolders[3]` is not an object",
        ];
        assert_eq!(problems, expected);
        let folders =
            json!([{ "uri": "file:///w/%5Bapp%5D", "name": "app" }, { "uri": "file:///c", "name": "" }]);
        assert_eq!(
            (&reduced_params["workspaceFolders"], &reduced_params["rootUri"]),
            (&folders, &json!("file:///r/%5Bapp%5D"))
        );
    }

    #[cfg(unix)]
    #[test]
    fn the_root_is_used_if_no_folder_is_usable() {
        for (params, expected) in [
            (json!({ "rootUri": "file:///r", "workspaceFolders": [{ "uri": 7 }] }), Some("file:///r")),
            (json!({ "rootUri": "file:///r", "workspaceFolders": {} }), Some("file:///r")),
            (json!({ "rootUri": 7, "rootPath": "/r [1]" }), Some("file:///r%20%5B1%5D")),
            (json!({ "rootUri": null, "rootPath": "/r" }), Some("file:///r")),
            (json!({ "rootUri": "", "rootPath": null }), None),
            (json!({}), None),
        ] {
            let (reduced_params, _) = reduced(params.clone());
            assert_eq!(reduced_params["rootUri"].as_str(), expected, "{params}");
            assert!(reduced_params.get("workspaceFolders").is_none(), "{params}");
        }
        assert_eq!(reduced(json!({ "workspaceFolders": [] })).0["workspaceFolders"], json!([]));
    }
}
