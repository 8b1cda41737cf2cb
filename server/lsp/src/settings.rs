//! Makes typed settings of the tree that a client sends. The types and their defaults are the engine's.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use strata_engine::models::{ModelTable, Models, TableError};
use strata_engine::settings::Settings;
use strata_engine::tokens::GivenId;
use strata_host::tokenizer_file::TokenizerFile;

/// A setting that cannot be taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// Its path, such as `cache.min_tokens`; empty for the whole tree.
    pub path: String,
    /// What is wrong with it.
    pub message: String,
}

/// The settings in a tree. `null`, which clients send for a section that is not there, means the defaults;
/// so does a `null` inside.
///
/// # Errors
/// [`Problem`] with the path of the first setting that is unknown or of the wrong type.
pub fn parse(mut tree: Value) -> Result<Settings, Problem> {
    drop_nulls(&mut tree);
    if tree.is_null() {
        return Ok(Settings::default());
    }
    // A list would be taken for the fields in their order. An empty one is how Lua writes an empty table.
    if tree.as_array().is_some_and(|list| !list.is_empty()) {
        return Err(Problem { path: String::new(), message: "expected an object, got a list".to_owned() });
    }
    let settings: Settings = serde_path_to_error::deserialize(tree).map_err(|error| {
        let path = error.path().to_string();
        Problem { path: if path == "." { String::new() } else { path }, message: error.inner().to_string() }
    })?;
    let compaction = &settings.compaction;
    compaction
        .profile_named(&compaction.profile)
        .map_err(|error| Problem { path: "compaction.profile".to_owned(), message: error.to_string() })?;
    tokenizers_of(&settings, &models_of(&settings)?)?;
    Ok(settings)
}

/// The models there are under these settings.
///
/// # Errors
/// [`Problem`] when what the settings say of models is not complete or makes no sense.
pub fn models_of(settings: &Settings) -> Result<Models, Problem> {
    let builtin = Models::builtin();
    if settings.models == ModelTable::default() {
        return Ok(builtin);
    }
    let problem = |error: TableError| Problem { path: "models".to_owned(), message: error.to_string() };
    builtin.with_overrides(settings.models.clone()).map_err(problem)
}

/// These models with the tokenizers that the settings name, and the files that hold them. Nothing is read yet.
///
/// # Errors
/// [`Problem`] when a tokenizer is for a model that there is not, or its file has no absolute path.
pub fn tokenizers_of(
    settings: &Settings,
    models: &Models,
) -> Result<(Models, Vec<Arc<TokenizerFile>>), Problem> {
    let problem = |name: &str, message: String| Problem { path: format!("tokenizers.{name}"), message };
    let mut models = models.clone();
    let mut files = Vec::new();
    for ((name, path), id) in settings.tokenizers.iter().zip(0..) {
        if !Path::new(path).is_absolute() {
            return Err(problem(name, format!("`{path}` is no absolute path")));
        }
        models = models
            .with_given([(name.as_str(), GivenId(id))])
            .map_err(|error| problem(name, error.to_string()))?;
        files.push(Arc::new(TokenizerFile::at(path)));
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
    use super::*;
    use serde_json::json;

    #[test]
    fn absent_and_null_are_the_defaults() {
        for tree in
            [json!(null), json!({}), json!([]), json!({"model": null, "symbols": {"map_budget": null}})]
        {
            assert_eq!(parse(tree), Ok(Settings::default()));
        }
    }

    #[test]
    fn models_of_ones_own_are_there() {
        let own = json!({"models": {"model": {"mine": {"family": "llama", "max_input": 9_000, "tokenizer": "chars"}}}});
        let settings = parse(own).unwrap();
        assert_eq!(models_of(&settings).unwrap().resolve("ollama/mine").model.max_input, 9_000);
        assert_eq!(models_of(&Settings::default()).unwrap(), Models::builtin());
    }

    #[test]
    fn a_problem_names_its_path() {
        let problem = parse(json!({"symbols": {"map_budget": "much"}})).unwrap_err();
        assert_eq!(problem.path, "symbols.map_budget");
        for tree in [json!("gpt-4o"), json!(["gpt-4o"])] {
            assert_eq!(parse(tree).unwrap_err().path, "");
        }
        let problem = parse(json!({"compaction": {"profile": "short"}})).unwrap_err();
        assert_eq!(problem.path, "compaction.profile");
        let own = json!({"compaction": {"profile": "short", "profiles": {"short": {"like": "checkpoint"}}}});
        assert!(parse(own).is_ok());
        let problem = parse(json!({"models": {"model": {"mine": {"max_input": 5}}}})).unwrap_err();
        assert!(problem.path == "models" && problem.message.contains("lacks"), "{problem:?}");
        for (name, path) in [("llama", "tokenizer.json"), ("nobody", "/home/me/tokenizer.json")] {
            let problem = parse(json!({"tokenizers": {name: path}})).unwrap_err();
            assert_eq!(problem.path, format!("tokenizers.{name}"));
        }
        let problem = parse(json!({"cache": {"minTokens": 1}})).unwrap_err();
        assert!(problem.message.contains("minTokens"), "{}", problem.message);
    }
}
