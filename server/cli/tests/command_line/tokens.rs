//! `strata tokens`.

use expect_test::expect;

use crate::repo::{APP, Repo};

fn repo() -> Repo {
    let repo = Repo::new(APP);
    repo.write("app/logo.png", b"\x89PNG\0");
    repo.write(".env", "TOKEN=hunter2\n");
    repo.write(&format!("app/{DECEPTIVE}red.txt"), "red");
    repo
}

/// The beginning of a name that a terminal must not get. Windows has no control characters in names.
const DECEPTIVE: &str = if cfg!(windows) { "\u{202e}" } else { "\u{1b}[31m" };

#[test]
fn the_tree_shows_sums_and_why_files_were_not_counted() {
    let run = repo().strata(&["tokens"]);
    assert_eq!(run.code, Some(0));
    expect![[r#"
        83  ./  6 files
        73    app/  4 files
        42      view.py
        29      request.py
         2      \u{1b}[31mred.txt
         -      logo.png  binary
        10    notes.md
         -    .env  secret by name
    "#]]
    .assert_eq(&run.out.replace(r"\u{202e}", r"\u{1b}[31m"));
    expect![[r#"
        83 tokens in 4 files, counted for claude-sonnet-5-5
        not counted, binary: 1 (app/logo.png)
        not counted, secret by name: 1 (.env)
    "#]]
    .assert_eq(&run.err);
}

#[test]
fn depth_and_paths_narrow_the_tree() {
    let repo = repo();
    let run = repo.strata(&["tokens", "--depth", "1"]);
    expect![[r#"
        83  ./  6 files
        73    app/  4 files
        10    notes.md
         -    .env  secret by name
    "#]]
    .assert_eq(&run.out);
    let run = repo.strata(&["tokens", "--model", "gpt-4o", "notes.md", "app/*.py"]);
    expect![[r#"
        52  ./  3 files
        46    app/  2 files
        27      view.py
        19      request.py
         6    notes.md
        52 tokens in 3 files, counted for gpt-4o
    "#]]
    .assert_eq(&format!("{}{}", run.out, run.err));
    let run = repo.strata(&["tokens", "app", "nothing"]);
    expect![[r#"
        error: `nothing` does not exist
    "#]]
    .assert_eq(run.refusal());
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
