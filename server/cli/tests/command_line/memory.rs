//! Tests `strata memory`.

use expect_test::expect;

use crate::repo::Repo;

#[test]
fn the_memory_file_is_searched_as_well() {
    let repo = Repo::new(&[("MEMORY.md", "# Parser\nThe parser is by hand.\n")]);
    repo.strata(&["memory", "add", "The parser is slow"]);
    let found = repo.strata(&["memory", "search", "parser"]).out;
    let row = found.lines().nth(1).unwrap_or_default();
    assert!(row.starts_with("MEMORY.md  ") && row.contains("line 1") && row.contains("by hand"), "{found}");
    let found = repo.strata(&["memory", "search", "parser", "--untrusted"]).out;
    assert!(!found.contains("by hand") && found.contains("is slow"), "{found}");
}

#[test]
fn notes_are_kept_listed_found_and_removed() {
    let repo = Repo::new(&[]);
    let empty = repo.strata(&["memory", "list"]);
    assert_eq!((empty.code, &*empty.out, &*empty.err), (Some(0), "", "no notes\n"));
    let add = ["memory", "add", "Tests need a state directory", "--tag", "tests", "--tag", "state"];
    assert_eq!(repo.strata(&add).err, "saved note 1\n");
    let second = repo.strata_with(b"The parser is\nby hand\n", &["memory", "add", "-", "--json"]).json();
    assert_eq!(second["id"], 2);

    let list = repo.strata(&["memory", "list"]).out;
    let rows: Vec<Vec<&str>> = list.lines().map(|line| line.split("  ").map(str::trim).collect()).collect();
    assert_eq!(rows.len(), 3, "{list}");
    assert!(list.contains("  tests, state  Tests need a state directory\n"), "{list}");
    assert!(list.contains("The parser is by hand\n"), "{list}");

    let found = repo.strata(&["memory", "search", "directory", "state", "--json"]).json();
    assert_eq!((&found["hits"][0]["source"], &found["hits"][0]["id"]), (&"fragment".into(), &1.into()));
    let found = repo.strata(&["memory", "search", "parser"]).out;
    assert!(found.lines().nth(1).is_some_and(|line| line.starts_with("memory ")), "{found}");

    assert_eq!(repo.strata(&["memory", "remove", "1"]).err, "deleted note 1\n");
    let left = repo.strata(&["memory", "list", "--json"]).json();
    assert_eq!(left["fragments"].as_array().unwrap().len(), 1);
    expect![[r#"
        error: note m1 does not exist
    "#]]
    .assert_eq(repo.strata(&["memory", "remove", "1"]).refusal());
    expect![[r#"
        error: a note cannot be empty
    "#]]
    .assert_eq(repo.strata(&["memory", "add", " "]).refusal());
}
