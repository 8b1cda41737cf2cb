//! Corrects requests that clients send in good faith although the protocol forbids them, where their meaning is clear.
//! Does not read or answer messages.

use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, Implementation, InitializeRequestParams,
    PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams,
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use strata_app::json::from_str;

/// Corrects the parameters of a request where their meaning is clear, and checks them.
///
/// # Errors
/// Returns what is wrong with the parameters. The library would otherwise report the method as unknown.
pub(super) fn repair_params(request: &mut Map<String, Value>) -> Result<(), String> {
    let method = request.get("method").and_then(Value::as_str).unwrap_or_default().to_owned();
    let params = request.entry("params").or_insert_with(|| json!({}));
    match method.as_str() {
        "initialize" => {
            repair_initialize(params);
            check_params::<InitializeRequestParams>(params)
        }
        "tools/call" => {
            repair_arguments(params);
            check_params::<CallToolRequestParams>(params)
        }
        "resources/read" => check_params::<ReadResourceRequestParams>(params),
        "tools/list" | "resources/list" | "resources/templates/list" => {
            check_params::<PaginatedRequestParams>(params)
        }
        _ => Ok(()),
    }
}

fn check_params<P: DeserializeOwned>(params: &Value) -> Result<(), String> {
    serde_path_to_error::deserialize::<_, P>(params).map(drop).map_err(|error| {
        match error.path().to_string() {
            path if path == "." => format!("`params`: {}", error.inner()),
            path => format!("`params.{path}`: {}", error.inner()),
        }
    })
}

/// Completes what a client says about itself. Nothing depends on it but the version of the protocol.
fn repair_initialize(params: &mut Value) {
    let Value::Object(fields) = params else { return };
    if !fields.get("protocolVersion").is_some_and(Value::is_string) {
        fields.insert("protocolVersion".to_owned(), json!(ProtocolVersion::V_2024_11_05));
    }
    if !is_valid::<ClientCapabilities>(fields.get("capabilities")) {
        fields.insert("capabilities".to_owned(), json!({}));
    }
    if !is_valid::<Implementation>(fields.get("clientInfo")) {
        let text = |field: &str| {
            let value = fields.get("clientInfo").and_then(|info| info.get(field)?.as_str());
            value.unwrap_or("unknown").to_owned()
        };
        let info = json!({ "name": text("name"), "version": text("version") });
        fields.insert("clientInfo".to_owned(), info);
    }
}

fn is_valid<T: DeserializeOwned>(value: Option<&Value>) -> bool {
    value.is_some_and(|value| T::deserialize(value).is_ok())
}

/// Accepts the arguments of a tool as JSON in a string, as some models write them, and an empty string or `null` for none.
fn repair_arguments(params: &mut Value) {
    let Some(arguments) = params.get_mut("arguments") else { return };
    if let Value::String(text) = arguments {
        *arguments = match text.trim() {
            "" => Value::Null,
            text => match from_str(text) {
                Ok(Value::Object(fields)) => fields.into(),
                _ => return,
            },
        };
    }
}
