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
fn typed_paths_count_from_the_working_folder() {
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
fn rules_with_two_names_are_told_once() {
    let repo = repo();
    repo.write("AGENTS.md", "Rule of the house.\n");
    std::os::unix::fs::symlink("AGENTS.md", repo.folder().join("CLAUDE.md")).unwrap();
    let prompt = repo.strata(&["prompt", "--format", "markdown", "Why?"]).out;
    assert_eq!(prompt.matches("Rule of the house.").count(), 1, "{prompt}");
}
