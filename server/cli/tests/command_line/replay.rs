//! `strata replay`.

use std::fs;

use expect_test::expect;
use serde_json::Value;

use crate::repo::Repo;

/// Creates a repository whose `project` has a history in which each commit changes one of three files.
fn with_history(commits: usize) -> Repo {
    let repo = Repo::new(&[]);
    let git = gix::init(repo.folder().join("project")).unwrap();
    let mut tree = gix::ObjectId::empty_tree(gix::hash::Kind::Sha1);
    let mut parent = None;
    for at in 0..commits {
        let mut editor = git.edit_tree(tree).unwrap();
        let names = if at == 0 { 0..3 } else { at % 3..at % 3 + 1 };
        for name in names {
            let body = "    # what it was before stays as it is\n".repeat(60);
            let text = format!("def f{name}(x):\n    return {at}\n{body}");
            let blob = git.write_blob(text).unwrap();
            editor.upsert(format!("m{name}.py"), gix::objs::tree::EntryKind::Blob, blob).unwrap();
        }
        tree = editor.write().unwrap().detach();
        let signature =
            gix::actor::Signature { name: "N".into(), email: "n".into(), time: Default::default() };
        let commit = gix::objs::Commit {
            tree,
            parents: parent.into_iter().collect(),
            author: signature.clone(),
            committer: signature,
            encoding: None,
            message: format!("Change number {at}").into(),
            extra_headers: Vec::new(),
        };
        parent = Some(git.write_object(&commit).unwrap().detach());
    }
    if let Some(newest) = parent {
        let head = git.head_name().unwrap().unwrap();
        let place = git.git_dir().join(head.as_bstr().to_string());
        fs::write(place, format!("{newest}\n")).unwrap();
    }
    repo
}

/// Removes times from the output, since they differ between runs.
fn without_times(out: &str) -> String {
    let mut text = String::new();
    let mut timed = false;
    for line in out.lines() {
        timed = line.starts_with("layout") || (timed && !line.is_empty());
        let line = if timed && !line.starts_with("layout") {
            let words: Vec<&str> = line.split_whitespace().collect();
            let text_words = words.len() - 1;
            let times = words[text_words..].iter().map(|time| if *time == "-" { "-" } else { "T" });
            words[..text_words].iter().copied().chain(times).collect::<Vec<_>>().join(" ")
        } else {
            line.to_owned()
        };
        text.push_str(&line);
        text.push('\n');
    }
    text
}

const SMALL: [&str; 8] =
    ["--workload", "windows", "--sessions", "2", "--turns", "5", "--model", "claude-sonnet-4-5"];

#[test]
fn a_git_history_is_replayed_as_tables_and_a_chart() {
    let repo = with_history(24);
    let run = repo.strata(&[&["replay", "--git", "project"], &SMALL[..]].concat());
    assert_eq!((run.code, &*run.err), (Some(0), ""));
    expect![[r#"
        Input cost relative to the same prompts without a cache, claude-sonnet-4-5

        session    turns  files  tokens   none   auto   flat  fixed  ripple  ledger  +list  bound
        project-0      5  win3    2,373  1.000  1.250  1.000  1.249   1.000   0.455  0.464  0.387
        project-1      5  win5    2,373  1.000  1.250  1.000  1.249   1.000   0.455  0.465  0.387
        mean                      2,373  1.000  1.250  1.000  1.249   1.000   0.455  0.464  0.387

        Means over 2 sessions

        layout                                cost  hits  tokens  per turn  first  length  worst  ms/turn
        no cache 1.000 0% 2,373 2,373 1,119 1.000 1.000 -
        one automatic breakpoint 1.250 0% 2,373 2,967 1,399 1.000 1.250 -
        flat, system breakpoint 1.000 0% 2,373 2,373 1,119 1.000 1.000 T
        fixed order, 3 breakpoints 1.249 0% 2,373 2,965 1,398 1.000 1.250 -
        ripple 1.000 0% 2,373 2,373 1,119 1.000 1.000 T
        ledger 0.455 73% 2,683 1,080 1,584 1.131 0.594 T
        ledger, file list and session state 0.464 72% 2,725 1,122 1,618 1.128 0.601 T
        bound 0.387 - - - - - - -

        no cache                    ################################################ 1.000
        one automatic breakpoint    ############################################################ 1.250
        flat, system breakpoint     ################################################ 1.000
        fixed order, 3 breakpoints  ############################################################ 1.249
        ripple                      ################################################ 1.000
        ledger                      ###################### 0.455
        bound                       ################### 0.387

        50 prompts of 10 turns checked: no promise was broken
    "#]]
    .assert_eq(&without_times(&run.out));
    assert!(run.out.lines().all(|line| line.chars().count() <= 100), "{}", run.out);
}

#[test]
fn replaying_exported_traces_gives_the_same_table() {
    let repo = with_history(24);
    let exported = repo.strata(&[&["replay", "--git", "project", "--export", "out"], &SMALL[..]].concat());
    assert_eq!(exported.err, "2 traces written to out\n");
    let names: Vec<_> =
        fs::read_dir(repo.folder().join("out")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
    let replayed = repo.strata(&["replay", "--trace", "out", "--model", "claude-sonnet-4-5"]);
    assert_eq!((replayed.code, &*replayed.err), (Some(0), ""));
    assert_eq!(without_times(&replayed.out), without_times(&exported.out));
}

#[test]
fn json_has_all_figures() {
    let repo = with_history(24);
    let reply = repo
        .strata(&[&["replay", "--git", "project", "--json", "--policy", "ledger"], &SMALL[..]].concat())
        .json();
    let session = &reply["sessions"][1];
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ");
    expect!["model sessions summary conversations conversationMeans prompts turns"].assert_eq(&keys(&reply));
    expect!["name selection turns columns bound gap everything cutShort"].assert_eq(&keys(session));
    expect!["none automatic flat fixed ledger"].assert_eq(&keys(&session["columns"]));
    expect!["share hitShare length turns tokens read written cost first worst nanos slowest"]
        .assert_eq(&keys(&session["columns"]["ledger"]));
    expect!["sessions lines everything bound"].assert_eq(&keys(&reply["summary"]));
    expect!["column cost hitShare meanTokens costATurn first length worst time"]
        .assert_eq(&keys(&reply["summary"]["lines"][0]));
    assert_eq!((&reply["turns"], &reply["prompts"]), (&10.into(), &40.into()));
    assert_eq!((&session["selection"], &session["turns"]), (&"win5".into(), &5.into()));
    assert_eq!(session["columns"]["none"]["share"], 1.0);
    let ledger = reply["summary"]["lines"].as_array().unwrap().last().unwrap();
    assert_eq!(ledger["column"], "ledger");
    assert!(ledger["time"]["slowest"].as_u64().unwrap() > 0);
}

#[test]
fn sessions_from_a_history_are_like_those_of_people_by_default() {
    let repo = with_history(200);
    let people = ["replay", "--git", "project", "--model", "claude-sonnet-4-5"];
    let run = repo.strata(&people);
    assert_eq!((run.code, &*run.err), (Some(0), ""));
    let sessions = run.out.lines().filter(|line| line.starts_with("project-")).count();
    assert_eq!(sessions, 20);
    assert!(run.out.contains("\nMeans over all turns of 20 sessions\n"), "{}", run.out);
    for option in [&["--explain"] as &[&str], &["--export", "out"]] {
        let refused = repo.strata(&[&people[..], &["--workload", "people"], option].concat());
        assert_eq!(refused.refusal(), "error: `--explain` and `--export` need `--workload windows`\n");
    }
}

#[test]
fn recorded_conversations_are_shown_with_their_bills() {
    let repo = Repo::new(&[]);
    let text = "word ".repeat(2_000);
    let line = |kind: &str, more: &str| {
        format!(r#"{{"type":"{kind}","message":{{"role":"{kind}","content":"{text}"{more}}}}}"#)
    };
    let usage = r#","usage":{"input_tokens":10,"cache_read_input_tokens":90}"#;
    let lines = [line("user", ""), line("assistant", usage), line("user", ""), line("assistant", "")];
    repo.write("talks/one.jsonl", lines.join("\n"));
    let run = repo.strata(&["replay", "--transcripts", "talks", "--model", "claude-sonnet-4-5"]);
    assert_eq!((run.code, &*run.err), (Some(0), ""));
    expect![[r#"
        Conversations without files, input cost relative to no cache, claude-sonnet-4-5

        conversation                turns  tokens  billed   auto  ledger  /auto  archival  /auto
        one                             2   4,932   0.190  0.957   0.957  1.000     0.957  1.000
        mean, and the worst ratios                  0.190  0.957   0.957  1.000     0.957  1.000

        6 prompts of 2 turns checked: no promise was broken
    "#]]
    .assert_eq(&run.out);
}

/// Returns a recording of an agent that edits files, with an error that is never resolved.
fn recorded(steps: usize) -> String {
    let line = |kind: &str, content: serde_json::Value| {
        serde_json::json!({ "type": kind, "message": { "role": kind, "content": content } }).to_string()
    };
    let mut lines = Vec::new();
    for step in 0..steps {
        let (id, path) = (format!("call_{step}"), format!("/home/me/src/file{}.rs", step % 10));
        let input = serde_json::json!({ "file_path": path, "old_string": "a", "new_string": "b" });
        let call = serde_json::json!({ "type": "tool_use", "id": id, "name": "Edit", "input": input });
        let output = format!("line {step} of what the tool said\n").repeat(60);
        let failed = step == 1;
        let result = serde_json::json!({ "type": "tool_result", "tool_use_id": id, "content": output, "is_error": failed });
        lines.push(line("user", format!("Please change the file number {step}").into()));
        lines.push(line("assistant", serde_json::json!([call])));
        lines.push(line("user", serde_json::json!([result])));
        lines.push(line("assistant", format!("The file number {step} is changed.").into()));
    }
    lines.join("\n")
}

#[test]
fn a_compaction_is_measured_after_every_message() {
    let repo = Repo::new(&[]);
    repo.write("talks/one.jsonl", recorded(12));
    repo.write("talks/two.jsonl", recorded(3));
    let arguments = ["replay", "--transcripts", "talks", "--compaction", "--model", "claude-sonnet-4-5"];
    let run = repo.strata(&arguments);
    assert_eq!((run.code, &*run.err), (Some(0), ""));
    assert!(run.out.lines().all(|line| line.chars().count() <= 100), "{}", run.out);
    // The last columns are token counts, which depend on the wording of the summaries, and times.
    let sized: Vec<String> = run
        .out
        .lines()
        .skip(3)
        .take(5)
        .map(|line| line.split_whitespace().take(4).collect::<Vec<_>>().join(" "))
        .collect();
    expect![[r#"
        topic 26 34 0
        continuation 44 16 0
        checkpoint 46 10 4
        rolling 28 32 0
        handoff 56 0 4"#]]
    .assert_eq(&sized.join("\n"));
    let rest: Vec<&str> = run.out.lines().skip(8).collect();
    expect![[r#"

        Percentage still mentioned after compaction; files by name / by full path

        profile              edited     both sides  requests  errors  in budget  violations
        topic         100.0 / 100.0  100.0 / 100.0     100.0   100.0      100.0           0
        continuation  100.0 / 100.0  100.0 / 100.0     100.0   100.0      100.0           0
        checkpoint    100.0 / 100.0  100.0 / 100.0     100.0   100.0      100.0           0
        rolling       100.0 / 100.0  100.0 / 100.0     100.0   100.0      100.0           0
        handoff       100.0 / 100.0  100.0 / 100.0     100.0   100.0      100.0           0

        200 compactions at 60 cuts, each checked against the rules of both providers: 0 violations"#]]
    .assert_eq(&rest.join("\n"));
}

#[test]
fn cuts_limits_the_number_of_measured_compactions() {
    let repo = Repo::new(&[]);
    repo.write("talks/one.jsonl", recorded(12));
    let arguments = ["replay", "--transcripts", "talks", "--compaction", "--cuts", "5", "--json"];
    let reply = repo.strata(&arguments).json();
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ");
    expect!["model cuts conversations profiles breaches"].assert_eq(&keys(&reply));
    expect!["name messages cuts profiles"].assert_eq(&keys(&reply["conversations"][0]));
    expect!["topic continuation checkpoint rolling handoff"].assert_eq(&keys(&reply["profiles"]));
    assert_eq!(reply["cuts"], serde_json::json!({ "atMost": 5 }));
    let handoff = &reply["conversations"][0]["profiles"]["handoff"];
    let counted = ["compacted", "notShorter", "nothingOld"].map(|key| handoff[key].as_u64().unwrap());
    assert_eq!(counted.iter().sum::<u64>(), 5);
    assert_eq!(handoff["fidelity"]["edited"]["full"]["of"], handoff["fidelity"]["edited"]["full"]["kept"]);
}

#[test]
fn a_session_that_cannot_be_replayed_is_reported_and_the_others_are_replayed() {
    let repo = with_history(12);
    repo.strata(&["replay", "--git", "project", "--export", "out", "--sessions", "1", "--turns", "3"]);
    repo.write(
        "out/a.json",
        r#"{"name": "nothing", "files0": {}, "recency": {}, "sel": "grow", "turns": []}"#,
    );
    let run = repo.strata(&["replay", "--trace", "out", "--policy", "flat"]);
    assert_eq!((run.code, &*run.err), (Some(1), "error: nothing: the session has no turns\n"));
    let last: Vec<&str> = run.out.lines().rev().take(2).collect();
    expect![[r#"
        [
            "3 prompts of 3 turns checked: 1 session not replayed to the end",
            "nothing was not replayed to the end: the session has no turns",
        ]
    "#]]
    .assert_debug_eq(&last);
}

#[test]
fn invalid_sources_are_reported() {
    let repo = with_history(0);
    repo.write("broken.json", "{");
    repo.write("none/x.txt", "");
    let error_for = |arguments: &[&str]| repo.strata(&[&["replay"], arguments].concat()).refusal().to_owned();
    expect![[r#"
        error: not a git repository: none
    "#]]
    .assert_eq(&error_for(&["--git", "none"]));
    expect![[r#"
        error: not a git repository: nowhere
    "#]]
    .assert_eq(&error_for(&["--git", "nowhere"]));
    expect![[r#"
        error: project: no usable commit (one that changes up to 10 source files); is the history empty or shallow?
    "#]].assert_eq(&error_for(&["--git", "project"]));
    expect![[r#"
        error: broken.json: not a trace: ?: EOF while parsing an object at line 1 column 1
    "#]]
    .assert_eq(&error_for(&["--trace", "broken.json"]));
    expect![[r#"
        error: none: found no trace (*.json, *.json.gz)
    "#]]
    .assert_eq(&error_for(&["--trace", "none"]));
    expect![[r#"
        error: nowhere: No such file or directory (os error 2)
    "#]]
    .assert_eq(&error_for(&["--trace", "nowhere"]));
    expect![[r#"
        error: none: found no transcript (*.jsonl) with an answer
    "#]]
    .assert_eq(&error_for(&["--transcripts", "none"]));
    for arguments in [
        &["replay"] as &[&str],
        &["replay", "--json"],
        &["replay", "--git", "project", "--policy", "best"],
        &["replay", "--git", "project", "--compaction"],
        &["replay", "--transcripts", "none", "--cuts", "3"],
    ] {
        let run = repo.strata(arguments);
        assert_eq!((run.code, &*run.out), (Some(2), ""), "{arguments:?}: {}", run.err);
    }
}
