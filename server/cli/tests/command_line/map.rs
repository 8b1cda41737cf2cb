//! Tests `strata map` and how results are written.

use std::io::Read as _;
use std::process::Stdio;

use expect_test::expect;

use crate::repo::{APP, Repo};

#[test]
fn the_map_is_on_standard_output_and_its_size_on_standard_error() {
    let run = Repo::new(APP).strata(&["map"]);
    assert_eq!(run.code, Some(0));
    expect![[r#"
        app/request.py
         class Request
          def body(self)

        app/view.py
         imports app.request
         class View
          def answer(self, request: Request)

        notes.md
         # Notes
    "#]]
    .assert_eq(&run.out);
    expect![[r#"
        3 files, 58 of 64,000 tokens
    "#]]
    .assert_eq(&run.err);
}

#[test]
fn files_in_focus_are_kept_when_the_budget_is_small() {
    let repo = Repo::new(APP);
    let paths = |budget: u64, focus: &str| {
        let reply = repo.strata(&["map", "--budget", &budget.to_string(), "--focus", focus, "--json"]).json();
        assert!(reply["tokens"].as_u64().unwrap() <= budget);
        let files = reply["files"].as_array().unwrap();
        files.iter().map(|file| file["path"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(paths(25, "app/view.py"), ["app/view.py"]);
    assert_eq!(paths(25, "app/request.py"), ["app/request.py"]);
    assert_eq!(
        paths(30, "app/request.py"),
        ["app/request.py", "notes.md"],
        "smaller files fill the rest of the budget"
    );
    let run = repo.strata(&["map", "--budget", "5", "--focus", "app/view.py"]);
    assert!(run.refusal().contains("is too small for `app/view.py`"), "{}", run.err);
    let run = repo.strata(&["map", "--budget", "0"]);
    expect![[r#"
        0 files, 0 of 0 tokens; 3 more with an outline were left out
    "#]]
    .assert_eq(&run.err);
    let run = repo.strata(&["map", "--focus", "../x"]);
    let outside = format!("{}x`: it is outside the workspace folders", std::path::MAIN_SEPARATOR);
    assert!(run.refusal().contains(&outside), "{}", run.err);
}

#[test]
fn a_closed_output_is_not_an_error() {
    let repo = Repo::new(APP);
    for arguments in [["map", "--repo", "."], ["tokens", "--repo", "."], ["prompt", "--repo=.", "Hello"]] {
        let mut child = repo.spawn(&arguments, Stdio::piped());
        drop((child.stdin.take(), child.stdout.take()));
        let mut err = String::new();
        child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        assert_eq!((child.wait().unwrap().code(), &*err), (Some(0), ""), "{arguments:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_result_that_cannot_be_written_is_an_error() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let repo = Repo::new(APP);
    let child = repo.spawn(&["map"], full.into());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(err.starts_with("error: cannot write the result: ") && err.lines().count() == 1, "{err}");
}
