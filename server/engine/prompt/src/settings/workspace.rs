//! Decides which settings a workspace file may set. A cloned repository can contain such a file, so its settings can
//! neither send data anywhere nor remove a protection, even in a trusted workspace. A setting opts in with the schema
//! keyword `x-workspace`. Only the user can set other settings.

use std::sync::LazyLock;

use schemars::schema_for;
use serde_json::Value;

use super::Settings;

/// Schema keyword of settings that workspace files may set. `true` allows any value. A list names the allowed values
/// or, for a table, the allowed keys.
pub const WORKSPACE_KEYWORD: &str = "x-workspace";

/// Why a workspace file may not set a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum WorkspaceSettingError {
    /// The setting does not exist.
    #[error("no such setting")]
    Unknown,
    /// Only the user may set this setting.
    #[error(
        "a workspace file can only set sizes, budgets, layout and the compaction profile; set it in your own strata.toml, in the \
         environment, in your editor's user settings or with --set"
    )]
    UserOnly,
    /// Workspace files may set this setting, but not to this value.
    #[error("a workspace file can only name the built-in compaction profiles")]
    OtherValue,
}

static SCHEMA: LazyLock<Value> = LazyLock::new(|| schema_for!(Settings).to_value());

/// Checks whether a workspace file may set the setting at `path` to `value`.
///
/// # Errors
/// Returns [`WorkspaceSettingError`] if it may not. The path of a group such as `compaction` gives
/// [`WorkspaceSettingError::UserOnly`].
pub fn check_workspace_setting<S: AsRef<str>>(
    path: &[S],
    value: &Value,
) -> Result<(), WorkspaceSettingError> {
    let schema = &*SCHEMA;
    let (mut node, mut grant) = (schema, &Value::Null);
    for name in path.iter().map(AsRef::as_ref) {
        let group = resolve_ref(schema, node);
        if let Some(setting) = group["properties"].get(name) {
            (node, grant) = (setting, &setting[WORKSPACE_KEYWORD]);
        } else if group["additionalProperties"].is_object() {
            match grant {
                Value::Array(names) if names.iter().all(|known| known != name) => {
                    return Err(WorkspaceSettingError::OtherValue);
                }
                Value::Array(_) => (node, grant) = (&group["additionalProperties"], &Value::Null),
                _ => return Err(WorkspaceSettingError::UserOnly),
            }
        } else {
            return Err(WorkspaceSettingError::Unknown);
        }
    }
    match grant {
        Value::Bool(true) => Ok(()),
        Value::Array(values) if values.contains(value) => Ok(()),
        Value::Array(_) => Err(WorkspaceSettingError::OtherValue),
        _ => Err(WorkspaceSettingError::UserOnly),
    }
}

/// Resolves the `$ref` of a schema node. Returns a node without one unchanged.
fn resolve_ref<'s>(schema: &'s Value, node: &'s Value) -> &'s Value {
    let pointer = node["$ref"].as_str().and_then(|reference| reference.strip_prefix('#'));
    pointer.and_then(|pointer| schema.pointer(pointer)).unwrap_or(node)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(key: &str, value: Value, expected: Result<(), WorkspaceSettingError>) {
        let path: Vec<&str> = key.split('.').collect();
        assert_eq!(check_workspace_setting(&path, &value), expected, "{key} = {value}");
    }

    #[test]
    fn sizes_budgets_layout_and_lists_are_settable() {
        for (key, value) in [
            ("symbols.map_budget", json!(8_000)),
            ("cache.policy", json!("flat")),
            ("context_frame.inject", json!(true)),
            ("tool_output.max_lines", json!(100)),
            ("context.auto_budget", json!(4_000)),
            ("compaction.profile", json!("checkpoint")),
            ("compaction.profiles.topic.keep_tokens", json!(1_000)),
        ] {
            check(key, value, Ok(()));
        }
    }

    #[test]
    fn settings_that_send_data_or_protect_are_user_only() {
        for (key, value) in [
            ("compaction.base_url", json!("http://127.0.0.1:1")),
            ("provider.base_url", json!("http://127.0.0.1:1")),
            ("provider.name", json!("openai")),
            ("provider.key_command", json!(["cat", "/etc/passwd"])),
            ("compaction.summariser", json!("http")),
            ("compaction.auto", json!(true)),
            ("compaction", json!({})),
            ("redaction.enabled", json!(false)),
            ("lsp.features", json!(["hover"])),
            ("tokenizers.llama", json!("/etc/passwd")),
            ("server.ignore", json!(["src"])),
            ("prompt.rules", json!(["../secret"])),
            ("files.max_bytes", json!(1_u64 << 40)),
            ("model", json!("gpt-4o")),
            ("compaction.profiles.topic.like", json!("handoff")),
        ] {
            check(key, value, Err(WorkspaceSettingError::UserOnly));
        }
    }

    #[test]
    fn only_built_in_profiles_can_be_named() {
        check("compaction.profile", json!("mine"), Err(WorkspaceSettingError::OtherValue));
        check("compaction.profile", json!(["topic"]), Err(WorkspaceSettingError::OtherValue));
        check("compaction.profiles.mine.keep_tokens", json!(1), Err(WorkspaceSettingError::OtherValue));
    }

    #[test]
    fn unknown_settings_are_reported_as_unknown() {
        check("symbol.map_budget", json!(1), Err(WorkspaceSettingError::Unknown));
        check("symbols.map_budget.x", json!(1), Err(WorkspaceSettingError::Unknown));
    }
}
