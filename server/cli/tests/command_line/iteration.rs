//! Tests `strata iteration` as a script uses it.

use expect_test::expect;

use crate::repo::Repo;

fn add(repo: &Repo, nth: usize, more: &[&str]) -> String {
    let output = format!("I did step {nth}.\n<progress>step {nth} is done</progress>\n");
    let arguments = ["iteration", "add", "--goal", "Port the parser", "--output", "-", "--prompt", "Go on"];
    let run = repo.strata_with(output.as_bytes(), &[&arguments, more].concat());
    assert_eq!((run.code, &*run.out), (Some(0), ""), "{}", run.err);
    run.err
}

#[test]
fn each_run_continues_the_stored_loop() {
    let repo = Repo::new(&[]);
    assert_eq!(add(&repo, 1, &[]), "recorded iteration 1\n");
    let window = ["--context-window", "2"];
    assert_eq!(add(&repo, 2, &window), "recorded iteration 2\n");
    assert_eq!(add(&repo, 3, &window), "recorded iteration 3; iteration 1 added to the summary\n");
    let report = [&window[..], &["--score", "0.5", "--cli", "agent", "--file", "src/a.rs"]].concat();
    add(&repo, 4, &report);
    let prompt = repo.strata(&["iteration", "prompt"]).out;
    let sections: Vec<&str> = prompt.lines().filter(|line| line.starts_with("# ")).collect();
    expect![[r#"
        # Goal
        # Progress Summary (iterations 1-2)
        # Recent Iterations
        # Current State
        # Instructions"#]]
    .assert_eq(&sections.join("\n"));
    assert!(prompt.contains("Port the parser") && prompt.contains("step 4 is done"), "{prompt}");
    let status = repo.strata(&["iteration", "status", "--context-window", "2"]);
    expect![[r#"
        goal          Port the parser
        iterations    4
        verbatim      3, 4
        summarized    the first 2
        next summary  after iteration 10
        score         0.5
        goal is       not reached
    "#]]
    .assert_eq(&status.out);
    let status = repo.strata(&["iteration", "status", "--json"]).json();
    assert_eq!((&status["totalIterations"], &status["summarized"]), (&4.into(), &2.into()));
}

#[test]
fn options_override_the_limits_in_the_config_file() {
    let repo = Repo::new(&[
        ("loop.yaml", "context:\n  raw_window_size: 1\n"),
        ("bad.toml", "[context]\nsize = 1\n"),
    ]);
    let config = ["--config", "loop.yaml"];
    add(&repo, 1, &config);
    assert_eq!(add(&repo, 2, &config), "recorded iteration 2; iteration 1 added to the summary\n");
    let wide = [&config[..], &["--context-window", "9"]].concat();
    assert_eq!(add(&repo, 3, &wide), "recorded iteration 3\n");
    let run = repo.strata(&["iteration", "status", "--config", "bad.toml"]);
    assert!(
        run.refusal().starts_with("error: --config bad.toml: `context`: unknown field `size`"),
        "{}",
        run.err
    );
}

#[test]
fn the_prompt_contains_the_environment_and_changed_files() {
    let repo = Repo::new(&[]);
    let first = repo.strata(&["iteration", "prompt", "--goal", "Port the parser", "--env", "CI=1"]);
    assert_eq!(first.code, Some(0), "{}", first.err);
    assert!(first.out.starts_with("# Goal\nPort the parser\n"), "{}", first.out);
    assert!(
        first.out.contains("- Total iterations: 0\n") && first.out.contains("  - CI: 1\n"),
        "{}",
        first.out
    );
    let more = ["--env", "LANG=C", "--env", "MY_TOKEN=t-1", "--created", "src/a.rs", "--deleted", "src/b.rs"];
    add(&repo, 1, &more);
    add(&repo, 2, &["--modified", "src/a.rs"]);
    let prompt = repo.strata(&["iteration", "prompt"]).out;
    let state = prompt.split("# Current State\n").nth(1).unwrap().split("\n\n").next().unwrap();
    expect![[r#"
        - Total iterations: 2
        - Current CLI: 
        - Environment:
          - LANG: C
          - MY_TOKEN: [withheld]
        - Changed files, newest first:
          - src/a.rs: modified
          - src/b.rs: deleted"#]]
    .assert_eq(state);
    let error_for = |arguments: &[&str]| repo.strata(arguments).refusal().to_owned();
    expect![[r#"
        error: --env NO_SUCH_VARIABLE: environment variable not found
    "#]]
    .assert_eq(&error_for(&["iteration", "prompt", "--env", "NO_SUCH_VARIABLE"]));
}

#[test]
fn each_session_has_its_own_loop_and_a_new_goal_starts_another() {
    let repo = Repo::new(&[]);
    add(&repo, 1, &["--session", "other"]);
    let error_for = |arguments: &[&str]| repo.strata(arguments).refusal().to_owned();
    expect![[r#"
        error: session `iteration` does not exist; start a loop with `strata iteration add --goal GOAL`
    "#]]
    .assert_eq(&error_for(&["iteration", "prompt"]));
    expect![[r#"
        error: `goal`: the first iteration of a loop must have a goal
    "#]]
    .assert_eq(&error_for(&["iteration", "add", "--prompt", "x"]));
    expect![[r#"
        error: --output nowhere: No such file or directory (os error 2)
    "#]]
    .assert_eq(&error_for(&["iteration", "add", "--goal", "x", "--output", "nowhere"]));
    let done = ["iteration", "add", "--session", "other", "--goal", "Port the printer", "--output", "-"];
    let run = repo.strata_with(b"<promise>COMPLETE</promise>", &done);
    assert_eq!(run.err, "recorded iteration 1; it reports that the goal was reached\n");
}
