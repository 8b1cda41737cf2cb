//! Tests `strata memory`.

use expect_test::expect;

use crate::repo::Repo;

#[test]
fn the_memory_file_of_a_trusted_workspace_is_searched() {
    let repo = Repo::new(&[("MEMORY.md", "# Parser\nThe parser is by hand.\n")]);
    repo.strata(&["memory", "add", "The parser is slow"]);
    let results = repo.strata(&["memory", "search", "parser"]).out;
    let row = results.lines().nth(1).unwrap_or_default();
    assert!(row.starts_with("MEMORY.md  ") && row.contains("line 1") && row.contains("by hand"), "{results}");
    let results = repo.strata(&["memory", "search", "parser", "--untrusted"]).out;
    assert!(!results.contains("by hand") && results.contains("is slow"), "{results}");
}

#[test]
fn notes_can_be_added_listed_searched_and_removed() {
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

    let results = repo.strata(&["memory", "search", "directory", "state", "--json"]).json();
    assert_eq!((&results["hits"][0]["source"], &results["hits"][0]["id"]), (&"fragment".into(), &1.into()));
    let results = repo.strata(&["memory", "search", "parser"]).out;
    assert!(results.lines().nth(1).is_some_and(|line| line.starts_with("memory ")), "{results}");

    assert_eq!(repo.strata(&["memory", "remove", "1"]).err, "deleted note 1\n");
    let remaining = repo.strata(&["memory", "list", "--json"]).json();
    assert_eq!(remaining["fragments"].as_array().unwrap().len(), 1);
    expect![[r#"
        error: note m1 does not exist
    "#]]
    .assert_eq(repo.strata(&["memory", "remove", "1"]).refusal());
    expect![[r#"
        error: a note cannot be empty
    "#]]
    .assert_eq(repo.strata(&["memory", "add", " "]).refusal());
}
