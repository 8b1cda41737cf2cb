//! Generates `docs/settings.md`, with the type, default and meaning of every setting, from the schema of the settings.

use std::fmt::Write as _;

use serde_json::Value;
use strata_prompt::settings::WORKSPACE_KEYWORD;

use super::resolved;
use super::typescript::of;

/// Maximum length of a default in the table. Longer defaults are shown below the table.
const LONGEST_DEFAULT: usize = 40;

/// Returns the text of the page.
pub(crate) fn page(settings: &Value) -> String {
    let mut out = String::from(
        "# Settings\n\n\
         Every setting with its type, default and meaning. [commands.md](commands.md#settings) explains where settings come from.\n\
         The column *workspace* shows whether `.strata.toml` or `.strata.yaml` in a workspace can set it, and to which values. Only you can set the others.\n\
         A JSON Schema is in [schema/settings.json](schema/settings.json), and `strata schema --settings` prints it.\n\n",
    );
    let _ = writeln!(out, "This page is generated from the Rust types by `{}`.\n", super::RENEW);
    let mut groups = Vec::new();
    let mut top = Vec::new();
    for (name, schema) in settings["properties"].as_object().unwrap() {
        let meant = resolved(settings, schema);
        match meant["properties"].as_object() {
            Some(fields) => {
                let row = |(field, own): (&String, &Value)| {
                    let default = schema["default"].get(field).unwrap_or(&own["default"]).clone();
                    Row::new(settings, format!("{name}.{field}"), own, default)
                };
                groups.push((name, &meant["description"], fields.iter().map(row).collect::<Vec<_>>()));
            }
            None => top.push(Row::new(settings, name.clone(), schema, schema["default"].clone())),
        }
    }
    table(&mut out, &top);
    for (name, description, rows) in groups {
        let _ = write!(out, "## {name}\n\n{}\n\n", description.as_str().unwrap_or_default());
        table(&mut out, &rows);
    }
    profiles(&mut out, settings);
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

struct Row {
    name: String,
    kind: String,
    default: Value,
    workspace: String,
    text: String,
}

impl Row {
    fn new(settings: &Value, name: String, schema: &Value, default: Value) -> Self {
        let text = schema["description"].as_str().unwrap_or_default().to_owned();
        let workspace = workspace(&schema[WORKSPACE_KEYWORD]);
        Self { name, kind: kind(settings, schema), default, workspace, text }
    }
}

/// Describes whether a workspace file can set a setting, and to which values.
fn workspace(grant: &Value) -> String {
    match grant {
        Value::Bool(true) => "yes".to_owned(),
        Value::Array(values) => {
            let values = values.iter().filter_map(Value::as_str).map(|value| format!("`{value}`"));
            values.collect::<Vec<_>>().join(", ")
        }
        _ => String::new(),
    }
}

/// Returns the type of a setting, or its values if it has only certain ones.
fn kind(settings: &Value, schema: &Value) -> String {
    let choices = |schema: &Value| {
        let values = values(settings, schema);
        values.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(", ")
    };
    match (choices(schema), choices(&resolved(settings, schema)["items"])) {
        (values, _) if !values.is_empty() => values,
        (_, values) if !values.is_empty() => format!("list of {values}"),
        _ => of(schema, 0).replace(" | null", "").replace('|', "\\|"),
    }
}

fn values(settings: &Value, schema: &Value) -> Vec<String> {
    let schema = resolved(settings, schema);
    if let Some(value) = schema.get("const") {
        return vec![value.to_string()];
    }
    if let Some(values) = schema["enum"].as_array() {
        return values.iter().map(Value::to_string).collect();
    }
    let choices = ["oneOf", "anyOf"].iter().filter_map(|key| schema[*key].as_array()).flatten();
    choices.flat_map(|choice| values(settings, choice)).collect()
}

fn table(out: &mut String, rows: &[Row]) {
    out.push_str("| setting | type | default | workspace | meaning |\n|---|---|---|---|---|\n");
    let mut long = Vec::new();
    for Row { name, kind, default, workspace, text } in rows {
        let default = match default {
            Value::Null => String::new(),
            default if default.to_string().len() > LONGEST_DEFAULT => {
                long.push((name, default));
                "below".to_owned()
            }
            default => format!("`{default}`"),
        };
        let _ =
            writeln!(out, "| `{name}` | {kind} | {default} | {workspace} | {} |", text.replace('|', "\\|"));
    }
    out.push('\n');
    for (name, default) in long {
        let _ = write!(out, "Default of `{name}`:\n\n```json\n{default}\n```\n\n");
    }
}

/// Writes the table of the fields of a custom profile.
fn profiles(out: &mut String, settings: &Value) {
    let options = &settings["$defs"]["ProfileOptions"];
    let _ = write!(
        out,
        "## Profiles\n\n{} Each is an entry of `compaction.profiles`, keyed by its name. Missing fields come from the profile named by `like`\n\
         ([compaction.md](compaction.md)).\n\n",
        options["description"].as_str().unwrap_or_default()
    );
    let row = |(name, schema): (&String, &Value)| Row::new(settings, name.clone(), schema, Value::Null);
    let rows: Vec<Row> = options["properties"].as_object().unwrap().iter().map(row).collect();
    out.push_str("| field | type | workspace | meaning |\n|---|---|---|---|\n");
    for Row { name, kind, workspace, text, .. } in rows {
        let _ = writeln!(out, "| `{name}` | {kind} | {workspace} | {} |", text.replace('|', "\\|"));
    }
}
