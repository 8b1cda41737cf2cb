//! `strata tokens`.

use expect_test::expect;

use crate::repo::{APP, Repo};

fn repo() -> Repo {
    let repo = Repo::new(APP);
    repo.write("app/logo.png", b"\x89PNG\0");
    repo.write(".env", "TOKEN=hunter2\n");
    repo.write("app/\u{1b}[31mred.txt", "red");
    repo
}

#[test]
fn a_tree_shows_sums_and_reasons() {
    let run = repo().strata(&["tokens"]);
    assert_eq!(run.code, Some(0));
    expect![[""]].assert_eq(&run.out);
    expect![[""]].assert_eq(&run.err);
}

#[test]
fn depth_and_paths_narrow_the_tree() {
    let repo = repo();
    let run = repo.strata(&["tokens", "--depth", "1"]);
    expect![[""]].assert_eq(&run.out);
    let run = repo.strata(&["tokens", "--model", "gpt-4o", "notes.md", "app/*.py"]);
    expect![[""]].assert_eq(&format!("{}{}", run.out, run.err));
    let run = repo.strata(&["tokens", "app", "nothing"]);
    expect![[""]].assert_eq(run.refusal());
}

#[test]
fn json_names_every_file() {
    let reply = repo().strata(&["tokens", "--json", "--model", "gpt-4o"]).json();
    let files = reply["files"].as_array().unwrap();
    let tokens = files.iter().filter_map(|file| file["tokens"].as_u64());
    assert_eq!(reply["tokens"], tokens.sum::<u64>());
    let problems: Vec<String> = files
        .iter()
        .filter(|file| file.get("tokens").is_none())
        .map(|file| format!("{} {}", file["path"], file["problem"]))
        .collect();
    assert_eq!(problems, [r#"".env" "secret""#, r#""app/logo.png" "binary""#]);
}
