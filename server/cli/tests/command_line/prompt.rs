//! `strata prompt`.

use expect_test::expect;
use serde_json::Value;

use crate::repo::{APP, Repo};

/// Returns all strings in a JSON value.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(values) => values.iter().flat_map(texts).collect(),
        Value::Object(fields) => fields.values().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}

fn times(body: &Value, needle: &str) -> usize {
    texts(body).iter().map(|text| text.matches(needle).count()).sum()
}

#[test]
fn a_selected_file_appears_once_in_full_and_others_in_the_map() {
    let repo = Repo::new(APP);
    let ask = ["prompt", "--select", "app/request.py", "--auto", "0", "What is a request?"];
    let run = repo.strata(&ask);
    let body = run.json();
    assert_eq!(times(&body, "request body"), 1);
    assert_eq!(times(&body, "class Request"), 1, "in full, so not in the map");
    assert_eq!((times(&body, "view body"), times(&body, "class View")), (0, 1));
    assert_eq!(
        (times(&body, "notes body"), times(&body, "notes.md")),
        (0, 1),
        "in the map, so not in the list"
    );
    assert_eq!(times(&body, "What is a request?"), 1, "the context frame has nothing else to name");
    expect![[r#"
        claude-sonnet-5-5, anthropic, ledger

        tokens  part
           504  system prompt
            46  symbol map
            57  files in full
            14  session state
             8  prompt
            11  structure
           640  total, of at most 815,217 (window 1,000,000)

        tokens  tier                          items
           550  L0      █████████████████░░░      3  breakpoint
            65  L1      ██░░░░░░░░░░░░░░░░░░      1  breakpoint
            14  active  ░░░░░░░░░░░░░░░░░░░░      0

        tokens  tier  version   file in full
            57  L1    de8961c2  app/request.py

           cost  expected before sending
        $0.0016  input
        $0.0016  if nothing is cached
        $0.0001  if it was sent just before
        $0.0100  1,000 tokens of the answer

        repository: 2 files in the map (budget 1,000), 0 listed by name, 0 only counted by folder
    "#]]
    .assert_eq(&run.err);
}

#[test]
fn an_excluded_file_leaves_no_trace() {
    let repo = Repo::new(APP);
    let body = repo.strata(&["prompt", "--exclude", "app/view.py", "A request"]).json();
    assert_eq!((times(&body, "view"), times(&body, "View")), (0, 0));
    assert_eq!(times(&body, "request body"), 1, "added automatically for the question");
    let body = repo.strata(&["prompt", "--exclude", "app/view.py", "--auto", "0", "Hello"]).json();
    assert_eq!((times(&body, "view"), times(&body, "View")), (0, 0));
    assert_eq!(times(&body, "class Request"), 1);
    // The more specific path wins, regardless of the order.
    let both = ["prompt", "--exclude", "app/view.py", "--select", "app", "Hello"];
    let body = repo.strata(&both).json();
    assert_eq!((times(&body, "view"), times(&body, "request body")), (0, 1));
}

#[test]
fn json_prints_the_complete_reply() {
    let repo = Repo::new(APP);
    let short = repo.strata(&["prompt", "--select", "app/request.py", "Hello"]).json();
    let run = repo.strata(&["prompt", "--select", "app/request.py", "--json", "Hello"]);
    let mut reply = run.json();
    reply["body"]["max_tokens"] = reply["tokens"]["outputReserve"].clone();
    assert_eq!(reply["body"], short);
    let parts = reply["tokens"]["parts"].as_object().unwrap();
    let sum: u64 = parts.values().map(|tokens| tokens.as_u64().unwrap()).sum();
    assert_eq!(reply["tokens"]["total"], sum);
    assert_eq!(reply["files"][0]["path"], "app/request.py");
    assert!(reply.get("id").is_none(), "a dry run cannot be recorded");
    let keys: Vec<&str> = reply.as_object().unwrap().keys().map(String::as_str).collect();
    expect!["model format policy body tokens tiers breakpoints predicted cost files systemFiles coverage shed warnings stateVersion"]
        .assert_eq(&keys.join(" "));
}

#[test]
fn the_report_lists_rule_and_memory_files() {
    let repo = Repo::new(APP);
    let named = |run: &str| -> Vec<String> {
        let lines = run.lines().filter(|line| line.starts_with("rules: ") || line.starts_with("memory: "));
        lines.map(str::to_owned).collect()
    };
    assert_eq!(named(&repo.strata(&["prompt", "Hello"]).err), [""; 0]);
    repo.write("AGENTS.md", "Use tabs.\n");
    repo.write("CLAUDE.md", " \n");
    repo.write("MEMORY.md", "The parser is slow.\n");
    let run = repo.strata(&["prompt", "Hello"]);
    assert_eq!(named(&run.err), ["rules: AGENTS.md", "memory: MEMORY.md"], "{}", run.err);
    assert_eq!(named(&repo.strata(&["prompt", "--untrusted", "Hello"]).err), [""; 0]);
}

#[test]
fn prompts_of_the_same_repository_are_identical() {
    let repo = Repo::new(APP);
    let run = || repo.strata(&["prompt", "--select", "app", "Hello"]).out;
    assert_eq!(run(), run());
}

#[test]
fn the_text_can_come_from_standard_input() {
    let repo = Repo::new(APP);
    let body = repo.strata_with("Grüße\nzwei\n".as_bytes(), &["prompt", "-"]).json();
    assert!(texts(&body).contains(&"Grüße\nzwei"), "{body}");
    let run = repo.strata_with(b"\xff\xfe", &["prompt", "-"]);
    expect![[r#"
        error: cannot read standard input: stream did not contain valid UTF-8
    "#]]
    .assert_eq(run.refusal());
}

#[test]
fn every_offered_format_and_policy_is_accepted() {
    let repo = Repo::new(APP);
    let run = |option, value| repo.strata(&["prompt", option, value, "Hello"]);
    assert!(run("--format", "anthropic").json()["system"].is_array());
    assert_eq!(run("--format", "openai").json()["messages"][0]["role"], "system");
    let markdown = run("--format", "markdown");
    assert!(markdown.out.starts_with("# [1] System\n"), "{}", markdown.out);
    assert!(markdown.out.contains("\nHello\n"), "{}", markdown.out);
    for policy in ["ledger", "ripple", "flat"] {
        let reply = repo.strata(&["prompt", "--policy", policy, "--json", "Hello"]).json();
        assert_eq!(reply["policy"], policy);
    }
}

#[test]
fn the_model_decides_the_window() {
    let repo = Repo::new(APP);
    let reply = repo.strata(&["prompt", "--model", "gpt-4o", "--json", "Hello"]).json();
    assert_eq!((&reply["model"], &reply["tokens"]["window"]), (&"gpt-4o".into(), &128_000.into()));
    let run = repo.strata(&["prompt", "--model", "nobody-1", "Hello"]);
    assert_eq!(run.code, Some(0));
    assert!(run.err.contains("warning: ") && run.err.contains("nobody-1"), "{}", run.err);
}

#[test]
fn paths_are_files_lines_folders_globs_and_absolute() {
    let repo = Repo::new(APP);
    let absolute = repo.folder().join("app/request.py");
    let shown = |path: &str| {
        let reply = repo.strata(&["prompt", "--select", path, "--json", "Hello"]).json();
        let files = reply["files"].as_array().unwrap().iter();
        files.map(|file| file["path"].as_str().unwrap().to_owned()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(shown(absolute.to_str().unwrap()), "app/request.py");
    assert_eq!(shown("./app/request.py"), "app/request.py");
    assert_eq!(shown("app"), "app/request.py app/view.py");
    assert_eq!(shown("**/v*.py"), "app/view.py");
    let body = repo.strata(&["prompt", "--select", "app/request.py#L4-5", "Hello"]).json();
    assert_eq!((times(&body, "request body"), times(&body, "One request.")), (1, 0));
}

#[test]
fn secrets_need_a_confirmation() {
    let repo = Repo::new(APP);
    repo.write("app/.env", "TOKEN=hunter2\n");
    let run = repo.strata(&["prompt", "--select", "app/.env", "Hello"]);
    expect![[r#"
        error: --select: `app/.env` needs confirmation: its name suggests secrets (.env); to select it, name it in confirmSecrets (--confirm-secrets on the command line)
    "#]].assert_eq(run.refusal());
    let run = repo.strata(&["prompt", "--select", "app", "Hello"]);
    assert_eq!(times(&run.json(), "hunter2"), 0);
    expect!["--select app skipped app/.env: its name suggests secrets (.env)"]
        .assert_eq(run.err.lines().next().unwrap());
    let confirmed = ["prompt", "--select", "app/.env", "--confirm-secrets", "app/.env", "Hello"];
    assert_eq!(times(&repo.strata(&confirmed).json(), "hunter2"), 1);
}

#[test]
fn errors_are_one_line() {
    let repo = Repo::new(APP);
    repo.write("image.png", b"\x89PNG\0");
    let select = |path| repo.strata(&["prompt", "--select", path, "Hello"]).refusal().to_owned();
    let elsewhere = if cfg!(windows) { r"C:\Windows\win.ini" } else { "/etc/passwd" };
    let refusals = [
        select("app/reqest.py"),
        select(elsewhere).replace(elsewhere, "ELSEWHERE"),
        select("image.png"),
        select("*.java"),
        repo.strata(&["prompt", "--exclude", "nothing.py", "Hello"]).refusal().to_owned(),
        repo.strata(&["prompt", "--repo", "nowhere", "Hello"]).refusal().to_owned(),
        repo.strata(&["prompt", "--repo", "notes.md", "Hello"]).refusal().to_owned(),
        repo.strata(&["prompt", " "]).refusal().to_owned(),
        repo.strata(&["prompt", "--repo", "app", "--select", "other.py", "Hello"]).refusal().to_owned(),
    ];
    expect![[r#"
        error: --select: `app/reqest.py` does not exist; did you mean `app/request.py`?
        error: --select: `ELSEWHERE`: it is outside the workspace folders
        error: --select: `image.png` is binary
        error: --select: no listed file matches `*.java`
        error: --exclude: `nothing.py` does not exist
        error: --repo: cannot open `nowhere`: No such file or directory (os error 2)
        error: --repo: `notes.md` is not a directory
        error: the prompt is empty; add text, an image or tool results
        error: --select: `other.py` does not exist (paths are relative to REPO/app)
    "#]]
    .assert_eq(&refusals.concat());
}

#[test]
fn relevant_code_is_added_to_a_question_without_selected_files() {
    let repo = Repo::new(APP);
    let run = repo.strata(&["prompt", "What does a view of a request do?"]);
    assert!(times(&run.json(), "view body") > 0, "{}", run.out);
    assert!(run.err.contains("chosen for") && run.err.contains("app/view.py#"), "{}", run.err);
    let none = repo.strata(&["prompt", "--auto", "0", "What does a view of a request do?"]);
    assert_eq!(times(&none.json(), "view body"), 0);
    let some =
        repo.strata(&["prompt", "--select", "app/request.py", "--auto", "500", "What does a view do?"]);
    assert!(times(&some.json(), "view body") > 0, "{}", some.out);
}

#[test]
fn piped_text_is_context_for_a_question() {
    let repo = Repo::new(APP);
    let ask = ["prompt", "--auto", "0", "What", "does", "this", "change?"];
    let run = repo.strata_with(b"+ a new line\n", &ask);
    let body = run.json();
    assert_eq!((times(&body, "+ a new line"), times(&body, "What does this change?")), (1, 1));
    assert!(run.err.starts_with("standard input (1 line) is part of the context\n"), "{}", run.err);
    let long = "x".repeat(150_000) + &"middle ".repeat(20_000) + &"y".repeat(50_000);
    let run = repo.strata_with(long.as_bytes(), &ask);
    assert!(
        run.err.starts_with("the text is long, so 140000 bytes in its middle were left out\n"),
        "{}",
        run.err
    );
    assert_eq!(times(&run.json(), "middle middle"), 0);
}

#[test]
fn the_format_follows_the_model_unless_it_is_chosen() {
    let repo = Repo::new(APP);
    let format = |arguments: &[&str]| {
        let reply = repo.strata(&[&["prompt", "--json"], arguments, &["Hello"]].concat()).json();
        reply["format"].as_str().unwrap().to_owned()
    };
    assert_eq!(format(&["--model", "gpt-5.1"]), "openai");
    assert_eq!(format(&["--model", "gemini-3-flash"]), "gemini");
    assert_eq!(format(&["--model", "claude-opus-4-7"]), "anthropic");
    assert_eq!(format(&["--model", "gpt-5.1", "--format", "responses"]), "responses");
    assert_eq!(format(&["--model", "gpt-5.1", "--set", "format=anthropic"]), "anthropic");
}

#[test]
fn a_body_for_anthropic_is_complete_and_can_be_written_to_a_file() {
    let repo = Repo::new(APP);
    let run = repo.strata(&["prompt", "-o", "body.json", "--auto", "1k", "Hello"]);
    assert_eq!((run.code, &*run.out), (Some(0), ""), "{}", run.err);
    let body: Value =
        serde_json::from_str(&std::fs::read_to_string(repo.folder().join("body.json")).unwrap()).unwrap();
    assert!(body["max_tokens"].as_u64().is_some_and(|tokens| tokens > 0), "{body}");
    assert!(repo.strata(&["prompt", "--auto", "many", "Hello"]).err.contains("a number, such as 4000 or 4k"));
}

#[test]
fn files_from_anywhere_and_images_are_attached() {
    let repo = Repo::new(APP);
    let outside = repo.folder().parent().unwrap();
    std::fs::write(outside.join("build.log"), "error: no such pump\n").unwrap();
    std::fs::write(
        outside.join("picture.png"),
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x08\0\0\0\x09\x08\x06\0\0\0",
    )
    .unwrap();
    std::fs::write(outside.join("program"), b"\x7fELF\0").unwrap();
    let attach = ["prompt", "--attach", "../build.log", "--attach", "../picture.png", "What failed?"];
    let run = repo.strata(&attach);
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(run.out.contains("no such pump") && run.out.contains("attached/build.log"), "{}", run.out);
    assert!(run.out.contains("\"media_type\":\"image/png\""), "{}", run.out);
    let run = repo.strata(&["prompt", "--attach", "../program", "What is it?"]);
    assert!(run.refusal().contains("../program: is neither text nor an image"), "{}", run.err);
    let run = repo.strata(&["prompt", "--attach", "../nowhere", "What is it?"]);
    assert!(run.refusal().contains("../nowhere: "), "{}", run.err);
}

#[test]
fn a_deselected_file_is_no_longer_shown_in_full() {
    let repo = Repo::new(APP);
    let run = repo.strata(&["prompt", "--auto", "0", "--select", "app", "--deselect", "app/view.py", "Why?"]);
    assert!(run.out.contains("request body") && !run.out.contains("view body"), "{}", run.out);
}
