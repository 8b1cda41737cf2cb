//! Tests with real repositories, including broken ones as they occur in practice.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use proptest::prelude::*;
use strata_base::cancel::Cancel;
use strata_code::excerpts::LineAges;
use strata_conversation::trace::{SelectionRule, Trace};
use strata_prompt::trust::Trust;

use super::history::History;
use super::limits::MAX_COMMITS;
use super::testing::{FileState, TestRepo};
use super::*;

#[cfg(unix)]
mod foreign;

fn facts_of(folder: &Path) -> GitFacts {
    git_facts(folder, Trust::Untrusted, &Cancel::new()).unwrap().unwrap()
}

fn branch_of(folder: &Path) -> Option<String> {
    current_branch(folder, Trust::Untrusted).unwrap()
}

fn assert_recency(folder: &Path, expected: &[(&str, u32)]) {
    let expected: BTreeMap<String, u32> =
        expected.iter().map(|&(path, age)| (path.to_owned(), age)).collect();
    assert_eq!(facts_of(folder).recency, expected);
}

fn sessions_of(repository: &Path, sessions: usize, turns: usize) -> Vec<Trace> {
    let options = TraceOptions { sessions, turns, seed: 1 };
    super::extract_traces(repository, &options, &Cancel::new(), |_, _| {}).unwrap()
}

/// Makes three commits: a.py, then b/c.py, then b/d.py with a new a.py.
fn three_commits(repo: &mut TestRepo) -> [gix::ObjectId; 3] {
    [
        repo.commit("first", &[("a.py", "1\n"), ("e.py", "1\n")]),
        repo.commit("second", &[("b/c.py", "1\n")]),
        repo.commit("third", &[("b/d.py", "1\n"), ("a.py", "2\n")]),
    ]
}

#[test]
fn recency_counts_commits_since_the_last_touch() {
    let mut repo = TestRepo::new();
    three_commits(&mut repo);
    assert_recency(repo.folder(), &[("a.py", 0), ("b/c.py", 1), ("b/d.py", 0), ("e.py", 2)]);
    let paths: Vec<Vec<String>> =
        facts_of(repo.folder()).commits.into_iter().map(|commit| commit.paths).collect();
    assert_eq!(paths[..2], [vec!["a.py".to_owned(), "b/d.py".to_owned()], vec!["b/c.py".to_owned()]]);
    assert_eq!(branch_of(repo.folder()).as_deref(), Some("main"));
    // A move counts as a change of the new path. The old path is not listed, nor are its earlier changes.
    repo.commit_changes("move", &[("e.py", FileState::Deleted), ("f.py", FileState::Text("1\n"))]);
    assert_recency(repo.folder(), &[("a.py", 1), ("b/c.py", 2), ("b/d.py", 1), ("f.py", 0)]);
    // Making a file executable also counts as a change.
    repo.commit_changes("mode", &[("b/c.py", FileState::Program("1\n"))]);
    assert_recency(repo.folder(), &[("a.py", 2), ("b/c.py", 0), ("b/d.py", 2), ("f.py", 1)]);
}

#[test]
fn lines_have_the_age_of_the_commit_that_added_them() {
    let mut repo = TestRepo::new();
    repo.commit("first", &[("a.py", "first = 1\n"), ("b.py", "first = 1\n")]);
    repo.commit("second", &[("a.py", "first = 1\nsecond = 2\n")]);
    repo.commit("third", &[("c.py", "third = 3\n")]);
    let mut expected = BTreeMap::from(["a.py", "c.py"].map(|path| (path.to_owned(), LineAges::default())));
    expected.get_mut("a.py").unwrap().add_change(1, "first = 1\n");
    expected.get_mut("c.py").unwrap().add_change(0, "");
    assert_eq!(facts_of(repo.folder()).line_ages, expected);
}

#[test]
fn a_merge_counts_as_one_commit_with_the_changes_of_its_branch() {
    let mut repo = TestRepo::new();
    let [_, second, _] = three_commits(&mut repo);
    repo.merge("merge", second, &[("side.py", "1\n")]);
    assert_recency(repo.folder(), &[("a.py", 1), ("b/c.py", 2), ("b/d.py", 1), ("e.py", 3), ("side.py", 0)]);
}

#[test]
fn the_commits_of_a_merged_branch_are_returned_instead_of_the_merge() {
    let mut repo = TestRepo::new();
    let [_, second, _] = three_commits(&mut repo);
    repo.merge("merge", second, &[("side.py", "1\n")]);
    let commits = facts_of(repo.folder()).commits;
    let mut subjects: Vec<&str> = commits.iter().map(|commit| commit.subject.as_str()).collect();
    subjects.sort_unstable();
    assert_eq!(subjects, ["first", "second", "side", "third"]);
    let side = commits.iter().find(|commit| commit.subject == "side").unwrap();
    assert_eq!(side.paths, ["side.py"]);
}

#[test]
fn only_the_newest_commits_are_read() {
    let mut repo = TestRepo::new();
    repo.commit("first", &[("old.py", "1\n")]);
    repo.commit("second", &[("edge.py", "1\n")]);
    for number in 0..MAX_COMMITS - 1 {
        repo.commit("more", &[("a.py", &number.to_string())]);
    }
    assert_recency(repo.folder(), &[("a.py", 0), ("edge.py", MAX_COMMITS - 1)]);
    assert!(facts_of(repo.folder()).committed.unwrap().contains("old.py"));
}

#[test]
fn a_folder_below_the_top_has_its_own_paths() {
    let mut repo = TestRepo::new();
    three_commits(&mut repo);
    for folder in ["b", "none/of/them", "a.py"] {
        fs::create_dir_all(repo.folder().join(folder)).unwrap();
    }
    assert_recency(&repo.folder().join("b"), &[("c.py", 1), ("d.py", 0)]);
    let files = facts_of(&repo.folder().join("b")).committed;
    assert_eq!(files, Some(["c.py", "d.py"].map(str::to_owned).into()));
    assert_recency(&repo.folder().join("none/of/them"), &[]);
    assert_recency(&repo.folder().join("a.py"), &[]);
    assert_eq!(branch_of(&repo.folder().join("none/of")).as_deref(), Some("main"));
}

#[test]
fn a_bare_repository_has_facts_of_its_top_only() {
    let mut repo = TestRepo::new_bare();
    three_commits(&mut repo);
    assert_recency(repo.folder(), &[("a.py", 0), ("b/c.py", 1), ("b/d.py", 0), ("e.py", 2)]);
    assert_recency(&repo.folder().join("refs"), &[]);
    assert_eq!(sessions_of(repo.folder(), 1, 9).len(), 1);
}

#[test]
fn a_directory_outside_a_repository_has_no_facts() {
    let repo = TestRepo::new();
    let plain = repo.create_sibling("plain");
    assert_eq!(git_facts(&plain, Trust::Untrusted, &Cancel::new()).unwrap(), None);
    assert_eq!(git_facts(&plain.join("missing"), Trust::Untrusted, &Cancel::new()).ok(), Some(None));
    let outcome = super::extract_traces(&plain, &TraceOptions::default(), &Cancel::new(), |_, _| {});
    assert!(matches!(outcome, Err(GitError::NoRepository(_))), "{outcome:?}");
    // A directory named `.git` that is not a repository.
    fs::create_dir(plain.join(".git")).unwrap();
    assert_eq!(git_facts(&plain, Trust::Untrusted, &Cancel::new()).unwrap(), None);
}

#[test]
fn before_the_first_commit_only_the_branch_is_known() {
    let repo = TestRepo::new();
    let nothing = GitFacts { committed: Some(BTreeSet::new()), ..GitFacts::default() };
    assert_eq!((facts_of(repo.folder()), branch_of(repo.folder()).as_deref()), (nothing, Some("main")));
    assert_eq!(sessions_of(repo.folder(), 4, 40), []);
}

#[test]
fn a_detached_head_has_no_branch_name() {
    let mut repo = TestRepo::new();
    three_commits(&mut repo);
    repo.detach_head();
    assert_eq!((branch_of(repo.folder()), facts_of(repo.folder()).recency.len()), (None, 4));
}

#[test]
fn a_linked_work_tree_has_its_own_branch() {
    let mut repo = TestRepo::new();
    let [_, second, _] = three_commits(&mut repo);
    let folder = repo.create_sibling("linked");
    let private = repo.git_dir().join("worktrees/linked");
    repo.write_in_git_dir("refs/heads/topic", &format!("{second}\n"));
    repo.write_in_git_dir("worktrees/linked/HEAD", "ref: refs/heads/topic\n");
    repo.write_in_git_dir("worktrees/linked/commondir", "../..\n");
    repo.write_in_git_dir("worktrees/linked/gitdir", &format!("{}\n", folder.join(".git").display()));
    fs::write(folder.join(".git"), format!("gitdir: {}\n", private.display())).unwrap();
    assert_recency(&folder, &[("a.py", 1), ("b/c.py", 0), ("e.py", 1)]);
    assert_eq!(branch_of(&folder).as_deref(), Some("topic"));
}

#[test]
fn a_shallow_clone_yields_fewer_facts() {
    let mut repo = TestRepo::new();
    let [first, second, _] = three_commits(&mut repo);
    repo.write_in_git_dir("shallow", &format!("{second}\n"));
    repo.delete_object(first);
    // The changes of the oldest available commit are unknown, since its parent is missing.
    assert_recency(repo.folder(), &[("a.py", 0), ("b/d.py", 0)]);
    let traces = sessions_of(repo.folder(), 1, 9);
    assert_eq!(traces[0].turns.iter().map(|turn| turn.prompt.as_str()).collect::<Vec<_>>(), ["third"]);
    assert_eq!(traces[0].recency, BTreeMap::new());
    assert_eq!(traces[0].files0.len(), 3);
}

#[test]
fn a_missing_tree_ends_the_history_and_a_missing_commit_is_an_error() {
    let mut repo = TestRepo::new();
    let [first, _, third] = three_commits(&mut repo);
    repo.delete_object(repo.tree_at(first));
    assert_recency(repo.folder(), &[("a.py", 0), ("b/d.py", 0)]);
    repo.delete_object(third);
    for outcome in [git_facts(repo.folder(), Trust::Untrusted, &Cancel::new()).map(drop), {
        super::extract_traces(repo.folder(), &TraceOptions::default(), &Cancel::new(), |_, _| {}).map(drop)
    }] {
        let error = outcome.unwrap_err();
        assert!(matches!(error, GitError::Unreadable { .. }), "{error}");
        assert!(error.to_string().contains("cannot read the git repository"), "{error}");
    }
}

#[test]
fn a_damaged_repository_is_an_error() {
    let mut repo = TestRepo::new();
    let [.., third] = three_commits(&mut repo);
    let hex = third.to_string();
    let object = repo.git_dir().join("objects").join(&hex[..2]).join(&hex[2..]);
    fs::remove_file(&object).unwrap();
    fs::write(&object, "not deflated").unwrap();
    assert!(git_facts(repo.folder(), Trust::Untrusted, &Cancel::new()).is_err());
    repo.write_in_git_dir("refs/heads/main", "no id\n");
    assert!(git_facts(repo.folder(), Trust::Untrusted, &Cancel::new()).is_err());
}

#[test]
fn links_submodules_and_non_utf8_paths_are_skipped() {
    let mut repo = TestRepo::new();
    three_commits(&mut repo);
    repo.commit_changes("link", &[("link.py", FileState::Link("a.py")), ("module.py", FileState::Submodule)]);
    repo.commit_raw_path(b"\xff.py", "1\n");
    repo.commit_changes("becomes a link", &[("e.py", FileState::Link("a.py"))]);
    assert_recency(repo.folder(), &[("a.py", 3), ("b/c.py", 4), ("b/d.py", 3)]);
    let committed = facts_of(repo.folder()).committed;
    let expected = ["a.py", "b/c.py", "b/d.py", "e.py", "link.py", "module.py"].map(str::to_owned);
    assert_eq!(committed, Some(expected.into()));
    let traces = sessions_of(repo.folder(), 1, 9);
    let last = traces[0].turns.last().unwrap();
    assert_eq!((last.prompt.as_str(), &last.edits), ("becomes a link", &[("e.py".to_owned(), None)].into()));
}

/// A path as Git's configuration spells it, where a backslash begins an escape.
fn in_config(path: &Path) -> String {
    path.display().to_string().replace('\\', "/")
}

#[test]
fn settings_cannot_move_the_work_tree_over_other_files() {
    let mut repo = TestRepo::new();
    three_commits(&mut repo);
    let elsewhere = repo.create_sibling("elsewhere");
    repo.write_in_git_dir("config", &format!("[core]\nbare = false\nworktree = {}\n", in_config(&elsewhere)));
    assert_eq!(git_facts(repo.folder(), Trust::Untrusted, &Cancel::new()).unwrap(), None);
}

#[test]
fn settings_that_name_programs_and_files_are_not_followed() {
    let mut repo = TestRepo::new();
    three_commits(&mut repo);
    let marker = repo.create_sibling("out").join("marker");
    let touch = format!("touch {}", in_config(&marker));
    let elsewhere = repo.create_sibling("elsewhere");
    repo.write_in_git_dir("included", &format!("[core]\nworktree = {}\n", in_config(&elsewhere)));
    repo.write_in_git_dir(
        "config",
        &format!(
            "[core]\nbare = false\nfsmonitor = {touch}\nsshCommand = {touch}\npager = {touch}\n\
             [include]\npath = included\n[filter \"x\"]\nclean = {touch}\nsmudge = {touch}\nprocess = {touch}\n\
             [diff]\nexternal = {touch}\n"
        ),
    );
    repo.write_in_git_dir("info/attributes", "* filter=x\n");
    assert_recency(repo.folder(), &[("a.py", 0), ("b/c.py", 1), ("b/d.py", 0), ("e.py", 2)]);
    assert!(!sessions_of(repo.folder(), 1, 9).is_empty());
    assert!(!marker.exists());
}

#[test]
fn trees_that_describe_too_many_files_end_the_history() {
    let mut repo = TestRepo::new();
    let first = repo.commit("first", &[("a.py", "1\n")]);
    let mut tree = repo.tree_at(first);
    for _ in 0..30 {
        tree = repo.tree_with_subtrees(tree, &["a", "b", "c", "d", "e", "f", "g", "h"]);
    }
    repo.commit_tree("many", tree, Some(first));
    assert_recency(repo.folder(), &[]);
    assert_eq!(facts_of(repo.folder()).committed, None);
    let outcome = super::extract_traces(repo.folder(), &TraceOptions::default(), &Cancel::new(), |_, _| {});
    assert!(matches!(outcome, Err(GitError::TooLarge)), "{outcome:?}");
}

#[test]
fn endlessly_nested_trees_end_the_history() {
    let mut repo = TestRepo::new();
    let first = repo.commit("first", &[("a.py", "1\n")]);
    let mut tree = repo.tree_at(first);
    for _ in 0..5_000 {
        tree = repo.tree_with_subtrees(tree, &["a"]);
    }
    repo.commit_tree("deep", tree, None);
    assert_recency(repo.folder(), &[]);
    assert_eq!(facts_of(repo.folder()).committed, None);
}

#[test]
fn trees_with_too_long_paths_end_the_history() {
    let mut repo = TestRepo::new();
    let first = repo.commit("first", &[("a.py", "1\n")]);
    let mut tree = repo.tree_at(first);
    // 32,768 files, with names of 3.7 KB each.
    for _ in 0..5 {
        tree = repo.tree_with_subtrees(tree, &["a", "b", "c", "d", "e", "f", "g", "h"]);
    }
    for _ in 0..15 {
        tree = repo.tree_with_subtrees(tree, &["n".repeat(250).as_str()]);
    }
    repo.commit_tree("long", tree, Some(first));
    assert_recency(repo.folder(), &[]);
    assert_eq!(facts_of(repo.folder()).committed, None);
}

#[test]
fn an_object_that_expands_beyond_the_limit_is_not_read() {
    let mut repo = TestRepo::new();
    let large = vec![b'0'; 65 << 20];
    let texts = [("a.txt", FileState::Text("1\n")), ("b.txt", FileState::Bytes(&large))];
    repo.commit_changes("first", &texts);
    let history = History::open(repo.folder()).unwrap();
    let newest = history.commit(history.head().unwrap().commit.unwrap()).unwrap().unwrap();
    let files = history.files(newest.tree, &Cancel::new()).unwrap();
    assert_eq!(history.blob_text(files["a.txt"], u64::MAX).unwrap().as_deref(), Some("1\n"));
    assert!(history.blob_text(files["b.txt"], u64::MAX).is_err());
}

#[test]
fn cancelled_work_ends() {
    let mut repo = TestRepo::new();
    three_commits(&mut repo);
    let cancel = Cancel::new();
    cancel.cancel();
    assert!(matches!(git_facts(repo.folder(), Trust::Untrusted, &cancel), Err(GitError::Cancelled(_))));
    let outcome = super::extract_traces(repo.folder(), &TraceOptions::default(), &cancel, |_, _| {});
    assert!(matches!(outcome, Err(GitError::Cancelled(_))));
}

#[test]
fn each_commit_becomes_a_turn() {
    let mut repo = TestRepo::new();
    repo.commit(
        "first",
        &[("a.py", "1\n2\n"), ("b.py", "1\n"), ("logo.svg", "<svg/>"), ("run", "#!/bin/python\n")],
    );
    repo.commit_changes(
        "Change a, drop b\n\nAdd c.\n",
        &[
            ("a.py", FileState::Text("1\n3\n")),
            ("b.py", FileState::Deleted),
            ("c.md", FileState::Text("new")),
            ("logo.svg", FileState::Text("-")),
        ],
    );
    let traces = sessions_of(repo.folder(), 1, 9);
    let [trace] = traces.as_slice() else { panic!("{traces:?}") };
    assert_eq!((trace.name.as_str(), trace.sel), ("work-0", SelectionRule::Window(3)));
    assert_eq!(trace.files0.keys().collect::<Vec<_>>(), ["a.py", "b.py", "run"]);
    assert_eq!(trace.recency.values().collect::<Vec<_>>(), [&0, &0, &0]);
    let [turn] = trace.turns.as_slice() else { panic!("{trace:?}") };
    assert_eq!(turn.prompt, "Change a, drop b\n\nAdd c.");
    assert_eq!(turn.touched, ["a.py", "b.py"]);
    let edits = [("a.py", Some("1\n3\n")), ("b.py", None), ("c.md", Some("new"))];
    assert_eq!(turn.edits, edits.map(|(path, text)| (path.to_owned(), text.map(str::to_owned))).into());
    expect_test::expect![[r#"
        Change a, drop b

        Add c.

        --- a/a.py
        +++ b/a.py
        @@ -1,2 +1,2 @@
         1
        -2
        +3

        --- a/b.py
        +++ /dev/null
        @@ -1 +0,0 @@
        -1

        --- /dev/null
        +++ b/c.md
        @@ -0,0 +1 @@
        +new
        \ No newline at end of file
    "#]]
    .assert_eq(&turn.answer);
}

#[test]
fn changes_of_skipped_commits_become_external_changes() {
    let mut repo = TestRepo::new();
    repo.commit("first", &[("a.py", "1\n"), ("b.py", "1\n"), ("c.py", "1\n")]);
    repo.commit("before any turn", &[("logo.svg", "<svg/>")]);
    repo.commit("turn", &[("a.py", "2\n")]);
    let names: Vec<String> = (0..11).map(|number| format!("{number}.py")).collect();
    let many: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "1\n")).collect();
    repo.commit("mass change", &many);
    repo.commit("enormous", &[("b.py", &"long line\n".repeat(5_000))]);
    repo.commit_changes("binary", &[("c.py", FileState::Bytes(b"\0\xff"))]);
    repo.commit("turn 2", &[("a.py", "3\n")]);
    let traces = sessions_of(repo.folder(), 1, 9);
    let turns = &traces[0].turns;
    let prompts: Vec<&str> = turns.iter().map(|turn| turn.prompt.as_str()).collect();
    // In a session, a file that is no longer text counts as deleted.
    assert_eq!(prompts, ["turn", "binary", "turn 2"]);
    assert_eq!(turns[0].ext.len(), 12);
    assert_eq!(turns[0].ext["b.py"].as_ref().map(String::len), Some(50_000));
    assert_eq!(turns[1].edits, [("c.py".to_owned(), None)].into());
}

#[test]
fn sessions_of_a_long_history_are_even_and_reported() {
    let mut repo = TestRepo::new();
    for number in 0..100 {
        repo.commit(&format!("commit {number}"), &[("a.py", &format!("{number}\n"))]);
    }
    let options = TraceOptions { sessions: 5, turns: 8, seed: 7 };
    let mut progress_calls = Vec::new();
    let make = |progress: &mut dyn FnMut(usize, usize)| {
        super::extract_traces(repo.folder(), &options, &Cancel::new(), progress).unwrap()
    };
    let traces = make(&mut |done, total| progress_calls.push((done, total)));
    assert_eq!(traces, make(&mut |_, _| {}));
    assert_eq!((progress_calls.first(), progress_calls.last()), (Some(&(1, 40)), Some(&(40, 40))));
    assert!(progress_calls.is_sorted());
    let rules: Vec<String> = traces.iter().map(|trace| trace.sel.to_string()).collect();
    assert_eq!(rules, ["win3", "win5", "grow", "win8", "win3"]);
    let prompts: BTreeSet<&str> =
        traces.iter().flat_map(|trace| &trace.turns).map(|turn| turn.prompt.as_str()).collect();
    assert_eq!(prompts.len(), 40);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_replayed_session_ends_with_the_files_of_the_last_commit(
        commits in proptest::collection::vec(
            proptest::collection::btree_map(0usize..14, proptest::option::of(0u8..4), 0..14), 2..20),
        turns in 1usize..30,
    ) {
        let mut repo = TestRepo::new();
        repo.commit("first", &[("start.py", "1\n")]);
        let mut files = BTreeMap::from([("start.py".to_owned(), "1\n".to_owned())]);
        let mut states = vec![files.clone()];
        for (number, commit) in commits.iter().enumerate() {
            let named: Vec<(String, Option<String>)> = commit
                .iter()
                .map(|(file, text)| {
                    // A file and a directory that alternate under one name.
                    let path = if *file == 13 { "f0.py/x.py".to_owned() } else { format!("f{file}.py") };
                    (path, text.map(|text| "line\n".repeat(text as usize)))
                })
                .filter(|(path, _)| path != "f0.py" || !commit.contains_key(&13))
                .collect();
            let mut changes = Vec::new();
            for (path, text) in &named {
                if text.is_some() {
                    let clash = if path == "f0.py" { "f0.py/x.py" } else { "f0.py" };
                    if path.starts_with("f0.py") && files.remove(clash).is_some() {
                        changes.push((clash, FileState::Deleted));
                    }
                }
                match text {
                    Some(text) => {
                        files.insert(path.clone(), text.clone());
                        changes.push((path.as_str(), FileState::Text(text)));
                    }
                    None => {
                        if files.remove(path).is_some() {
                            changes.push((path.as_str(), FileState::Deleted));
                        }
                    }
                }
            }
            repo.commit_changes(&format!("commit {number}"), &changes);
            states.push(files.clone());
        }
        for trace in sessions_of(repo.folder(), 2, turns) {
            prop_assert!(!trace.turns.is_empty() && trace.turns.len() <= turns);
            let mut current = trace.files0.clone();
            prop_assert!(states.contains(&current));
            for turn in &trace.turns {
                let existing: Vec<&String> = turn.edits.keys().filter(|path| current.contains_key(*path)).collect();
                prop_assert_eq!(turn.touched.iter().collect::<Vec<_>>(), existing);
                for (path, text) in turn.edits.iter().chain(&turn.ext) {
                    match text {
                        Some(text) => current.insert(path.clone(), text.clone()),
                        None => current.remove(path),
                    };
                }
                prop_assert!(states.contains(&current));
            }
            if trace.turns.len() < turns {
                prop_assert_eq!(&current, states.last().unwrap());
            }
        }
    }
}

/// A way to place a directory's repository elsewhere, with its name.
#[cfg(unix)]
type RedirectionCase<'a> = (&'a str, &'a dyn Fn(&Path));

/// A directory that merely refers to a repository must not expose its branch and file names.
#[cfg(unix)]
#[test]
fn a_repository_elsewhere_is_not_read_without_trust() {
    use std::os::unix::fs::symlink;

    let mut repo = TestRepo::new();
    three_commits(&mut repo);
    repo.check_out();
    let facts = |folder: &Path, trust| git_facts(folder, trust, &Cancel::new());
    let private = repo.git_dir().to_owned();
    let pointer =
        |folder: &Path| fs::write(folder.join(".git"), format!("gitdir: {}\n", private.display())).unwrap();
    let link = |folder: &Path| symlink(&private, folder.join(".git")).unwrap();
    let borrowed = |folder: &Path| {
        for part in ["objects/info", "refs/heads"] {
            fs::create_dir_all(folder.join(".git").join(part)).unwrap();
        }
        fs::write(folder.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(folder.join(".git/config"), "[core]\n\trepositoryformatversion = 0\n").unwrap();
        symlink(private.join("refs/heads/main"), folder.join(".git/refs/heads/main")).unwrap();
        let objects = format!("{}\n", private.join("objects").display());
        fs::write(folder.join(".git/objects/info/alternates"), objects).unwrap();
    };
    let redirections: [RedirectionCase<'_>; 3] =
        [("pointer", &pointer), ("link", &link), ("borrowed", &borrowed)];
    for (name, redirect) in redirections {
        let folder = repo.create_sibling(name);
        redirect(&folder);
        let error = facts(&folder, Trust::Untrusted).unwrap_err();
        assert!(matches!(error, GitError::Elsewhere { .. }), "{name}: {error}");
        assert!(current_branch(&folder, Trust::Untrusted).is_err(), "{name}");
        assert!(status(&folder, [].into_iter(), Trust::Untrusted, &Cancel::new()).is_err(), "{name}");
        let trusted = facts(&folder, Trust::Trusted).unwrap().unwrap();
        assert!(trusted.committed.unwrap().contains("a.py"), "{name}: not read in a trusted workspace");
        fs::create_dir(folder.join("below")).unwrap();
        assert!(facts(&folder.join("below"), Trust::Untrusted).is_err(), "{name}: read from a subdirectory");
    }
    assert!(facts(repo.folder(), Trust::Untrusted).unwrap().is_some());
}
