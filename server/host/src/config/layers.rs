//! Merges the layers of settings by precedence, and records the origin of each effective value.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::edit::parse_setting_path;

/// Where a setting comes from, from the weakest source to the strongest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "SettingLayer")]
pub enum SettingLayer {
    /// The built-in defaults.
    Defaults,
    /// `strata.toml` in the user's configuration directory.
    User,
    /// `.strata.toml` or `.strata.yaml` in a workspace folder.
    Workspace,
    /// Environment variables that begin with `STRATA_`.
    Environment,
    /// Settings sent by the editor.
    Editor,
    /// Command-line options.
    CommandLine,
}

/// Settings from one source.
#[derive(Debug, Clone, PartialEq)]
pub struct SettingsSource {
    /// Layer of the source, which determines its precedence.
    pub layer: SettingLayer,
    /// Display name of the source, such as a file path or `environment`.
    pub name: Arc<str>,
    /// The settings as an object. A `null` at any depth means "not set".
    pub values: Value,
}

/// Where the effective value of a setting comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "SettingOrigin")]
pub struct SettingOrigin {
    /// Layer that the value comes from.
    pub layer: SettingLayer,
    /// Display name of the source, such as a file path, `environment` or `editor`.
    pub name: Arc<str>,
}

/// A value that was ignored, and the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "IgnoredSetting")]
pub struct IgnoredSetting {
    /// Dotted key of the setting, for example `symbols.map_budget`.
    pub key: String,
    /// Source of the value.
    pub origin: SettingOrigin,
    /// Why the value was ignored.
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct EffectiveSettings {
    /// The effective value of every setting, as a nested object.
    pub values: Value,
    /// Origin of each value, by dotted key. Key parts that are not bare TOML keys are quoted.
    pub origins: BTreeMap<String, SettingOrigin>,
    /// Ignored values, sorted by origin and key.
    pub ignored: Vec<IgnoredSetting>,
}

impl EffectiveSettings {
    /// Merges `sources` over the built-in `defaults`. A stronger layer overrides a weaker one. Within a layer, a later
    /// source overrides an earlier one. `check` decides whether a workspace file may set a setting to a value. Rejected
    /// values, and sources that are not objects, are reported in [`EffectiveSettings::ignored`].
    pub fn merge<E: fmt::Display>(
        defaults: Value,
        sources: &[SettingsSource],
        check: impl Fn(&[String], &Value) -> Result<(), E>,
    ) -> Self {
        let built_in =
            SettingsSource { layer: SettingLayer::Defaults, name: "built in".into(), values: defaults };
        let mut sources: Vec<&SettingsSource> = std::iter::once(&built_in).chain(sources).collect();
        sources.sort_by_key(|source| source.layer);
        let mut leaves = SettingLeaves::new();
        let mut ignored = Vec::new();
        for source in sources {
            let origin = SettingOrigin { layer: source.layer, name: Arc::clone(&source.name) };
            let is_workspace = source.layer == SettingLayer::Workspace;
            for_each_leaf(&source.values, &mut Vec::new(), &mut |path, value| {
                let ignore =
                    |reason| IgnoredSetting { key: dotted_key(path), origin: origin.clone(), reason };
                if path.is_empty() {
                    if !matches!(value, Value::Null | Value::Object(_)) {
                        ignored.push(ignore("settings must be a table".to_owned()));
                    }
                } else if let Some(Err(rejection)) = is_workspace.then(|| check(path, value)) {
                    ignored.push(ignore(rejection.to_string()));
                } else if !value.is_null() || source.layer == SettingLayer::Defaults {
                    set_leaf(&mut leaves, path, value, &origin);
                }
            });
        }
        // Sort, because the order of keys in a JSON object has no meaning.
        ignored.sort_by(|a: &IgnoredSetting, b| {
            (a.origin.layer, &a.origin.name, &a.key).cmp(&(b.origin.layer, &b.origin.name, &b.key))
        });
        let mut values = Value::Object(Map::new());
        let mut origins = BTreeMap::new();
        for (path, (value, origin)) in leaves {
            origins.insert(dotted_key(&path), origin);
            set_at_path(&mut values, path.iter().map(String::as_str), value);
        }
        Self { values, origins, ignored }
    }
}

/// Sets a value by its dotted key, as given on the command line, creating intermediate objects. Parts of the key may be
/// quoted.
pub fn set_dotted(values: &mut Value, key: &str, value: Value) {
    match parse_setting_path(key) {
        Some(path) => set_at_path(values, path.iter().map(String::as_str), value),
        None => set_at_path(values, key.split('.'), value),
    }
}

/// The merged values and their origins, by path. No path is a prefix of another.
type SettingLeaves = BTreeMap<Vec<String>, (Value, SettingOrigin)>;

/// Sets the value at a path. Removes existing values at that path, above it and below it.
fn set_leaf(leaves: &mut SettingLeaves, path: &[String], value: &Value, origin: &SettingOrigin) {
    let keys_below: Vec<Vec<String>> = leaves
        .range(path.to_vec()..)
        .map(|(key, _)| key)
        .take_while(|key| key.starts_with(path))
        .cloned()
        .collect();
    // An empty table does not remove the values below it.
    if value.is_object() && keys_below.iter().any(|key| key.len() > path.len()) {
        return;
    }
    for key in keys_below {
        leaves.remove(&key);
    }
    for length in 1..path.len() {
        leaves.remove(path.get(..length).unwrap_or_default());
    }
    leaves.insert(path.to_vec(), (value.clone(), origin.clone()));
}

/// Calls `visit` for every value that is not an object, and for every empty object.
fn for_each_leaf(value: &Value, path: &mut Vec<String>, visit: &mut impl FnMut(&[String], &Value)) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (name, value) in map {
                path.push(name.clone());
                for_each_leaf(value, path, visit);
                path.pop();
            }
        }
        leaf => visit(path, leaf),
    }
}

/// Sets a value by the names that lead to it, creating intermediate objects.
pub fn set_at_path<'a>(values: &mut Value, path: impl Iterator<Item = &'a str>, value: Value) {
    let mut slot = values;
    for name in path {
        if !slot.is_object() {
            *slot = Value::Object(Map::new());
        }
        let Value::Object(map) = slot else { return };
        slot = map.entry(name).or_insert(Value::Null);
    }
    *slot = value;
}

/// Formats a path as a dotted key. Quotes names that are not bare TOML keys.
fn dotted_key(path: &[String]) -> String {
    let is_bare = |name: &str| {
        !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
    };
    let names = path.iter().map(|name| if is_bare(name) { name.clone() } else { format!("{name:?}") });
    names.collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const SETTABLE: &[&str] = &["display.lens", "symbols.map_budget"];

    fn check(path: &[String], _: &Value) -> Result<(), &'static str> {
        SETTABLE.iter().any(|key| path.iter().eq(key.split('.'))).then_some(()).ok_or("not from here")
    }

    fn refuse(_: &[String], _: &Value) -> Result<(), &'static str> {
        Err("not from here")
    }

    /// Sources to merge over the same defaults.
    struct Layers(Vec<SettingsSource>);

    impl Layers {
        fn effective(
            &self,
            check: impl Fn(&[String], &Value) -> Result<(), &'static str>,
        ) -> EffectiveSettings {
            let defaults = json!({"model": "m", "symbols": {"map_budget": 1, "tests": null}, "list": [1, 2]});
            EffectiveSettings::merge(defaults, &self.0, check)
        }
    }

    fn layers(sources: impl IntoIterator<Item = (SettingLayer, Value)>) -> Layers {
        let source = |(layer, values)| SettingsSource { layer, name: format!("{layer:?}").into(), values };
        Layers(sources.into_iter().map(source).collect())
    }

    fn value_and_layer(effective: &EffectiveSettings, key: &str) -> (Value, Option<SettingLayer>) {
        let value = effective.values.pointer(&format!("/{}", key.replace('.', "/"))).cloned();
        (value.unwrap_or_default(), effective.origins.get(key).map(|origin| origin.layer))
    }

    #[test]
    fn stronger_layers_win_in_any_order() {
        let layers = layers([
            (SettingLayer::CommandLine, json!({"model": "cli"})),
            (SettingLayer::User, json!({"model": "user", "symbols": {"map_budget": 2}, "list": [3]})),
            (SettingLayer::Editor, json!({"model": "editor", "symbols": {"map_budget": 3}})),
            (SettingLayer::Environment, json!({"symbols": {"map_budget": 4}})),
        ]);
        let effective = layers.effective(refuse);
        assert_eq!(value_and_layer(&effective, "model"), (json!("cli"), Some(SettingLayer::CommandLine)));
        assert_eq!(value_and_layer(&effective, "symbols.map_budget"), (json!(3), Some(SettingLayer::Editor)));
        assert_eq!(value_and_layer(&effective, "symbols.tests"), (Value::Null, Some(SettingLayer::Defaults)));
        assert_eq!(
            value_and_layer(&effective, "list"),
            (json!([3]), Some(SettingLayer::User)),
            "lists are replaced, not joined"
        );
        assert_eq!(effective.ignored, []);
    }

    #[test]
    fn null_sets_nothing() {
        let effective =
            layers([(SettingLayer::Editor, json!({"model": null, "symbols": null}))]).effective(refuse);
        assert_eq!(value_and_layer(&effective, "model"), (json!("m"), Some(SettingLayer::Defaults)));
        assert_eq!(
            value_and_layer(&effective, "symbols.map_budget"),
            (json!(1), Some(SettingLayer::Defaults))
        );
    }

    #[test]
    fn a_value_of_another_type_replaces_the_old_value_completely() {
        let layers = layers([
            (SettingLayer::User, json!({"symbols": 5, "model": {"name": "x"}})),
            (SettingLayer::Editor, json!({"list": {}, "model": {}})),
        ]);
        let effective = layers.effective(refuse);
        assert_eq!(value_and_layer(&effective, "symbols"), (json!(5), Some(SettingLayer::User)));
        assert_eq!(effective.origins.get("symbols.map_budget"), None);
        assert_eq!(
            value_and_layer(&effective, "model.name"),
            (json!("x"), Some(SettingLayer::User)),
            "an empty table removes nothing"
        );
        assert_eq!(effective.origins.get("model"), None);
        assert_eq!(value_and_layer(&effective, "list"), (json!({}), Some(SettingLayer::Editor)));
    }

    #[test]
    fn a_workspace_file_sets_only_settings_that_the_check_allows() {
        let values = json!({
            "display": {"lens": false}, "symbols": {"map_budget": 9, "tests": true}, "model": "evil",
            "symbols.map_budget": 10, "displays": 1,
        });
        let layers =
            layers([(SettingLayer::Workspace, values), (SettingLayer::User, json!({"model": "mine"}))]);
        let effective = layers.effective(check);
        assert_eq!(
            value_and_layer(&effective, "display.lens"),
            (json!(false), Some(SettingLayer::Workspace))
        );
        assert_eq!(
            value_and_layer(&effective, "symbols.map_budget"),
            (json!(9), Some(SettingLayer::Workspace))
        );
        assert_eq!(value_and_layer(&effective, "model"), (json!("mine"), Some(SettingLayer::User)));
        let ignored: Vec<&str> = effective.ignored.iter().map(|ignored| ignored.key.as_str()).collect();
        assert_eq!(ignored, ["\"symbols.map_budget\"", "displays", "model", "symbols.tests"]);
        assert!(effective.ignored.iter().all(|ignored| ignored.reason == "not from here"));
    }

    #[test]
    fn the_check_cannot_be_evaded_by_replacing_a_whole_table() {
        let layers =
            layers([(SettingLayer::Workspace, json!({"symbols": 1, "list": {}, "model": {"name": 1}}))]);
        let effective = layers.effective(check);
        assert_eq!(effective.values, self::layers([]).effective(check).values);
        assert_eq!(effective.ignored.len(), 3);
    }

    #[test]
    fn sources_that_are_not_tables_are_ignored() {
        let effective = layers([(SettingLayer::Editor, json!("all")), (SettingLayer::User, Value::Null)])
            .effective(refuse);
        assert_eq!(value_and_layer(&effective, "model").0, json!("m"));
        assert_eq!(effective.ignored.len(), 1);
    }

    #[test]
    fn the_command_line_sets_by_dotted_key() {
        let mut values = Value::Null;
        set_dotted(&mut values, "a.b.c", json!(1));
        set_dotted(&mut values, "a.d", json!("x"));
        assert_eq!(values, json!({"a": {"b": {"c": 1}, "d": "x"}}));
    }

    fn any_values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<u8>().prop_map(Value::from),
            Just(json!([])),
            Just(json!({}))
        ];
        leaf.prop_recursive(3, 16, 3, |inner| {
            prop::collection::btree_map("[abc]", inner, 0..3).prop_map(|map| json!(map))
        })
    }

    proptest! {
        /// Every leaf has an origin, and every origin names a source that contains the value.
        #[test]
        fn values_and_origins_agree(sources in prop::collection::vec(any_values(), 0..4)) {
            let order = [SettingLayer::User, SettingLayer::Environment, SettingLayer::Editor, SettingLayer::CommandLine];
            let layers = layers(order.into_iter().zip(sources.clone()));
            let effective = layers.effective(refuse);
            let mut leaves = 0;
            for_each_leaf(&effective.values, &mut Vec::new(), &mut |path, value| {
                leaves += 1;
                let layer = effective.origins.get(&dotted_key(path)).map(|origin| origin.layer);
                let source = order.iter().position(|&candidate| Some(candidate) == layer);
                if let Some(source) = source {
                    assert_eq!(sources[source].pointer(&format!("/{}", path.join("/"))), Some(value));
                } else {
                    assert_eq!(layer, Some(SettingLayer::Defaults));
                }
            });
            prop_assert_eq!(leaves, effective.origins.len());
        }

        /// A workspace file changes only the settings that the check allows.
        #[test]
        fn a_workspace_file_changes_only_allowed_settings(values in any_values()) {
            let user_layer = || (SettingLayer::User, json!({"a": {"b": 1}, "b": 2, "c": {"a": {"a": 3}}}));
            let only_a_b = |path: &[String], _: &Value| {
                path.iter().eq(["a", "b"]).then_some(()).ok_or("not from here")
            };
            let with = layers([user_layer(), (SettingLayer::Workspace, values)]).effective(only_a_b);
            let without = layers([user_layer()]).effective(only_a_b);
            let other_values = |mut effective: EffectiveSettings| {
                if let Some(a) = effective.values.pointer_mut("/a").and_then(Value::as_object_mut) {
                    a.remove("b");
                }
                effective.values
            };
            prop_assert_eq!(other_values(with), other_values(without));
        }
    }
}
