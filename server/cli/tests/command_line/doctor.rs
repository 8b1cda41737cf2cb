//! `strata doctor`.

use crate::repo::{APP, Repo};

#[test]
fn a_healthy_build_is_reported_line_by_line() {
    let run = Repo::new(APP).strata(&["doctor"]);
    assert_eq!((run.code, &*run.err), (Some(0), ""));
    let first_words: Vec<&str> = run.out.lines().map(|line| line.split("  ").next().unwrap()).collect();
    assert_eq!(
        first_words,
        [
            "strata",
            "languages",
            "tokenizers",
            "models",
            "editors",
            "repository",
            "",
            "view",
            "cache",
            "store",
            "provider",
            "",
            "everything works"
        ]
    );
    assert!(
        run.out.contains("REPO, trusted\n") && run.out.contains("0 conversations, all readable"),
        "{}",
        run.out
    );
    let database: std::path::PathBuf = ["cache", "outlines", "outlines-1.db"].iter().collect();
    assert!(run.out.contains(&format!("{}: 3 outlines, ", database.display())), "{}", run.out);
    assert!(run.out.contains("python (") && run.out.contains("3 files, 3 with an outline"), "{}", run.out);
}

#[test]
fn a_problem_is_reported_with_exit_code_1() {
    let repo = Repo::new(APP);
    let run = repo.strata(&["doctor", "--repo", "nowhere"]);
    assert_eq!(run.code, Some(1));
    assert!(
        run.out.contains("\ntokenizers  o200k_base, cl100k_base\n"),
        "the other findings are still printed"
    );
    assert!(run.out.contains("broken: --repo: cannot open `nowhere`: "), "{}", run.out);
    assert!(!run.out.contains("everything works"));
}

#[test]
fn json_contains_all_findings() {
    let repo = Repo::new(APP);
    let findings = repo.strata(&["doctor", "--json"]).json();
    assert_eq!(findings["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(findings["problems"], serde_json::json!([]));
    assert_eq!(
        (&findings["repository"]["files"], &findings["repository"]["outlined"]),
        (&3.into(), &3.into())
    );
    for language in findings["languages"].as_array().unwrap() {
        assert!(language["abi"].as_u64().unwrap() > 0 && language.get("problem").is_none(), "{language}");
    }
}

#[test]
fn the_summary_model_is_asked_only_with_ask_and_no_response_is_a_problem() {
    let repo = Repo::new(APP);
    let unconfigured = repo.strata(&["doctor", "--ask"]);
    assert_eq!(unconfigured.code, Some(0));
    assert!(unconfigured.out.contains("no model is set for summaries"), "{}", unconfigured.out);
    // No server listens on this port.
    let http = ["--set", "compaction.summariser=http", "--set", "compaction.model=gpt-4o", "--set"];
    let unreachable = [&["doctor"], &http[..], &["compaction.base_url=http://127.0.0.1:9/v1"]].concat();
    let unchecked = repo.strata(&unreachable);
    assert_eq!(unchecked.code, Some(0), "{}", unchecked.out);
    let checked = repo.strata(&[&unreachable[..], &["--ask", "--set", "compaction.timeout_s=2"]].concat());
    assert_eq!(checked.code, Some(1));
    assert!(checked.out.contains("broken: the model that writes summaries: "), "{}", checked.out);
}

#[test]
fn the_store_is_checked() {
    let repo = Repo::new(APP);
    repo.strata_with(b"[{\"role\":\"user\",\"content\":\"Why?\"}]", &["sessions", "import", "-"]);
    assert!(repo.strata(&["doctor"]).out.contains("1 conversation, all readable"));
}

#[test]
fn settings_that_cannot_be_used_are_a_problem() {
    let repo = Repo::new(APP);
    repo.write(".strata.toml", "[symbols]\nmap_budget = 'much'\n");
    let run = repo.strata(&["doctor"]);
    assert_eq!(run.code, Some(1), "{}", run.out);
    assert!(run.out.contains("symbols.map_budget") && !run.out.contains("everything works"), "{}", run.out);
}
