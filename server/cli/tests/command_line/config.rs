//! Tests `strata config`.

use std::fs;

use crate::repo::{APP, Repo};

fn user_file(repo: &Repo) -> String {
    let run = repo.strata(&["config", "path"]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    run.out.trim_end().to_owned()
}

#[test]
fn a_setting_is_changed_shown_and_removed() {
    let repo = Repo::new(APP);
    let path = user_file(&repo);
    fs::create_dir_all(std::path::Path::new(&path).parent().unwrap()).unwrap();
    fs::write(&path, "# mine\nmodel = \"gpt-5\"  # for now\n").unwrap();
    let run = repo.strata(&["config", "set", "symbols.map_budget", "4k"]);
    assert_eq!((run.code, &*run.err), (Some(0), &*format!("set symbols.map_budget to 4k in {path}\n")));
    repo.strata(&["config", "set", "model", "gpt-5.1"]);
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text, "# mine\nmodel = \"gpt-5.1\"  # for now\n\n[symbols]\nmap_budget = 4000\n");
    assert_eq!(repo.strata(&["config", "get", "model"]).out, "gpt-5.1\n");
    assert_eq!(repo.strata(&["config", "get", "symbols.map_budget"]).out, "4000\n");
    let list = repo.strata(&["config", "list"]).out;
    assert_eq!(list.lines().count(), 3, "{list}");
    assert!(list.contains("symbols.map_budget") && list.contains("your settings"), "{list}");
    assert!(repo.strata(&["config", "list", "--all"]).out.lines().count() > 50);
    assert_eq!(repo.strata(&["config", "unset", "symbols.map_budget"]).code, Some(0));
    let run = repo.strata(&["config", "get", "symbols.map_budget"]);
    assert_eq!((&*run.out, &*run.err), ("", "`symbols.map_budget` is not set\n"));
}

#[test]
fn an_invalid_setting_is_rejected_and_the_file_is_unchanged() {
    let repo = Repo::new(APP);
    let path = user_file(&repo);
    let refusal = |arguments: &[&str]| {
        let run = repo.strata(&[&["config", "set"], arguments].concat());
        assert!(!fs::exists(&path).unwrap(), "{}", run.err);
        run.refusal().to_owned()
    };
    assert!(refusal(&["symbols.map_budgt", "1"]).contains("did you mean `symbols.map_budget`?"));
    assert!(refusal(&["symbols", "1"]).contains("no setting is named `symbols`"));
    assert!(refusal(&["symbols.map_budget", "much"]).contains("symbols.map_budget: "));
    assert!(refusal(&["cache.ttl", "2h"]).contains("cache.ttl"));
    let unknown = repo.strata(&["config", "get", "symbols.map_budgt"]);
    assert!(unknown.refusal().contains("did you mean"), "{}", unknown.err);
    let run = repo.strata(&["config", "set", "--workspace", "provider.base_url", "https://a"]);
    assert!(run.refusal().contains("a workspace file can only set sizes"), "{}", run.err);
    let run = repo.strata(&["config", "set", "--workspace", "symbols.map_budget", "2000"]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert_eq!(
        fs::read_to_string(repo.folder().join(".strata.toml")).unwrap(),
        "[symbols]\nmap_budget = 2000\n"
    );
    assert_eq!(repo.strata(&["config", "get", "symbols.map_budget"]).out, "2000\n");
}

#[test]
fn the_price_of_a_model_can_be_set() {
    let repo = Repo::new(APP);
    let name = "models.model.\"gpt-5.1\".price";
    let run = repo.strata(&["config", "set", name, "{ input = 3, output = 9 }"]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    let reply = repo.strata(&["prompt", "--model", "gpt-5.1", "--json", "Why?"]).json();
    assert_eq!(reply["cost"]["outputPrice"], 9.0);
    let tokens = reply["cost"]["cold"]["tokens"].as_f64().unwrap();
    let dollars = reply["cost"]["cold"]["dollars"].as_f64().unwrap();
    assert!((dollars - tokens * 3.0 / 1e6).abs() < 1e-9, "{reply}");
    let reply = repo.strata(&["prompt", "--model", "gpt-oss-20b", "--json", "Why?"]).json();
    assert!(reply["cost"].get("outputPrice").is_none(), "{reply}");
    let run = repo.strata(&["prompt", "--model", "gpt-oss-20b", "Why?"]);
    assert!(run.err.contains("unknown  price in money"), "{}", run.err);
}

#[cfg(unix)]
#[test]
fn the_file_is_checked_after_editing() {
    let repo = Repo::new(APP);
    repo.write("editor", "#!/bin/sh\necho \"$1 = 1\" > \"$2\"\n");
    use std::os::unix::fs::PermissionsExt as _;
    let editor = repo.folder().join("editor");
    fs::set_permissions(&editor, fs::Permissions::from_mode(0o755)).unwrap();
    let edit = |setting: &str| {
        let editor = format!("{} {setting}", editor.display());
        repo.strata_under(&[("VISUAL", ""), ("EDITOR", &editor)], &["config", "edit"])
    };
    let run = edit("symbols.map_budget");
    assert_eq!((run.code, &*run.err), (Some(0), ""));
    assert_eq!(repo.strata(&["config", "get", "symbols.map_budget"]).out, "1\n");
    let run = edit("nothing");
    assert_eq!(run.code, Some(1));
    assert!(run.err.contains("unknown field"), "{}", run.err);
    // Who has broken the file can see and repair it.
    assert_eq!(repo.strata(&["config", "unset", "nothing"]).code, Some(1));
    assert_eq!(edit("symbols.map_budget").code, Some(0));
    let run = repo.strata_under(&[("VISUAL", ""), ("EDITOR", "")], &["config", "edit"]);
    assert!(run.refusal().contains("no editor is set"), "{}", run.err);
}

#[test]
fn shells_complete_setting_names() {
    let repo = Repo::new(APP);
    for shell in ["bash", "zsh", "fish"] {
        let script = repo.strata(&["completions", shell]).out;
        assert!(script.contains("symbols.map_budget"), "{shell}");
    }
}
