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
use super::testing::{Now, Repo};
use super::*;

#[cfg(unix)]
mod foreign;

fn facts_of(folder: &Path) -> GitFacts {
    facts(folder, Trust::Untrusted, &Cancel::new()).unwrap().unwrap()
}

fn branch_of(folder: &Path) -> Option<String> {
    branch(folder, Trust::Untrusted).unwrap()
}

fn check(folder: &Path, expected: &[(&str, u32)]) {
    let expected: BTreeMap<String, u32> =
        expected.iter().map(|&(path, age)| (path.to_owned(), age)).collect();
    assert_eq!(facts_of(folder).recency, expected);
}

fn sessions_of(repository: &Path, sessions: usize, turns: usize) -> Vec<Trace> {
    let options = SessionOptions { sessions, turns, seed: 1 };
    super::sessions(repository, &options, &Cancel::new(), |_, _| {}).unwrap()
}

/// Makes three commits: a.py, then b/c.py, then b/d.py with a new a.py.
fn three_commits(repo: &mut Repo) -> [gix::ObjectId; 3] {
    [
        repo.commit("first", &[("a.py", "1\n"), ("e.py", "1\n")]),
        repo.commit("second", &[("b/c.py", "1\n")]),
        repo.commit("third", &[("b/d.py", "1\n"), ("a.py", "2\n")]),
    ]
}

#[test]
fn recency_counts_commits_since_the_last_touch() {
    let mut repo = Repo::new();
    three_commits(&mut repo);
    check(repo.folder(), &[("a.py", 0), ("b/c.py", 1), ("b/d.py", 0), ("e.py", 2)]);
    let paths: Vec<Vec<String>> = facts_of(repo.folder()).commits.into_iter().map(|it| it.paths).collect();
    assert_eq!(paths[..2], [vec!["a.py".to_owned(), "b/d.py".to_owned()], vec!["b/c.py".to_owned()]]);
    assert_eq!(branch_of(repo.folder()).as_deref(), Some("main"));
    // A move counts as a change of the new path. The old path is not listed, nor are its earlier changes.
    repo.commit_all("move", &[("e.py", Now::Gone), ("f.py", Now::Text("1\n"))]);
    check(repo.folder(), &[("a.py", 1), ("b/c.py", 2), ("b/d.py", 1), ("f.py", 0)]);
    // Making a file executable also counts as a change.
    repo.commit_all("mode", &[("b/c.py", Now::Program("1\n"))]);
    check(repo.folder(), &[("a.py", 2), ("b/c.py", 0), ("b/d.py", 2), ("f.py", 1)]);
}

#[test]
fn lines_have_the_age_of_the_commit_that_added_them() {
    let mut repo = Repo::new();
    repo.commit("first", &[("a.py", "first = 1\n"), ("b.py", "first = 1\n")]);
    repo.commit("second", &[("a.py", "first = 1\nsecond = 2\n")]);
    repo.commit("third", &[("c.py", "third = 3\n")]);
    let mut expected = BTreeMap::from(["a.py", "c.py"].map(|path| (path.to_owned(), LineAges::default())));
    expected.get_mut("a.py").unwrap().add(1, "first = 1\n");
    expected.get_mut("c.py").unwrap().add(0, "");
    assert_eq!(facts_of(repo.folder()).line_ages, expected);
}

#[test]
fn a_merge_is_one_commit_that_touches_what_its_branch_did() {
    let mut repo = Repo::new();
    let [_, second, _] = three_commits(&mut repo);
    repo.merge("merge", second, &[("side.py", "1\n")]);
    check(repo.folder(), &[("a.py", 1), ("b/c.py", 2), ("b/d.py", 1), ("e.py", 3), ("side.py", 0)]);
}

#[test]
fn what_a_branch_was_for_is_said_by_its_commits_and_not_by_the_merge() {
    let mut repo = Repo::new();
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
fn only_so_many_commits_are_looked_at() {
    let mut repo = Repo::new();
    repo.commit("first", &[("old.py", "1\n")]);
    repo.commit("second", &[("edge.py", "1\n")]);
    for number in 0..MAX_COMMITS - 1 {
        repo.commit("more", &[("a.py", &number.to_string())]);
    }
    check(repo.folder(), &[("a.py", 0), ("edge.py", MAX_COMMITS - 1)]);
    assert!(facts_of(repo.folder()).committed.unwrap().contains("old.py"));
}

#[test]
fn a_folder_below_the_top_has_its_own_paths() {
    let mut repo = Repo::new();
    three_commits(&mut repo);
    for folder in ["b", "none/of/them", "a.py"] {
        fs::create_dir_all(repo.folder().join(folder)).unwrap();
    }
    check(&repo.folder().join("b"), &[("c.py", 1), ("d.py", 0)]);
    let files = facts_of(&repo.folder().join("b")).committed;
    assert_eq!(files, Some(["c.py", "d.py"].map(str::to_owned).into()));
    check(&repo.folder().join("none/of/them"), &[]);
    check(&repo.folder().join("a.py"), &[]);
    assert_eq!(branch_of(&repo.folder().join("none/of")).as_deref(), Some("main"));
}

#[test]
fn a_bare_repository_has_facts_of_its_top_only() {
    let mut repo = Repo::bare();
    three_commits(&mut repo);
    check(repo.folder(), &[("a.py", 0), ("b/c.py", 1), ("b/d.py", 0), ("e.py", 2)]);
    check(&repo.folder().join("refs"), &[]);
    assert_eq!(sessions_of(repo.folder(), 1, 9).len(), 1);
}

#[test]
fn no_repository_has_no_facts() {
    let repo = Repo::new();
    let beside = repo.beside("plain");
    assert_eq!(facts(&beside, Trust::Untrusted, &Cancel::new()).unwrap(), None);
    assert_eq!(facts(&beside.join("missing"), Trust::Untrusted, &Cancel::new()).ok(), Some(None));
    let outcome = super::sessions(&beside, &SessionOptions::default(), &Cancel::new(), |_, _| {});
    assert!(matches!(outcome, Err(GitError::NoRepository(_))), "{outcome:?}");
    // A directory named `.git` that is not a repository.
    fs::create_dir(beside.join(".git")).unwrap();
    assert_eq!(facts(&beside, Trust::Untrusted, &Cancel::new()).unwrap(), None);
}

#[test]
fn before_the_first_commit_there_is_a_branch_only() {
    let repo = Repo::new();
    let nothing = GitFacts { committed: Some(BTreeSet::new()), ..GitFacts::default() };
    assert_eq!((facts_of(repo.folder()), branch_of(repo.folder()).as_deref()), (nothing, Some("main")));
    assert_eq!(sessions_of(repo.folder(), 4, 40), []);
}

#[test]
fn on_no_branch_there_is_no_name() {
    let mut repo = Repo::new();
    three_commits(&mut repo);
    repo.detach();
    assert_eq!((branch_of(repo.folder()), facts_of(repo.folder()).recency.len()), (None, 4));
}

#[test]
fn a_worktree_stands_on_its_own_branch() {
    let mut repo = Repo::new();
    let [_, second, _] = three_commits(&mut repo);
    let folder = repo.beside("linked");
    let private = repo.git_dir().join("worktrees/linked");
    repo.write("refs/heads/topic", &format!("{second}\n"));
    repo.write("worktrees/linked/HEAD", "ref: refs/heads/topic\n");
    repo.write("worktrees/linked/commondir", "../..\n");
    repo.write("worktrees/linked/gitdir", &format!("{}\n", folder.join(".git").display()));
    fs::write(folder.join(".git"), format!("gitdir: {}\n", private.display())).unwrap();
    check(&folder, &[("a.py", 1), ("b/c.py", 0), ("e.py", 1)]);
    assert_eq!(branch_of(&folder).as_deref(), Some("topic"));
}

#[test]
fn a_shallow_clone_says_less() {
    let mut repo = Repo::new();
    let [first, second, _] = three_commits(&mut repo);
    repo.write("shallow", &format!("{second}\n"));
    repo.forget(first);
    // The changes of the oldest available commit are unknown, since its parent is missing.
    check(repo.folder(), &[("a.py", 0), ("b/d.py", 0)]);
    let traces = sessions_of(repo.folder(), 1, 9);
    assert_eq!(traces[0].turns.iter().map(|turn| turn.prompt.as_str()).collect::<Vec<_>>(), ["third"]);
    assert_eq!(traces[0].recency, BTreeMap::new());
    assert_eq!(traces[0].files0.len(), 3);
}

#[test]
fn a_missing_tree_ends_the_history_and_a_missing_commit_is_an_error() {
    let mut repo = Repo::new();
    let [first, _, third] = three_commits(&mut repo);
    repo.forget(repo.tree_at(first));
    check(repo.folder(), &[("a.py", 0), ("b/d.py", 0)]);
    repo.forget(third);
    for outcome in [facts(repo.folder(), Trust::Untrusted, &Cancel::new()).map(drop), {
        super::sessions(repo.folder(), &SessionOptions::default(), &Cancel::new(), |_, _| {}).map(drop)
    }] {
        let error = outcome.unwrap_err();
        assert!(matches!(error, GitError::Unreadable { .. }), "{error}");
        assert!(error.to_string().contains("cannot read the git repository"), "{error}");
    }
}

#[test]
fn a_damaged_repository_is_an_error() {
    let mut repo = Repo::new();
    let [.., third] = three_commits(&mut repo);
    let hex = third.to_string();
    let object = repo.git_dir().join("objects").join(&hex[..2]).join(&hex[2..]);
    fs::remove_file(&object).unwrap();
    fs::write(&object, "not deflated").unwrap();
    assert!(facts(repo.folder(), Trust::Untrusted, &Cancel::new()).is_err());
    repo.write("refs/heads/main", "no id\n");
    assert!(facts(repo.folder(), Trust::Untrusted, &Cancel::new()).is_err());
}

#[test]
fn what_is_no_file_and_what_has_no_key_is_passed_over() {
    let mut repo = Repo::new();
    three_commits(&mut repo);
    repo.commit_all("link", &[("link.py", Now::Link("a.py")), ("module.py", Now::Submodule)]);
    repo.commit_bytes(b"\xff.py", "1\n");
    repo.commit_all("becomes a link", &[("e.py", Now::Link("a.py"))]);
    check(repo.folder(), &[("a.py", 3), ("b/c.py", 4), ("b/d.py", 3)]);
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
    let mut repo = Repo::new();
    three_commits(&mut repo);
    let elsewhere = repo.beside("elsewhere");
    repo.write("config", &format!("[core]\nbare = false\nworktree = {}\n", in_config(&elsewhere)));
    assert_eq!(facts(repo.folder(), Trust::Untrusted, &Cancel::new()).unwrap(), None);
}

#[test]
fn settings_that_name_programs_and_files_are_not_followed() {
    let mut repo = Repo::new();
    three_commits(&mut repo);
    let marker = repo.beside("out").join("marker");
    let touch = format!("touch {}", in_config(&marker));
    let elsewhere = repo.beside("elsewhere");
    repo.write("included", &format!("[core]\nworktree = {}\n", in_config(&elsewhere)));
    repo.write(
        "config",
        &format!(
            "[core]\nbare = false\nfsmonitor = {touch}\nsshCommand = {touch}\npager = {touch}\n\
             [include]\npath = included\n[filter \"x\"]\nclean = {touch}\nsmudge = {touch}\nprocess = {touch}\n\
             [diff]\nexternal = {touch}\n"
        ),
    );
    repo.write("info/attributes", "* filter=x\n");
    check(repo.folder(), &[("a.py", 0), ("b/c.py", 1), ("b/d.py", 0), ("e.py", 2)]);
    assert!(!sessions_of(repo.folder(), 1, 9).is_empty());
    assert!(!marker.exists());
}

#[test]
fn few_trees_that_stand_for_very_many_files_end_the_history() {
    let mut repo = Repo::new();
    let first = repo.commit("first", &[("a.py", "1\n")]);
    let mut tree = repo.tree_at(first);
    for _ in 0..30 {
        tree = repo.tree_of(tree, &["a", "b", "c", "d", "e", "f", "g", "h"]);
    }
    repo.commit_tree("many", tree, Some(first));
    check(repo.folder(), &[]);
    assert_eq!(facts_of(repo.folder()).committed, None);
    let outcome = super::sessions(repo.folder(), &SessionOptions::default(), &Cancel::new(), |_, _| {});
    assert!(matches!(outcome, Err(GitError::TooLarge)), "{outcome:?}");
}

#[test]
fn folders_without_end_end_the_history() {
    let mut repo = Repo::new();
    let first = repo.commit("first", &[("a.py", "1\n")]);
    let mut tree = repo.tree_at(first);
    for _ in 0..5_000 {
        tree = repo.tree_of(tree, &["a"]);
    }
    repo.commit_tree("deep", tree, None);
    check(repo.folder(), &[]);
    assert_eq!(facts_of(repo.folder()).committed, None);
}

#[test]
fn few_trees_with_long_names_end_the_history() {
    let mut repo = Repo::new();
    let first = repo.commit("first", &[("a.py", "1\n")]);
    let mut tree = repo.tree_at(first);
    // 32,768 files, with names of 3.7 KB each.
    for _ in 0..5 {
        tree = repo.tree_of(tree, &["a", "b", "c", "d", "e", "f", "g", "h"]);
    }
    for _ in 0..15 {
        tree = repo.tree_of(tree, &["n".repeat(250).as_str()]);
    }
    repo.commit_tree("long", tree, Some(first));
    check(repo.folder(), &[]);
    assert_eq!(facts_of(repo.folder()).committed, None);
}

#[test]
fn an_object_that_is_much_larger_than_it_looks_is_not_read() {
    let mut repo = Repo::new();
    let large = vec![b'0'; 65 << 20];
    let texts = [("a.txt", Now::Text("1\n")), ("b.txt", Now::Bytes(&large))];
    repo.commit_all("first", &texts);
    let history = History::open(repo.folder()).unwrap();
    let newest = history.commit(history.head().unwrap().commit.unwrap()).unwrap().unwrap();
    let files = history.files(newest.tree, &Cancel::new()).unwrap();
    assert_eq!(history.text(files["a.txt"], u64::MAX).unwrap().as_deref(), Some("1\n"));
    assert!(history.text(files["b.txt"], u64::MAX).is_err());
}

#[test]
fn work_that_nobody_waits_for_ends() {
    let mut repo = Repo::new();
    three_commits(&mut repo);
    let cancel = Cancel::new();
    cancel.cancel();
    assert!(matches!(facts(repo.folder(), Trust::Untrusted, &cancel), Err(GitError::Cancelled(_))));
    let outcome = super::sessions(repo.folder(), &SessionOptions::default(), &cancel, |_, _| {});
    assert!(matches!(outcome, Err(GitError::Cancelled(_))));
}

#[test]
fn a_commit_is_a_turn() {
    let mut repo = Repo::new();
    repo.commit(
        "first",
        &[("a.py", "1\n2\n"), ("b.py", "1\n"), ("logo.svg", "<svg/>"), ("run", "#!/bin/python\n")],
    );
    repo.commit_all(
        "Change a, drop b\n\nAdd c.\n",
        &[
            ("a.py", Now::Text("1\n3\n")),
            ("b.py", Now::Gone),
            ("c.md", Now::Text("new")),
            ("logo.svg", Now::Text("-")),
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
fn what_is_no_turn_comes_from_outside() {
    let mut repo = Repo::new();
    repo.commit("first", &[("a.py", "1\n"), ("b.py", "1\n"), ("c.py", "1\n")]);
    repo.commit("before any turn", &[("logo.svg", "<svg/>")]);
    repo.commit("turn", &[("a.py", "2\n")]);
    let names: Vec<String> = (0..11).map(|number| format!("{number}.py")).collect();
    let many: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "1\n")).collect();
    repo.commit("mass change", &many);
    repo.commit("enormous", &[("b.py", &"long line\n".repeat(5_000))]);
    repo.commit_all("binary", &[("c.py", Now::Bytes(b"\0\xff"))]);
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
    let mut repo = Repo::new();
    for number in 0..100 {
        repo.commit(&format!("commit {number}"), &[("a.py", &format!("{number}\n"))]);
    }
    let options = SessionOptions { sessions: 5, turns: 8, seed: 7 };
    let mut seen = Vec::new();
    let make = |progress: &mut dyn FnMut(usize, usize)| {
        super::sessions(repo.folder(), &options, &Cancel::new(), progress).unwrap()
    };
    let traces = make(&mut |done, total| seen.push((done, total)));
    assert_eq!(traces, make(&mut |_, _| {}));
    assert_eq!((seen.first(), seen.last()), (Some(&(1, 40)), Some(&(40, 40))));
    assert!(seen.is_sorted());
    let rules: Vec<String> = traces.iter().map(|trace| trace.sel.to_string()).collect();
    assert_eq!(rules, ["win3", "win5", "grow", "win8", "win3"]);
    let prompts: BTreeSet<&str> =
        traces.iter().flat_map(|trace| &trace.turns).map(|turn| turn.prompt.as_str()).collect();
    assert_eq!(prompts.len(), 40);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// For any history, a replayed session ends with the files of its last commit.
    #[test]
    fn a_replayed_session_ends_where_the_history_does(
        commits in proptest::collection::vec(
            proptest::collection::btree_map(0usize..14, proptest::option::of(0u8..4), 0..14), 2..20),
        turns in 1usize..30,
    ) {
        let mut repo = Repo::new();
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
                        changes.push((clash, Now::Gone));
                    }
                }
                match text {
                    Some(text) => {
                        files.insert(path.clone(), text.clone());
                        changes.push((path.as_str(), Now::Text(text)));
                    }
                    None => {
                        if files.remove(path).is_some() {
                            changes.push((path.as_str(), Now::Gone));
                        }
                    }
                }
            }
            repo.commit_all(&format!("commit {number}"), &changes);
            states.push(files.clone());
        }
        for trace in sessions_of(repo.folder(), 2, turns) {
            prop_assert!(!trace.turns.is_empty() && trace.turns.len() <= turns);
            let mut now = trace.files0.clone();
            prop_assert!(states.contains(&now));
            for turn in &trace.turns {
                let existing: Vec<&String> = turn.edits.keys().filter(|path| now.contains_key(*path)).collect();
                prop_assert_eq!(turn.touched.iter().collect::<Vec<_>>(), existing);
                for (path, text) in turn.edits.iter().chain(&turn.ext) {
                    match text {
                        Some(text) => now.insert(path.clone(), text.clone()),
                        None => now.remove(path),
                    };
                }
                prop_assert!(states.contains(&now));
            }
            if trace.turns.len() < turns {
                prop_assert_eq!(&now, states.last().unwrap());
            }
        }
    }
}

/// A way to place a directory's repository elsewhere, with its name.
#[cfg(unix)]
type Way<'a> = (&'a str, &'a dyn Fn(&Path));

/// A directory that merely refers to a repository must not expose its branch and file names.
#[cfg(unix)]
#[test]
fn without_trust_a_repository_that_lies_elsewhere_is_not_read() {
    use std::os::unix::fs::symlink;

    let mut repo = Repo::new();
    three_commits(&mut repo);
    repo.check_out();
    let facts = |folder: &Path, trust| facts(folder, trust, &Cancel::new());
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
    let ways: [Way<'_>; 3] = [("pointer", &pointer), ("link", &link), ("borrowed", &borrowed)];
    for (name, make) in ways {
        let folder = repo.beside(name);
        make(&folder);
        let error = facts(&folder, Trust::Untrusted).unwrap_err();
        assert!(matches!(error, GitError::Elsewhere { .. }), "{name}: {error}");
        assert!(branch(&folder, Trust::Untrusted).is_err(), "{name}");
        assert!(status(&folder, [].into_iter(), Trust::Untrusted, &Cancel::new()).is_err(), "{name}");
        let trusted = facts(&folder, Trust::Trusted).unwrap().unwrap();
        assert!(trusted.committed.unwrap().contains("a.py"), "{name}: not read in a trusted workspace");
        fs::create_dir(folder.join("below")).unwrap();
        assert!(facts(&folder.join("below"), Trust::Untrusted).is_err(), "{name}: read from a subdirectory");
    }
    assert!(facts(repo.folder(), Trust::Untrusted).unwrap().is_some());
}
