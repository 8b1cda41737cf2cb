//! Generates the settings of Strata for VS Code: `contributes.configuration` in an extension's `package.json`.
//! Keeps the extension's own settings.

use serde_json::{Map, Value, json};

use strata_prompt::settings::WORKSPACE_KEYWORD;

use super::resolved;

/// Settings that are empty lists by default in the extension, but not in the server. The extension's menus do what code
/// actions do in other editors.
const EMPTY_BY_DEFAULT: &[&str] = &["strata.lsp.features"];

/// Puts the settings into an extension's manifest. Keeps blocks that contain other settings, at the front.
pub(crate) fn put(manifest: &mut Value, settings: &Value) {
    let made = blocks(settings);
    let is_made = |name: &String| made.iter().any(|block| block["properties"].get(name.as_str()).is_some());
    let groups: Vec<String> = settings["properties"].as_object().unwrap().keys().cloned().collect();
    // Drop settings that were renamed or removed.
    let was_made = |name: &str| {
        let below = name.strip_prefix("strata.").and_then(|rest| rest.split_once('.'));
        below.is_some_and(|(group, _)| groups.iter().any(|known| known == group))
    };
    let before = match manifest["contributes"]["configuration"].take() {
        Value::Null => Vec::new(),
        Value::Array(blocks) => blocks,
        block => vec![block],
    };
    let mut after = Vec::new();
    for mut block in before {
        if let Value::Object(properties) = &mut block["properties"] {
            properties.retain(|name, _| !is_made(name) && !was_made(name));
            if !properties.is_empty() {
                after.push(block);
            }
        }
    }
    after.extend(made);
    manifest["contributes"]["configuration"] = after.into();
}

/// Returns a block for each group of settings. The first block contains the settings without a group.
fn blocks(settings: &Value) -> Vec<Value> {
    let mut top = Map::new();
    let mut blocks = Vec::new();
    for (name, schema) in settings["properties"].as_object().unwrap() {
        let mut properties = Map::new();
        collect(settings, &format!("strata.{name}"), schema, &mut properties);
        if properties.len() == 1 && properties.contains_key(&format!("strata.{name}")) {
            top.extend(properties);
        } else {
            let title = title(name);
            blocks.push(json!({ "title": title, "properties": properties }));
        }
    }
    blocks.insert(0, json!({ "title": "General", "properties": top }));
    blocks
}

/// Converts `tool_output` to `Tool output`.
fn title(name: &str) -> String {
    let mut words = name.replace('_', " ");
    if let Some(first) = words.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    words
}

fn collect(settings: &Value, name: &str, schema: &Value, found: &mut Map<String, Value>) {
    let meant = resolved(settings, schema);
    let default = schema.get("default").or_else(|| meant.get("default"));
    if let Some(fields) = meant["properties"].as_object() {
        for (field, schema) in fields {
            let mut schema = schema.clone();
            // The default of a group takes precedence over the defaults of its fields.
            if let Some(default) = default.and_then(|default| default.get(field)) {
                schema["default"] = default.clone();
            }
            collect(settings, &format!("{name}.{field}"), &schema, found);
        }
        return;
    }
    let mut setting = Map::new();
    let description = schema.get("description").or_else(|| meant.get("description")).cloned();
    let types = kinds(settings, schema);
    setting.insert(
        "type".to_owned(),
        if let [only] = types.as_slice() { only.clone().into() } else { types.into() },
    );
    let own = EMPTY_BY_DEFAULT.contains(&name).then(|| json!([]));
    setting.insert("default".to_owned(), own.or_else(|| default.cloned()).unwrap_or_default());
    setting.insert("markdownDescription".to_owned(), description.unwrap_or_default());
    let (values, texts): (Vec<Value>, Vec<Value>) = choices(settings, schema).into_iter().unzip();
    if !values.is_empty() {
        setting.insert("enum".to_owned(), values.into());
        setting.insert("markdownEnumDescriptions".to_owned(), texts.into());
    }
    // `.vscode/settings.json` is part of the workspace, so it must not set more than `.strata.toml` can. VS Code
    // ignores settings of scope `machine` there.
    if schema[WORKSPACE_KEYWORD] != true {
        setting.insert("scope".to_owned(), "machine".into());
    }
    for key in ["minimum", "maximum", "pattern"] {
        if let Some(limit) = meant.get(key) {
            setting.insert(key.to_owned(), limit.clone());
        }
    }
    if let Some(items) = meant.get("items") {
        let (values, texts): (Vec<Value>, Vec<Value>) = choices(settings, items).into_iter().unzip();
        let mut item = json!({ "type": resolved(settings, items)["type"] });
        if !values.is_empty() {
            item = json!({ "type": "string", "enum": values, "enumDescriptions": texts });
        }
        setting.insert("items".to_owned(), item);
    }
    if meant["uniqueItems"] == true {
        setting.insert("uniqueItems".to_owned(), true.into());
    }
    found.insert(name.to_owned(), setting.into());
}

/// Returns the JSON types of a setting.
fn kinds(settings: &Value, schema: &Value) -> Vec<String> {
    let schema = resolved(settings, schema);
    let of_choices = ["anyOf", "oneOf"].iter().filter_map(|key| schema[*key].as_array()).flatten();
    let own = match &schema["type"] {
        Value::Array(types) => types.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        Value::String(one) => vec![one.clone()],
        _ => Vec::new(),
    };
    let mut kinds: Vec<String> =
        own.into_iter().chain(of_choices.flat_map(|choice| kinds(settings, choice))).collect();
    kinds.sort();
    kinds.dedup();
    // Put `null` last.
    kinds.sort_by_key(|kind| kind == "null");
    kinds
}

/// Returns the values that a setting may have, with their descriptions.
fn choices(settings: &Value, schema: &Value) -> Vec<(Value, Value)> {
    let schema = resolved(settings, schema);
    if let Some(value) = schema.get("const") {
        return vec![(value.clone(), schema["description"].clone())];
    }
    if let Some(values) = schema["enum"].as_array() {
        return values.iter().map(|value| (value.clone(), Value::from(""))).collect();
    }
    let below = ["anyOf", "oneOf"].iter().filter_map(|key| schema[*key].as_array()).flatten();
    let mut found: Vec<(Value, Value)> = Vec::new();
    let mut is_optional = false;
    for choice in below {
        is_optional |= choice["type"] == "null";
        found.extend(choices(settings, choice));
    }
    if is_optional && !found.is_empty() {
        found.push((Value::Null, "Not set.".into()));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> Value {
        json!({
            "properties": {
                "model": { "type": "string", "default": "m", "description": "The model." },
                "cache": { "$ref": "#/$defs/Cache", "default": { "policy": null, "size": 5 } },
            },
            "$defs": {
                "Cache": { "properties": {
                    "policy": { "anyOf": [{ "$ref": "#/$defs/Policy" }, { "type": "null" }], "description": "How." },
                    "size": { "type": "integer", "minimum": 0, "description": "How much.", "x-workspace": true },
                } },
                "Policy": { "oneOf": [{ "type": "string", "const": "flat", "description": "In order." }] },
            },
        })
    }

    #[test]
    fn every_setting_is_a_property_with_its_default() {
        let mut manifest = json!({ "name": "x" });
        put(&mut manifest, &settings());
        let blocks = &manifest["contributes"]["configuration"];
        assert_eq!(blocks[0]["properties"]["strata.model"]["default"], "m");
        assert_eq!(blocks[1]["title"], "Cache");
        let cache = &blocks[1]["properties"];
        let policy = json!({
            "type": ["string", "null"], "default": null, "markdownDescription": "How.",
            "enum": ["flat", null], "markdownEnumDescriptions": ["In order.", "Not set."], "scope": "machine",
        });
        assert_eq!(cache["strata.cache.policy"], policy);
        assert_eq!(
            (&cache["strata.cache.size"]["default"], &cache["strata.cache.size"]["minimum"]),
            (&json!(5), &json!(0))
        );
        assert_eq!(cache["strata.cache.size"]["scope"], json!(null));
    }

    #[test]
    fn what_the_extension_has_of_its_own_stays_and_twice_is_once() {
        let own = json!({ "title": "Strata", "properties": {
            "strata.path": { "type": "string" }, "strata.cache.gone": { "type": "string" }, "strata.model": {},
        } });
        let mut manifest = json!({
            "contributes": { "views": {}, "configuration": own },
        });
        put(&mut manifest, &settings());
        let blocks = manifest["contributes"]["configuration"].as_array().unwrap();
        let titles: Vec<&str> = blocks.iter().map(|block| block["title"].as_str().unwrap()).collect();
        assert_eq!(titles, ["Strata", "General", "Cache"]);
        assert_eq!(blocks[0]["properties"], json!({ "strata.path": { "type": "string" } }));
        let once = manifest.clone();
        put(&mut manifest, &settings());
        assert_eq!(manifest, once);
    }
}
