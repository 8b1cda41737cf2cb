//! Describes what is wrong with the parameters of a message, by the name of the field and its expected type. Checks each
//! message separately and changes none. Descriptions of problems appear in prompts and in the log, so they quote no text
//! from the message.

use std::iter;

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;
use serde_path_to_error::{Path, Segment};
use tower_lsp::ls_types::{
    CodeActionParams, CodeLensParams, DidChangeNotebookDocumentParams, DidChangeTextDocumentParams,
    DidCloseNotebookDocumentParams, DidCloseTextDocumentParams, DidOpenNotebookDocumentParams,
    DidOpenTextDocumentParams, DidSaveNotebookDocumentParams, DidSaveTextDocumentParams,
    DocumentSymbolParams, GotoDefinitionParams, HoverParams, InitializeParams, NumberOrString,
    ReferenceParams, TextDocumentPositionParams, WorkspaceSymbolParams,
};

const U32_DESCRIPTION: &str = "a whole number from 0 to 4294967295";

/// Fields of messages from the client, with their expected types. A description of a problem names only these fields,
/// because other names are chosen by the client.
const EXPECTED_FIELD_TYPES: &[(&str, &str)] = &[
    ("arguments", "a list"),
    ("character", U32_DESCRIPTION),
    ("cells", "a list"),
    ("change", "an object"),
    ("command", "a string"),
    ("contentChanges", "a list"),
    ("context", "an object"),
    ("diagnostics", "a list"),
    ("end", "an object"),
    ("includeDeclaration", "true or false"),
    ("languageId", "a string"),
    ("line", U32_DESCRIPTION),
    ("message", "a string"),
    ("notebookDocument", "an object"),
    ("only", "a list"),
    ("position", "an object"),
    ("query", "a string"),
    ("range", "an object"),
    ("rangeLength", U32_DESCRIPTION),
    ("start", "an object"),
    ("text", "a string"),
    ("textDocument", "an object"),
    ("uri", "a URI"),
    ("version", "a 32-bit integer"),
    ("workDoneToken", "a number or a string"),
];

/// The parameters of `workspace/executeCommand`. The library's type would copy the arguments.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ExecuteCommandParams {
    #[serde(rename = "command")]
    _command: String,
    #[serde(rename = "arguments", default)]
    _arguments: Vec<IgnoredAny>,
    #[serde(rename = "workDoneToken", default)]
    _work_done_token: Option<NumberOrString>,
}

/// Describes what is wrong with the parameters of a message. Returns `None` if they are valid, and for methods that the
/// server does not serve.
pub(crate) fn invalid_params(method: &str, params: Option<&Value>) -> Option<String> {
    let params = params.unwrap_or(&Value::Null);
    match method {
        "initialize" => params_problem::<InitializeParams>(params),
        "textDocument/didOpen" => params_problem::<DidOpenTextDocumentParams>(params),
        "textDocument/didChange" => params_problem::<DidChangeTextDocumentParams>(params),
        "textDocument/didSave" => params_problem::<DidSaveTextDocumentParams>(params),
        "textDocument/didClose" => params_problem::<DidCloseTextDocumentParams>(params),
        "notebookDocument/didOpen" => params_problem::<DidOpenNotebookDocumentParams>(params),
        "notebookDocument/didChange" => params_problem::<DidChangeNotebookDocumentParams>(params),
        "notebookDocument/didSave" => params_problem::<DidSaveNotebookDocumentParams>(params),
        "notebookDocument/didClose" => params_problem::<DidCloseNotebookDocumentParams>(params),
        "textDocument/documentSymbol" => params_problem::<DocumentSymbolParams>(params),
        "textDocument/hover" => position_problem::<HoverParams>(params),
        "textDocument/definition" => position_problem::<GotoDefinitionParams>(params),
        "textDocument/references" => position_problem::<ReferenceParams>(params),
        "textDocument/codeAction" => params_problem::<CodeActionParams>(params),
        "textDocument/codeLens" => params_problem::<CodeLensParams>(params),
        "workspace/symbol" => params_problem::<WorkspaceSymbolParams>(params),
        "workspace/executeCommand" => params_problem::<ExecuteCommandParams>(params),
        _ => None,
    }
}

/// Describes what is wrong with parameters that contain a position in a document. Errors in flattened fields have no
/// path, so the position is checked alone first.
fn position_problem<P: DeserializeOwned>(params: &Value) -> Option<String> {
    params_problem::<TextDocumentPositionParams>(params).or_else(|| params_problem::<P>(params))
}

fn params_problem<P: DeserializeOwned>(params: &Value) -> Option<String> {
    // Locating an error takes longer, and most messages have none.
    if P::deserialize(params).is_ok() {
        return None;
    }
    let error = serde_path_to_error::deserialize::<_, P>(params).err()?;
    let path_text = format_path(error.path());
    // The error message quotes the invalid value. Extract only the name of a missing field, and only if the name is
    // known.
    let message = error.inner().to_string();
    let missing = message.strip_prefix("missing field `").and_then(|quoted| quoted.strip_suffix('`'));
    let missing = missing.and_then(expected_field_type);
    Some(match (missing, expected_json_type(error.path())) {
        (Some((name, _)), _) => format!("`{path_text}` has no `{name}`"),
        (None, Some(expected_json_type)) => format!("`{path_text}` is not {expected_json_type}"),
        (None, None) => format!("`{path_text}` has an unexpected form"),
    })
}

/// Formats the path of a value, for example `params.contentChanges[0].text`.
fn format_path(path: &Path) -> String {
    let parts = path.iter().map(|segment| match segment {
        Segment::Seq { index } => format!("[{index}]"),
        Segment::Map { key } => format!(".{}", expected_field_type(key).map_or("?", |(name, _)| name)),
        Segment::Enum { .. } | Segment::Unknown => ".?".to_owned(),
    });
    iter::once("params".to_owned()).chain(parts).collect()
}

/// Returns the expected type of the value at a path, such as `a string`. Returns `None` if no type is known for the
/// path, for example because the client sent a list where the protocol has an object.
fn expected_json_type(path: &Path) -> Option<&'static str> {
    let mut outwards = path.iter().rev();
    match (outwards.next(), outwards.next()) {
        (None, _) => Some("an object"),
        (Some(Segment::Map { key }), _) => expected_field_type(key).map(|(_, kind)| kind),
        (Some(Segment::Seq { .. }), Some(Segment::Map { key }))
            if key == "contentChanges" || key == "diagnostics" =>
        {
            Some("an object")
        }
        _ => None,
    }
}

fn expected_field_type(name: &str) -> Option<(&'static str, &'static str)> {
    EXPECTED_FIELD_TYPES.iter().find(|(known, _)| *known == name).copied()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_problem_names_the_invalid_field() {
        let document = json!({ "uri": "file:///a.rs" });
        let position = json!({ "line": 0, "character": 0 });
        for (method, params, expected) in [
            ("initialize", json!([1]), "`params` is not an object"),
            ("textDocument/hover", json!({ "position": position }), "`params` has no `textDocument`"),
            (
                "textDocument/definition",
                json!({ "textDocument": document, "position": { "line": 1, "character": -1 } }),
                "`params.position.character` is not a whole number from 0 to 4294967295",
            ),
            (
                "textDocument/references",
                json!({ "textDocument": document, "position": position, "context": {} }),
                "`params.context` has no `includeDeclaration`",
            ),
            ("workspace/symbol", json!({ "query": 7 }), "`params.query` is not a string"),
            ("workspace/executeCommand", json!({ "command": 7 }), "`params.command` is not a string"),
            (
                "workspace/executeCommand",
                json!({ "command": "c", "arguments": {} }),
                "`params.arguments` is not a list",
            ),
        ] {
            assert_eq!(invalid_params(method, Some(&params)).as_deref(), Some(expected), "{method} {params}");
        }
        let command = json!({ "command": "c", "arguments": [{ "a": [1] }], "workDoneToken": 3 });
        assert_eq!(invalid_params("workspace/executeCommand", Some(&command)), None);
        assert_eq!(invalid_params("of/tomorrow", None), None);
    }
}
