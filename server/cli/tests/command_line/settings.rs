//! Where the command line takes its settings from, and what it prints of what there is.

use serde_json::Value;

use crate::repo::{APP, Repo, Run};

/// The model that a prompt is made for.
fn model(run: &Run) -> Value {
    run.json()["model"].clone()
}

#[test]
fn the_repository_has_a_say_and_options_have_the_last_word() {
    let repo = Repo::new(APP);
    repo.write(".strata.toml", "model = 'gpt-4o'\n[files]\nlist_budget = 0\n");
    let run = repo.strata(&["prompt", "--json", "Hello"]);
    assert_eq!(model(&run), "gpt-4o");
    assert!(!run.err.contains("warning"), "{}", run.err);
    let run = repo.strata(&["prompt", "--json", "--set", "model=gpt-4.1", "Hello"]);
    assert_eq!(model(&run), "gpt-4.1");
    repo.write("../.config/strata/strata.toml", "model = 'gpt-4.1'\n");
    assert_eq!(model(&repo.strata(&["prompt", "--json", "Hello"])), "gpt-4o", "the nearer one wins");
}

#[test]
fn an_untrusted_repository_is_let_set_sizes_only() {
    let repo = Repo::new(APP);
    repo.write(".strata.toml", "model = 'gpt-4o'\n[files]\nlist_budget = 0\n");
    let run = repo.strata(&["prompt", "--json", "--untrusted", "Hello"]);
    assert_eq!(model(&run), "claude-sonnet-5-5");
    let warning = "warning: .strata.toml may not set model: the workspace is not trusted\n";
    assert!(run.err.starts_with(warning), "{}", run.err);
}

#[test]
fn what_is_wrong_with_settings_is_said() {
    let repo = Repo::new(APP);
    repo.write(".strata.toml", "model = 5\n");
    let run = repo.strata(&["prompt", "--json", "Hello"]);
    assert_eq!(model(&run), "claude-sonnet-5-5");
    assert!(
        run.err.starts_with("warning: the settings of .strata.toml were not taken, because of model: "),
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
