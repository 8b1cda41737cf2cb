//! Merges the settings of all sources: effective values, the origin of each, and rejected values. The engine defines
//! types, defaults and meanings. The host reads files and environment variables.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use strata_host::config::{
    EffectiveSettings, SettingLayer, SettingsFileError, SettingsSource, from_environment, parse_setting_path,
    user_source,
};
use strata_host::tokenizer_file::TokenizerFile;
use strata_prompt::settings::{Settings, check_workspace_setting};
use strata_tokens::counting::GivenId;
use strata_tokens::models::{ModelTable, Models, TableError};

/// Origin reported for settings from the editor.
const EDITOR_SOURCE_NAME: &str = "editor";

/// Environment variables that look like settings but are not.
const NON_SETTING_VARIABLES: &[&str] = &["STRATA_LOG", "STRATA_STATE_DIR", "STRATA_CACHE_DIR"];

/// Settings of one source, or why they could not be read.
pub type FoundSettings = Result<SettingsSource, SettingsFileError>;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SettingProblem {
    /// Path of the setting, such as `cache.ttl`. Empty if the problem is not about a single setting.
    pub path: String,
    pub message: String,
}

#[derive(Clone, Debug)]
pub struct Configuration {
    /// Accepted sources, in no particular order.
    sources: Vec<SettingsSource>,
    effective: EffectiveSettings,
    settings: Arc<Settings>,
}

impl Default for Configuration {
    fn default() -> Self {
        Self { sources: Vec::new(), effective: merge_settings(&[]), settings: Arc::default() }
    }
}

impl Configuration {
    pub(crate) fn settings(&self) -> &Arc<Settings> {
        &self.settings
    }

    pub(crate) fn effective_settings(&self) -> &EffectiveSettings {
        &self.effective
    }

    /// Replaces the settings of a layer, and returns messages about rejected settings. A source that cannot be read
    /// keeps its earlier settings and does not affect the other sources.
    pub fn replace(&mut self, layer: SettingLayer, sources: Vec<FoundSettings>) -> Vec<String> {
        let (earlier, others): (Vec<SettingsSource>, Vec<SettingsSource>) =
            self.sources.drain(..).partition(|source| source.layer == layer);
        self.sources = others;
        let mut messages = Vec::new();
        for source in sources {
            let (name, sentence, keep_earlier) = match source {
                Ok(source) => match self.add_source(source.clone()) {
                    Ok(()) => continue,
                    Err(problem) => (source.name.to_string(), problem.rejection_message(&source), true),
                },
                Err(error) => {
                    let sentence = format!("the settings file {error}");
                    // A shadowed file's settings were never in effect, so there are none to keep.
                    let keep_earlier = !matches!(error, SettingsFileError::Shadowed { .. });
                    (error.file().to_owned(), sentence, keep_earlier)
                }
            };
            messages.push(sentence);
            if let Some(old) = earlier.iter().find(|old| keep_earlier && *old.name == *name) {
                // Ignore the error: the earlier settings may be rejected too, because other layers may have changed
                // since.
                let _ = self.add_source(old.clone());
            }
        }
        self.merge_sources();
        messages
    }

    /// Returns messages about settings that have no effect: those that a workspace file must not set, one message per
    /// reason, and unknown names in `redaction.allow`.
    pub fn ignored_setting_messages(&self) -> Vec<String> {
        let mut by_reason: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
        for ignored in &self.effective.ignored {
            by_reason.entry((&ignored.origin.name, &ignored.reason)).or_default().push(&ignored.key);
        }
        let sentence = |((file, reason), keys): (_, Vec<&str>)| {
            format!("{file} cannot set {}: {reason}", keys.join(", "))
        };
        by_reason.into_iter().map(sentence).chain(self.redaction_allow_messages()).collect()
    }

    fn redaction_allow_messages(&self) -> impl Iterator<Item = String> {
        let origin = self.effective.origins.get("redaction.allow");
        let place = origin.map_or_else(String::new, |origin| format!(" ({})", origin.name));
        let misnamed = self.settings.redaction.allow_warnings();
        misnamed.into_iter().map(move |misnamed| format!("the setting `redaction.allow`{place}: {misnamed}"))
    }

    fn add_source(&mut self, source: SettingsSource) -> Result<(), SettingProblem> {
        if !matches!(source.values, Value::Object(_) | Value::Null) {
            return Err(SettingProblem { path: String::new(), message: "expected an object".to_owned() });
        }
        self.sources.push(source);
        let parsed = parse_settings(merge_settings(&self.sources).values);
        if parsed.is_err() {
            self.sources.pop();
        }
        parsed.map(|_| ())
    }

    fn merge_sources(&mut self) {
        self.effective = merge_settings(&self.sources);
        // Accepted settings depend only on weaker layers. If those layers are gone, use the defaults until they return.
        self.settings = Arc::new(parse_settings(self.effective.values.clone()).unwrap_or_default());
    }
}

impl SettingProblem {
    fn rejection_message(&self, source: &SettingsSource) -> String {
        let Self { path, message } = self;
        let dot = if path.is_empty() { "" } else { "." };
        match source.layer {
            SettingLayer::Editor => {
                format!("the setting strata{dot}{path} was rejected: {message}; the settings are unchanged")
            }
            _ if path.is_empty() => format!("the settings of {} were rejected: {message}", source.name),
            _ => format!("the settings of {} were rejected because of {path}: {message}", source.name),
        }
    }
}

/// Returns the settings sent by a client as one source. An empty list counts as an empty table, because Lua encodes an
/// empty table as a list.
pub fn editor_settings(tree: Value) -> Vec<FoundSettings> {
    let is_empty = tree.as_array().is_some_and(Vec::is_empty);
    let values = if is_empty { Value::Null } else { tree };
    vec![Ok(SettingsSource { layer: SettingLayer::Editor, name: EDITOR_SOURCE_NAME.into(), values })]
}

/// Returns the settings of the user who runs this process: those in the user's file, and those in the environment.
pub fn user_settings() -> [(SettingLayer, Vec<FoundSettings>); 2] {
    let file = user_source(|name| std::env::var_os(name)).transpose();
    let variables = std::env::vars_os();
    let variables =
        variables.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let read = from_environment(variables, &default_settings());
    for name in read.unknown.iter().filter(|name| !NON_SETTING_VARIABLES.contains(&name.as_str())) {
        tracing::warn!(name, "unknown setting");
    }
    let environment =
        SettingsSource { layer: SettingLayer::Environment, name: "environment".into(), values: read.values };
    [(SettingLayer::User, file.into_iter().collect()), (SettingLayer::Environment, vec![Ok(environment)])]
}

/// A setting that exists.
pub(crate) struct NamedSetting {
    pub(crate) path: Vec<String>,
    pub(crate) default: Value,
}

/// Returns the setting with this dotted name, or `None` if there is none, or if the name stands for a group of settings.
pub(crate) fn find_setting(name: &str) -> Option<NamedSetting> {
    let path = parse_setting_path(name)?;
    let tree = default_settings();
    let mut node = &tree;
    for part in &path {
        node = match node {
            // The names in a table are free, and a setting without a default may be a table.
            Value::Object(fields) if fields.is_empty() => &Value::Null,
            Value::Null => &Value::Null,
            Value::Object(fields) => fields.get(part)?,
            _ => return None,
        };
    }
    let is_group = node.as_object().is_some_and(|fields| !fields.is_empty());
    let default = node.clone();
    (!is_group).then_some(NamedSetting { path, default })
}

/// Returns the names of all settings, sorted.
pub fn setting_names() -> Vec<String> {
    EffectiveSettings::merge(default_settings(), &[], check_workspace_setting).origins.into_keys().collect()
}

/// Returns the name of a setting that is most similar to `name`, if any is similar.
pub(crate) fn nearest_setting_name(name: &str) -> Option<String> {
    let last = name.rsplit('.').next().unwrap_or_default();
    let distance = |known: &String| match known.rsplit('.').next() {
        Some(last_part) if last_part == last && !last.is_empty() => 0,
        _ => strsim::damerau_levenshtein(known, name),
    };
    let nearest = setting_names().into_iter().min_by_key(distance)?;
    (distance(&nearest) <= 1 + name.chars().count() / 4).then_some(nearest)
}

fn default_settings() -> Value {
    // Plain data with string keys always serializes.
    serde_json::to_value(Settings::default()).unwrap_or_default()
}

fn merge_settings(sources: &[SettingsSource]) -> EffectiveSettings {
    EffectiveSettings::merge(default_settings(), sources, check_workspace_setting)
}

/// Parses settings. `null` selects the default.
///
/// # Errors
/// Returns a [`SettingProblem`] with the path of the first setting that is unknown or of the wrong type.
fn parse_settings(mut tree: Value) -> Result<Settings, SettingProblem> {
    drop_nulls(&mut tree);
    let settings: Settings = serde_path_to_error::deserialize(tree).map_err(|error| {
        let path = error.path().to_string();
        SettingProblem {
            path: if path == "." { String::new() } else { path },
            message: error.inner().to_string(),
        }
    })?;
    let compaction = &settings.compaction;
    compaction.profile_named(&compaction.profile, &settings.tool_output).map_err(|error| SettingProblem {
        path: "compaction.profile".to_owned(),
        message: error.to_string(),
    })?;
    models_with_tokenizers(&settings, &build_models(&settings)?)?;
    Ok(settings)
}

/// Builds the model table for these settings.
///
/// # Errors
/// Returns a [`SettingProblem`] if the model settings are incomplete or invalid.
pub(crate) fn build_models(settings: &Settings) -> Result<Models, SettingProblem> {
    let builtin = Models::builtin();
    if settings.models == ModelTable::default() {
        return Ok(builtin);
    }
    let problem =
        |error: TableError| SettingProblem { path: "models".to_owned(), message: error.to_string() };
    builtin.with_overrides(settings.models.clone()).map_err(problem)
}

/// Returns the models with the tokenizers from the settings, and the tokenizer files. Does not read the files yet.
///
/// # Errors
/// Returns a [`SettingProblem`] if a tokenizer is for an unknown model, or its path is not absolute.
pub(crate) fn models_with_tokenizers(
    settings: &Settings,
    models: &Models,
) -> Result<(Models, Vec<Arc<TokenizerFile>>), SettingProblem> {
    let problem =
        |name: &str, message: String| SettingProblem { path: format!("tokenizers.{name}"), message };
    let mut models = models.clone();
    let mut files = Vec::new();
    for ((name, path), id) in settings.tokenizers.iter().zip(0..) {
        if !Path::new(path).is_absolute() {
            return Err(problem(name, format!("`{path}` is not an absolute path")));
        }
        models = models
            .with_custom_tokenizers([(name.as_str(), GivenId(id))])
            .map_err(|error| problem(name, error.to_string()))?;
        files.push(Arc::new(TokenizerFile::new(path)));
    }
    Ok((models, files))
}

fn drop_nulls(tree: &mut Value) {
    if let Value::Object(fields) = tree {
        fields.retain(|_, value| !value.is_null());
        fields.values_mut().for_each(drop_nulls);
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use proptest::prelude::*;
    use serde_json::json;
    use strata_host::config::set_dotted;
    use strata_prompt::settings::WorkspaceSettingError;

    use super::*;

    fn user(values: Value) -> Vec<FoundSettings> {
        vec![Ok(SettingsSource { layer: SettingLayer::User, name: "strata.toml".into(), values })]
    }

    fn file(values: Value) -> Vec<FoundSettings> {
        vec![Ok(SettingsSource { layer: SettingLayer::Workspace, name: ".strata.toml".into(), values })]
    }

    #[test]
    fn settings_are_found_by_name() {
        assert_eq!(find_setting("model").unwrap().default, json!(Settings::default().model));
        assert_eq!(find_setting("models.model.\"gpt-5.1\".price").unwrap().path[2], "gpt-5.1");
        assert!(find_setting("symbols.map_budget").is_some() && find_setting("symbols").is_none());
        assert!(find_setting("symbols.budget").is_none() && find_setting("").is_none());
        assert!(setting_names().iter().all(|name| find_setting(name).is_some()), "{:?}", setting_names());
        let near = ["symbols.map_budgt", "map_budget", "modl", "something.else"].map(nearest_setting_name);
        let expected = [Some("symbols.map_budget"), Some("symbols.map_budget"), Some("model"), None];
        assert_eq!(near.each_ref().map(Option::as_deref), expected);
    }

    #[test]
    fn absent_and_null_settings_have_their_defaults() {
        for tree in
            [json!(null), json!({}), json!([]), json!({"model": null, "symbols": {"map_budget": null}})]
        {
            let mut configuration = Configuration::default();
            assert_eq!(configuration.replace(SettingLayer::Editor, editor_settings(tree)), [""; 0]);
            assert_eq!(**configuration.settings(), Settings::default());
        }
    }

    #[test]
    fn a_model_in_the_settings_is_added_to_the_model_table() {
        let tree = json!({"models": {"model": {"mine": {"family": "llama", "max_input": 9_000, "tokenizer": "chars"}}}});
        let settings = parse_settings(tree).unwrap();
        assert_eq!(build_models(&settings).unwrap().resolve("ollama/mine").model.max_input, 9_000);
        assert_eq!(build_models(&Settings::default()).unwrap(), Models::builtin());
    }

    #[test]
    fn a_problem_names_its_path_and_changes_nothing() {
        let mut configuration = Configuration::default();
        configuration.replace(SettingLayer::Editor, editor_settings(json!({"model": "gpt-4o"})));
        for (tree, path) in [
            (json!({"symbols": {"map_budget": "much"}}), "strata.symbols.map_budget was"),
            (json!("gpt-4"), "the setting strata was"),
            (json!(["gpt-4"]), "the setting strata was"),
            (json!({"compaction": {"profile": "short"}}), "strata.compaction.profile was"),
            (json!({"cache": {"minTokens": 1}}), "minTokens"),
            (json!({"models": {"model": {"mine": {"max_input": 5}}}}), "strata.models was"),
            (json!({"tokenizers": {"llama": "tokenizer.json"}}), "strata.tokenizers.llama was"),
            (json!({"tokenizers": {"nobody": "/home/me/tokenizer.json"}}), "strata.tokenizers.nobody was"),
        ] {
            let messages = configuration.replace(SettingLayer::Editor, editor_settings(tree));
            assert!(messages.len() == 1 && messages[0].contains(path), "{messages:?}");
            assert_eq!(configuration.settings().model, "gpt-4o");
        }
        let valid =
            json!({"compaction": {"profile": "short", "profiles": {"short": {"like": "checkpoint"}}}});
        assert_eq!(configuration.replace(SettingLayer::Editor, editor_settings(valid)), [""; 0]);
    }

    #[test]
    fn a_warning_names_what_a_workspace_file_cannot_set_and_where_to_set_it() {
        let values = json!({
            "model": "evil", "compaction": {"base_url": "https://a", "profile": "mine"},
            "symbols": {"map_budget": 7, "budget": 1},
        });
        let mut configuration = Configuration::default();
        assert_eq!(configuration.replace(SettingLayer::Workspace, file(values)), [""; 0]);
        assert_eq!(configuration.settings().symbols.map_budget, Some(7));
        assert_eq!(configuration.settings().model, Settings::default().model);
        expect![[r#"
            .strata.toml cannot set compaction.profile: a workspace file can only name the built-in compaction profiles
            .strata.toml cannot set compaction.base_url, model: a workspace file can only set sizes, budgets, layout and the compaction profile; set it in your own strata.toml, in the environment, in your editor's user settings or with --set
            .strata.toml cannot set symbols.budget: no such setting"#]]
        .assert_eq(&configuration.ignored_setting_messages().join("\n"));
    }

    #[test]
    fn a_misspelt_rule_in_redaction_allow_is_reported_and_the_others_apply() {
        let mut configuration = Configuration::default();
        let allow = json!({"redaction": {"allow": ["github-tokn", "credential"]}});
        assert_eq!(configuration.replace(SettingLayer::User, user(allow)), [""; 0]);
        let expected = "the setting `redaction.allow` (strata.toml): `github-tokn` is not the name of a rule, so it has no effect; \
                    did you mean `github-token`?";
        assert_eq!(configuration.ignored_setting_messages(), [expected]);
        assert_eq!(configuration.settings().redaction.allow, ["github-tokn", "credential"]);
        configuration.replace(
            SettingLayer::Editor,
            editor_settings(json!({"redaction": {"allow": ["github-token"]}})),
        );
        assert_eq!(configuration.ignored_setting_messages(), [""; 0]);
    }

    #[test]
    fn a_broken_file_keeps_its_earlier_settings() {
        let mut configuration = Configuration::default();
        let budget = |configuration: &Configuration| configuration.settings().files.list_budget;
        configuration.replace(SettingLayer::Workspace, file(json!({"files": {"list_budget": 7}})));
        let unreadable = SettingsFileError::Unreadable {
            file: ".strata.toml".to_owned(),
            reason: "it is a folder".to_owned(),
        };
        for broken in [vec![Err(unreadable)], file(json!({"files": {"list_budget": "much"}}))] {
            let messages = configuration.replace(SettingLayer::Workspace, broken);
            assert!(messages.len() == 1 && messages[0].contains(".strata.toml"), "{messages:?}");
            assert_eq!(budget(&configuration), 7);
        }
        configuration.replace(SettingLayer::Workspace, Vec::new());
        assert_eq!(budget(&configuration), Settings::default().files.list_budget);
    }

    #[test]
    fn a_shadowed_file_loses_its_earlier_settings() {
        let mut configuration = Configuration::default();
        let window = |configuration: &Configuration| configuration.settings().context.raw_window_size;
        let source = |name: &str, values: Value| {
            Ok(SettingsSource { layer: SettingLayer::Workspace, name: name.into(), values })
        };
        let yaml = source(".strata.yaml", json!({"context": {"raw_window_size": 9}}));
        assert_eq!(configuration.replace(SettingLayer::Workspace, vec![yaml]), [""; 0]);
        assert_eq!(window(&configuration), 9);
        let (file, used_file) = (".strata.yaml".to_owned(), ".strata.toml".to_owned());
        let both =
            vec![source(".strata.toml", json!({})), Err(SettingsFileError::Shadowed { file, used_file })];
        let messages = configuration.replace(SettingLayer::Workspace, both);
        assert_eq!(
            messages,
            [
                "the settings file .strata.yaml is ignored, because .strata.toml takes precedence; merge the two files, or \
              delete one of them"
            ]
        );
        assert_eq!(window(&configuration), Settings::default().context.raw_window_size);
    }

    /// Returns every setting with its default, keyed by its dotted name.
    fn settings_with_paths() -> Vec<(String, Value)> {
        let mut settings = Vec::new();
        for (group, value) in default_settings().as_object().unwrap() {
            match value.as_object() {
                Some(fields) if !fields.is_empty() => {
                    settings.extend(
                        fields.iter().map(|(name, value)| (format!("{group}.{name}"), value.clone())),
                    );
                }
                _ => settings.push((group.clone(), value.clone())),
            }
        }
        settings
    }
    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<u32>().prop_map(Value::from),
            any::<f32>()
                .prop_filter_map("not in JSON", |x| serde_json::Number::from_f64(x.into()).map(Value::from)),
            prop::sample::select(vec![
                "http",
                "client",
                "llm",
                "flat",
                "checkpoint",
                "http://127.0.0.1:9",
                "AWS_SECRET_ACCESS_KEY",
                "gpt-4o",
                "/etc/passwd",
                "../../x",
                "credential",
                "1h",
                "openai",
            ])
            .prop_map(Value::from),
        ];
        leaf.prop_recursive(2, 6, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                prop::collection::btree_map("topic|mine|llama|model|like", inner, 0..3)
                    .prop_map(|map| json!(map)),
            ]
        })
    }

    proptest! {
        /// A setting that is not marked keeps the user's value, whatever a workspace file contains.
        #[test]
        fn a_workspace_file_changes_only_marked_settings(at in any::<prop::sample::Index>(), value in any_value()) {
            let all = settings_with_paths();
            let (key, _) = at.get(&all);
            let mut values = Value::Null;
            set_dotted(&mut values, key, value);
            let user_values = json!({
                "compaction": {"summariser": "client", "model": "mine", "key_env": "MY_API_KEY", "auto": false},
                "redaction": {"allow": ["credential"]}, "server": {"ignore": ["out"]},
            });
            let mut configuration = Configuration::default();
            configuration.replace(SettingLayer::User, user(user_values));
            let before = serde_json::to_value(&**configuration.settings()).unwrap();
            configuration.replace(SettingLayer::Workspace, file(values));
            let after = serde_json::to_value(&**configuration.settings()).unwrap();
            for (name, _) in &all {
                let pointer = format!("/{}", name.replace('.', "/"));
                let is_marked = SETTABLE.contains(&name.as_str());
                prop_assert!(is_marked || before.pointer(&pointer) == after.pointer(&pointer), "{} changed", name);
            }
        }
    }

    /// Settings that a workspace file may set. Listed explicitly, because adding one is a security decision.
    const SETTABLE: &[&str] = &[
        "budget.output_reserve",
        "cache.deltas",
        "cache.history_deltas",
        "cache.policy",
        "cache.ttl",
        "compaction.profile",
        "compaction.profiles",
        "context.auto_budget",
        "context.max_summary_tokens",
        "context.raw_window_size",
        "context.summarize_every",
        "context_frame.inject",
        "context_frame.max_items",
        "context_frame.min_score",
        "context_frame.rerank",
        "context_frame.top_k",
        "files.list_budget",
        "symbols.map_budget",
        "tool_output.ageing",
        "tool_output.cutoff",
        "tool_output.large_output_threshold",
        "tool_output.max_bytes",
        "tool_output.max_lines",
        "tool_output.truncate_mode",
    ];

    #[test]
    fn the_marked_settings_are_these() {
        let is_marked = |name: &str, default: &Value| {
            let path: Vec<&str> = name.split('.').collect();
            check_workspace_setting(&path, default) != Err(WorkspaceSettingError::UserOnly)
        };
        let mut marked: Vec<String> = settings_with_paths()
            .into_iter()
            .filter(|(name, default)| is_marked(name, default))
            .map(|(name, _)| name)
            .collect();
        marked.sort();
        assert_eq!(marked, SETTABLE);
    }
}
