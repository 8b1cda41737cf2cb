//! Tests where the command line reads its settings, and how it prints them.

use serde_json::Value;

use crate::repo::{APP, Repo, Run};

/// Returns the model of a prompt.
fn model(run: &Run) -> Value {
    run.json()["model"].clone()
}

/// Returns the budget of the map in a prompt.
fn map_budget(run: &Run) -> Value {
    run.json()["coverage"]["mapBudget"].clone()
}

#[test]
fn the_workspace_file_overrides_the_user_file_and_options_override_both() {
    let repo = Repo::new(APP);
    repo.write(".strata.toml", "[symbols]\nmap_budget = 5000\n");
    let run = repo.strata(&["prompt", "--json", "Hello"]);
    assert_eq!(map_budget(&run), 5_000);
    assert!(!run.err.contains("warning"), "{}", run.err);
    let run = repo.strata(&["prompt", "--json", "--set", "symbols.map_budget=7000", "Hello"]);
    assert_eq!(map_budget(&run), 7_000);
    repo.write("../.config/strata/strata.toml", "model = 'gpt-4.1'\n[symbols]\nmap_budget = 6000\n");
    let run = repo.strata(&["prompt", "--json", "Hello"]);
    assert_eq!(
        (model(&run), map_budget(&run)),
        ("gpt-4.1".into(), 5_000.into()),
        "the workspace's file takes precedence"
    );
}

#[test]
fn a_workspace_file_cannot_set_the_model() {
    let repo = Repo::new(APP);
    repo.write(".strata.toml", "model = 'gpt-4o'\n[symbols]\nmap_budget = 5000\n");
    for arguments in [&["prompt", "--json", "Hello"][..], &["prompt", "--json", "--untrusted", "Hello"]] {
        let run = repo.strata(arguments);
        assert_eq!((model(&run), map_budget(&run)), ("claude-sonnet-5-5".into(), 5_000.into()));
        assert!(run.err.starts_with("warning: .strata.toml cannot set model: "), "{}", run.err);
    }
}

#[test]
fn invalid_settings_are_reported() {
    let repo = Repo::new(APP);
    repo.write(".strata.toml", "[symbols]\nmap_budget = 'much'\n");
    let run = repo.strata(&["prompt", "--json", "Hello"]);
    assert_eq!(model(&run), "claude-sonnet-5-5");
    assert!(
        run.err.starts_with(
            "warning: the settings of .strata.toml were rejected because of symbols.map_budget: "
        ),
        "{}",
        run.err
    );
    for option in ["model", "modle=x", "files.list_budget=many"] {
        let run = repo.strata(&["prompt", "--set", option, "Hello"]);
        assert!(run.refusal().lines().last().unwrap().starts_with("error: "), "{}", run.err);
    }
}

#[test]
fn the_schema_is_json() {
    let repo = Repo::new(&[]);
    let protocol = repo.strata(&["schema"]).json();
    assert!(protocol["commands"]["strata.files.select"]["params"]["$ref"].is_string(), "{protocol}");
    let settings = repo.strata(&["schema", "--settings"]).json();
    assert_eq!(settings["properties"]["model"]["default"], "claude-sonnet-5-5");
}

#[test]
fn a_tokenizer_that_cannot_be_used_gives_a_warning() {
    let repo = Repo::new(APP);
    let absent = repo.folder().join("absent.json");
    repo.write("../.config/strata/strata.toml", format!("[tokenizers]\nclaude = '{}'\n", absent.display()));
    let run = repo.strata(&["tokens"]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(run.err.starts_with("warning: cannot read the tokenizer "), "{}", run.err);
    assert!(run.err.contains("absent.json: entity not found; tokens are estimated instead"), "{}", run.err);
}
