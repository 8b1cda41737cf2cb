//! Tests how the repository is found, and which files typed paths name.

use crate::repo::{APP, Repo};

/// Creates a repository under version control that contains a second one.
fn repo() -> Repo {
    let repo = Repo::new(APP);
    repo.write(".git/HEAD", "ref: refs/heads/main\n");
    repo.write("vendor/lib/.git", "gitdir: ../../.git/modules/lib\n");
    repo.write("vendor/lib/src/own.py", "def own():\n    pass\n");
    repo
}

#[test]
fn the_repository_contains_the_working_folder() {
    let repo = repo();
    let map =
        |folder: &str, arguments: &[&str]| repo.strata_in(folder, &[&["map"][..], arguments].concat()).out;
    assert_eq!(map("app", &[]), map(".", &[]));
    let inner = map("vendor/lib/src", &[]);
    assert!(inner.contains("src/own.py") && !inner.contains("app/view.py"), "{inner}");
    let named = map("app", &["--repo", "."]);
    assert!(named.contains("\nview.py") && !named.contains("notes.md"), "{named}");
    let without = Repo::new(APP).strata_in("app", &["map"]).out;
    assert!(without.contains("\nview.py") && !without.contains("notes.md"), "{without}");
}

#[test]
fn typed_paths_are_relative_to_the_working_folder() {
    let repo = repo();
    let body = |folder: &str, path: &str| {
        repo.strata_in(folder, &["prompt", "--format", "markdown", "--select", path, "Why?"])
    };
    for (folder, path) in [
        ("app", "view.py"),
        ("app", "./view.py"),
        ("app", "view.py#L4-6"),
        ("app", "v*.py"),
        ("app", "app/view.py"),
        ("vendor", "../app/view.py"),
        (".", "app/view.py"),
    ] {
        let run = body(folder, path);
        assert!(
            run.out.contains("view body") && !run.out.contains("request body"),
            "{folder} {path}: {}",
            run.err
        );
    }
    let named = repo.strata_in("..", &["prompt", "--repo", "repo", "--select", "repo/app/view.py", "Why?"]);
    assert!(named.out.contains("view body"), "{}", named.err);
    assert!(body("app", "../../x.py").refusal().contains("outside the workspace folders"));
    assert!(
        body("app", "nothing.py").refusal().starts_with("error: --select: `app/nothing.py` does not exist")
    );
    assert!(
        repo.strata_in("app", &["tokens", "view.py", "--json"]).json()["files"][0]["path"] == "app/view.py"
    );
    let focus = repo.strata_in("app", &["map", "--focus", "view.py", "--budget", "25", "--json"]).json();
    assert_eq!(focus["files"][0]["path"], "app/view.py");
}

#[test]
fn sessions_belong_to_the_repository() {
    let repo = repo();
    repo.write("talk.json", r#"{"messages": [{"role": "user", "content": "Why?"}]}"#);
    assert_eq!(repo.strata_in("app", &["sessions", "import", "../talk.json"]).code, Some(0));
    assert!(repo.strata(&["sessions", "list"]).out.contains("Why?"));
}

#[cfg(unix)]
#[test]
fn a_rule_file_with_two_names_is_included_once() {
    let repo = repo();
    repo.write("AGENTS.md", "Rule of the house.\n");
    std::os::unix::fs::symlink("AGENTS.md", repo.folder().join("CLAUDE.md")).unwrap();
    let prompt = repo.strata(&["prompt", "--format", "markdown", "Why?"]).out;
    assert_eq!(prompt.matches("Rule of the house.").count(), 1, "{prompt}");
}

/// The system messages of prompts made in the folder, with the warnings.
#[cfg(unix)]
fn system_message(repo: &Repo, variables: &[(&str, &str)], arguments: &[&str]) -> (String, String) {
    let arguments = [&["prompt", "--format", "openai", "Why?"][..], arguments].concat();
    let run = repo.strata_under(variables, &arguments);
    let body: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    (body["messages"][0].to_string(), run.err)
}

/// Rules that someone else can write are left out, unless the user names the folder.
#[cfg(unix)]
#[test]
fn rules_that_other_users_can_change_are_left_out() {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt as _, chown};

    const RULE: &str = "Answer in Latin.";

    let repo = repo();
    repo.write("AGENTS.md", RULE);
    let nobody = [("SUDO_UID", ""), ("SUDO_GID", "")];
    let has_rule = |variables: &[(&str, &str)], arguments: &[&str]| {
        let (system, warnings) = system_message(&repo, variables, arguments);
        let is_left_out = warnings.contains("rules, skills and memory are left out of prompts");
        assert_eq!(system.contains(RULE), !is_left_out, "{warnings}");
        !is_left_out
    };
    assert!(has_rule(&nobody, &[]));
    let set_mode = |path: &str, mode| {
        fs::set_permissions(repo.folder().join(path), Permissions::from_mode(mode)).unwrap();
    };
    set_mode("AGENTS.md", 0o666);
    assert!(!has_rule(&nobody, &[]), "a file that everyone can write to");
    set_mode("AGENTS.md", 0o644);
    set_mode(".", 0o777);
    assert!(!has_rule(&nobody, &[]), "a folder that everyone can write to");
    assert!(has_rule(&nobody, &["--repo", "."]));
    assert!(repo.strata(&["doctor"]).out.contains(", untrusted"));
    set_mode(".", 0o755);
    // Only an administrator can give files away. Who owns what is tested with made-up users in `file_owner`.
    if chown(repo.folder().join("AGENTS.md"), Some(1234), Some(1234)).is_ok() {
        assert!(!has_rule(&nobody, &[]), "the file of another user");
        chown(repo.folder(), Some(1234), Some(1234)).unwrap();
        assert!(!has_rule(&nobody, &[]), "the folder of another user");
        assert!(has_rule(&[("SUDO_UID", "1234"), ("SUDO_GID", "1234")], &[]), "the user who called `sudo`");
    }
}
