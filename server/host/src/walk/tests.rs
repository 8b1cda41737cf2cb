//! Tests of scans: which files are listed, by ignore rules, names and sizes.

#[cfg(unix)]
use std::fs;

use super::*;
use crate::testing::TestTree;

#[track_caller]
fn check_with(tree: &TestTree, options: &WalkOptions, expected: &[&str]) {
    let result = walk(&tree.roots(), options, &Cancel::new()).unwrap();
    let listed: Vec<String> = result.entries.iter().map(shown).collect();
    assert_eq!(listed, expected);
    assert_eq!(result.notes, []);
}

#[track_caller]
fn check(tree: &TestTree, expected: &[&str]) {
    check_with(tree, &WalkOptions::default(), expected);
}

fn shown(entry: &WalkEntry) -> String {
    match entry.name_only {
        None => entry.key.as_str().to_owned(),
        Some(NameOnlyReason::Secret(_)) => format!("{} secret", entry.key.as_str()),
        Some(NameOnlyReason::Hidden) => format!("{} hidden", entry.key.as_str()),
        Some(NameOnlyReason::TooLarge) => format!("{} large", entry.key.as_str()),
    }
}

#[test]
fn ignore_files_apply_without_a_repository() {
    let tree = TestTree::new(&[
        "root/a.rs",
        "root/b.log",
        "root/sub/c.log",
        "root/sub/keep.log",
        "root/d.tmp",
        "root/e.gen",
    ]);
    tree.write("root/.gitignore", "*.log\n");
    tree.write("root/sub/.gitignore", "!keep.log\n");
    tree.write("root/.ignore", "*.tmp\n");
    tree.write("root/.strataignore", "*.gen\n");
    check(
        &tree,
        &[
            ".gitignore hidden",
            ".ignore hidden",
            ".strataignore hidden",
            "a.rs",
            "sub/.gitignore hidden",
            "sub/keep.log",
        ],
    );
}

/// `ripgrep`, whose rules these were, takes each of them for something else.
#[test]
fn patterns_mean_what_they_mean_in_git() {
    let tree = TestTree::new(&["root/a", "root/b", "root/{a,b}", "root/c/d", "root/c/e"]);
    tree.write("root/.gitignore", "{a,b}\nc/*\n!\n!/c/e\n");
    check(&tree, &[".gitignore hidden", "a", "b", "c/e"]);
}

#[test]
fn ignore_files_above_the_root_apply_only_inside_a_repository() {
    let tree = TestTree::new(&["root/a.rs", "root/b.log"]);
    tree.write(".gitignore", "*.log\n");
    check(&tree, &["a.rs", "b.log"]);
    tree.write(".git/HEAD", "ref: refs/heads/main");
    check(&tree, &["a.rs"]);
}

#[test]
fn an_ignored_root_is_scanned_nevertheless() {
    let tree = TestTree::new(&["root/sub/a.rs", "root/sub/b.log", ".git/HEAD"]);
    tree.write(".gitignore", "root/\n*.log\n");
    check(&tree, &["sub/a.rs", "sub/b.log"]);
    tree.write(".gitignore", "root/*\n!root/sub/\n*.log\n");
    check(&tree, &["sub/a.rs"]);
}

#[test]
fn patterns_in_git_info_exclude_apply() {
    let tree = TestTree::new(&["root/a.rs", "root/private.txt", "root/.git/HEAD"]);
    tree.write("root/.git/info/exclude", "private.txt\n");
    check(&tree, &["a.rs"]);
}

#[test]
fn generated_directories_are_skipped() {
    let tree = TestTree::new(&[
        "root/a.rs",
        "root/node_modules/x.js",
        "root/web/node_modules/x.js",
        "root/pkg/__pycache__/x.py",
        "root/.venv/x.py",
        "root/my-env/pyvenv.cfg",
        "root/my-env/x.py",
        "root/cache/CACHEDIR.TAG",
        "root/cache/x",
        "root/target/x.rs",
        "root/crates/one/Cargo.toml",
        "root/crates/one/target/x.rs",
        "root/compiler/target/x86.rs",
        "root/go/go.mod",
        "root/go/vendor/x.go",
        "root/lib/vendor/x.js",
        "root/build/script.py",
        "root/.git/config",
        "root/sub/.git",
        "root/.hg/x",
        "root/.jj/x",
    ]);
    let listed = [
        "a.rs",
        "build/script.py",
        "compiler/target/x86.rs",
        "crates/one/Cargo.toml",
        "go/go.mod",
        "lib/vendor/x.js",
    ];
    check(&tree, &listed);
}

#[test]
fn hidden_secret_and_large_files_are_listed_by_name() {
    let tree = TestTree::new(&["root/a.rs", "root/.github/ci.yml", "root/.env", "root/tls/server.pem"]);
    tree.write("root/large.rs", "x".repeat(2000));
    tree.write("root/fits.rs", "x".repeat(1000));
    let options = WalkOptions { max_outline_bytes: 1000, ..WalkOptions::default() };
    let named = [
        ".env secret",
        ".github/ci.yml hidden",
        "a.rs",
        "fits.rs",
        "large.rs large",
        "tls/server.pem secret",
    ];
    check_with(&tree, &options, &named);
}

#[test]
fn the_users_own_patterns() {
    let tree = TestTree::new(&["root/a.rs", "root/a.snap", "root/docs/b.md", "root/docs/deep/c.md"]);
    let options =
        WalkOptions { exclude: vec!["*.snap".into(), "/docs/deep/".into()], ..WalkOptions::default() };
    check_with(&tree, &options, &["a.rs", "docs/b.md"]);
    let options =
        WalkOptions { exclude: vec!["docs/*".into(), "!/docs/deep/".into()], ..WalkOptions::default() };
    check_with(&tree, &options, &["a.rs", "a.snap", "docs/deep/c.md"]);
}

#[cfg(unix)]
#[test]
fn links_and_special_files_are_not_listed() {
    let tree = TestTree::new(&["root/src/a.rs", "outside/b.rs"]);
    tree.create_link("../outside", "root/outside");
    tree.create_link("../outside/b.rs", "root/b.rs");
    tree.create_link("src", "root/same");
    tree.create_link("src/a.rs", "root/a.rs");
    tree.create_link("..", "root/src/up");
    tree.create_fifo("root/fifo");
    check(&tree, &["src/a.rs"]);
}

#[test]
fn directories_beyond_the_maximum_depth_are_not_scanned() {
    let tree = TestTree::new(&[]);
    let folders = |count: usize| "d/".repeat(count);
    for (count, file) in [(128, "a.rs"), (129, "b.rs"), (140, "c.rs")] {
        tree.write(&format!("root/{}{file}", folders(count)), "");
    }
    let result = walk(&tree.roots(), &WalkOptions::default(), &Cancel::new()).unwrap();
    assert_eq!(result.entries.iter().map(shown).collect::<Vec<_>>(), [format!("{}a.rs", folders(128))]);
    let [ScanProblem { place, problem }] = &result.notes[..] else { panic!("{:?}", result.notes) };
    assert_eq!(format!("{place}/"), folders(129));
    assert!(problem.contains("128 directories"), "{problem}");
}

#[track_caller]
fn check_notes(tree: &TestTree, listed: &[&str], notes: &[(&str, &str)]) {
    let result = walk(&tree.roots(), &WalkOptions::default(), &Cancel::new()).unwrap();
    let code = result.entries.iter().map(shown).filter(|name| name.ends_with(".rs"));
    assert_eq!(code.collect::<Vec<_>>(), listed);
    let problems: Vec<(&str, &str)> =
        result.notes.iter().map(|note| (note.place.as_str(), note.problem.as_str())).collect();
    assert_eq!(problems.len(), notes.len(), "{problems:?}");
    for ((place, problem), (expected_place, expected_part)) in problems.iter().zip(notes) {
        assert!(place == expected_place && problem.contains(expected_part), "{place}: {problem}");
    }
}

#[test]
fn ignore_files_that_are_large_together_are_not_applied() {
    let tree = TestTree::new(&["root/a/a.rs", "root/a/b/b.rs", "root/a/b/c/c.rs", "root/d/d.rs"]);
    for folder in ["root", "root/a", "root/a/b", "root/d"] {
        tree.write(&format!("{folder}/.gitignore"), "x\n".repeat(50_000));
    }
    let listed = ["a/a.rs", "a/b/b.rs", "a/b/c/c.rs", "d/d.rs"];
    check_notes(
        &tree,
        &listed,
        &[("a/b/.gitignore", "is too large together with the ignore files above it")],
    );
}

#[test]
fn extracting_a_path_from_a_full_scan_equals_scanning_it() {
    let tree = TestTree::new(&[
        "root/a.rs",
        "root/a/b.rs",
        "root/a/c/d.rs",
        "root/a-b/e.rs",
        "root/f/",
        "other/g.rs",
    ]);
    for roots in [tree.roots(), tree.several_roots(&["root", "other"])] {
        let options = WalkOptions::default();
        let all = walk(&roots, &options, &Cancel::new()).unwrap();
        for name in
            ["a.rs", "a", "a/c", "a/c/d.rs", "a-b", "f", "g", "g.rs", "root", "root/a", "root/a.rs", "other"]
        {
            let key = FileKey::from(name);
            let alone = walk_subtree(&roots, &key, &options, &Cancel::new()).unwrap();
            assert_eq!(all.extract_subtree(&roots, &key), Some(alone), "{name}");
        }
    }
}

#[test]
fn nothing_is_extracted_from_a_scan_that_was_cut_short() {
    let tree = TestTree::new(&["root/a.rs", "root/b.rs"]);
    let options = WalkOptions { max_files: 1, ..WalkOptions::default() };
    let all = walk(&tree.roots(), &options, &Cancel::new()).unwrap();
    assert_eq!((all.entries.len(), all.extract_subtree(&tree.roots(), &"a.rs".into())), (1, None));
}

/// If this test hangs or uses all memory, one of the files was opened.
#[cfg(unix)]
#[test]
fn endless_ignore_files_are_not_opened() {
    let tree = TestTree::new(&[
        "root/a.rs",
        "root/zero/b.rs",
        "root/fifo/c.rs",
        "root/out/d.rs",
        "root/in/e.rs",
        "outside",
    ]);
    tree.create_link("/dev/zero", "root/zero/.strataignore");
    tree.create_fifo("root/fifo/.ignore");
    tree.create_link("../../outside", "root/out/.strataignore");
    tree.write("root/rules", "f.rs\n");
    tree.write("root/in/f.rs", "");
    tree.create_link("../rules", "root/in/.ignore");
    let outside = "is a link that leads out of the workspace folder; its rules are not applied";
    let fifo = "is not a regular file; its rules are not applied";
    check_notes(
        &tree,
        &["a.rs", "fifo/c.rs", "in/e.rs", "out/d.rs", "zero/b.rs"],
        &[("fifo/.ignore", fifo), ("out/.strataignore", outside), ("zero/.strataignore", outside)],
    );
}

/// Git reads no `.gitignore` that is a link.
#[cfg(unix)]
#[test]
fn a_gitignore_that_is_a_link_or_unreadable_is_reported_and_hides_nothing() {
    let tree = TestTree::new(&["root/a.rs", "root/b.rs", "root/sub/c.rs", "elsewhere/rules"]);
    tree.write("root/rules", "b.rs\n");
    tree.create_link("rules", "root/.gitignore");
    tree.write("root/sub/.gitignore/x", "");
    check_notes(
        &tree,
        &["a.rs", "b.rs", "sub/c.rs"],
        &[
            (".gitignore", "is a link, which Git does not follow"),
            ("sub/.gitignore", "is not a regular file"),
        ],
    );
    std::fs::remove_file(tree.path("root/.gitignore")).unwrap();
    tree.create_link("/dev/zero", "root/.gitignore");
    check_notes(
        &tree,
        &["a.rs", "b.rs", "sub/c.rs"],
        &[(".gitignore", "is a link"), ("sub/.gitignore", "is not a regular file")],
    );
}

/// The rules of one directory after another are small enough, and of all together too large.
#[test]
fn ignore_files_are_limited_in_total() {
    let names: Vec<String> = (0..12).map(|n| format!("root/{n:02}/a.rs")).collect();
    let tree = TestTree::new(&names.iter().map(String::as_str).collect::<Vec<_>>());
    for n in 0..12 {
        // A comment takes as many bytes as rules, and is read faster.
        tree.write(&format!("root/{n:02}/.gitignore"), format!("#{}\n", "x".repeat(255 << 10)));
    }
    let result = walk(&tree.roots(), &WalkOptions::default(), &Cancel::new()).unwrap();
    let texts = result.entries.iter().filter(|entry| entry.key.as_str().ends_with(".rs")).count();
    assert_eq!((texts, result.notes.len()), (12, 4));
    let problem =
        "is too large together with all ignore files of the workspace folder; its rules are not applied";
    assert!(result.notes.iter().all(|note| note.problem == problem), "{:?}", result.notes);
}

/// A `.git` file leads to a `commondir` file, and from there to `info/exclude`.
#[cfg(unix)]
#[test]
fn endless_files_behind_a_git_pointer_are_not_opened() {
    let tree =
        TestTree::new(&["root/a.rs", "root/fifo/b.rs", "root/zero/c.rs", "root/huge/d.rs", "root/fine/e.rs"]);
    for folder in ["fifo", "zero", "huge", "fine"] {
        let git_dir = tree.path(&format!("root/{folder}/x"));
        tree.write(&format!("root/{folder}/.git"), format!("gitdir: {}\n", git_dir.display()));
        tree.write(&format!("root/{folder}/x/commondir"), ".\n");
    }
    std::fs::remove_file(tree.path("root/fifo/x/commondir")).unwrap();
    tree.create_fifo("root/fifo/x/commondir");
    tree.write("root/zero/x/info/other", "");
    tree.create_link("/dev/zero", "root/zero/x/info/exclude");
    let pointer = std::fs::File::options().write(true).open(tree.path("root/huge/.git")).unwrap();
    pointer.set_len(1 << 40).unwrap();
    tree.write("root/fine/x/info/exclude", "/x/\nf.rs\n");
    tree.write("root/fine/f.rs", "");
    check_notes(
        &tree,
        &["a.rs", "fifo/b.rs", "fine/e.rs", "huge/d.rs", "zero/c.rs"],
        &[
            ("fifo/x/commondir", "is not a regular file"),
            ("huge/.git", "is larger than 8 KiB"),
            ("zero/x/info/exclude", "is not a regular file"),
        ],
    );
}

#[cfg(unix)]
#[test]
fn a_name_that_is_not_utf8_is_reported() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let tree = TestTree::new(&["root/a.rs"]);
    fs::write(tree.path("root").join(OsStr::from_bytes(b"\xff.rs")), "").unwrap();
    let result = walk(&tree.roots(), &WalkOptions::default(), &Cancel::new()).unwrap();
    assert_eq!((result.entries.len(), result.notes.len()), (1, 1), "{:?}", result.notes);
}

#[test]
fn several_and_nested_roots_list_each_file_once() {
    let tree = TestTree::new(&["outer/a.rs", "outer/inner/b.rs", "other/c.rs"]);
    let result = walk(
        &tree.several_roots(&["outer", "other", "outer/inner"]),
        &WalkOptions::default(),
        &Cancel::new(),
    );
    let keys: Vec<String> = result.unwrap().entries.iter().map(shown).collect();
    assert_eq!(keys, ["inner/b.rs", "other/c.rs", "outer/a.rs"]);
}

#[test]
fn a_missing_root_is_reported() {
    let tree = TestTree::new(&[]);
    let result = walk(&tree.several_roots(&["gone"]), &WalkOptions::default(), &Cancel::new()).unwrap();
    assert_eq!((result.entries.len(), result.notes.len()), (0, 1));
}

#[test]
fn a_walk_can_be_cancelled_and_cut_short() {
    let tree = TestTree::new(&["root/a.rs", "root/b.rs", "root/c.rs"]);
    let cancel = Cancel::new();
    cancel.cancel();
    assert_eq!(walk(&tree.roots(), &WalkOptions::default(), &cancel), Err(Cancelled));
    let options = WalkOptions { max_files: 2, ..WalkOptions::default() };
    let result = walk(&tree.roots(), &options, &Cancel::new()).unwrap();
    assert_eq!((result.entries.len(), result.notes.len()), (2, 1));
    check_with(&tree, &WalkOptions { max_files: 3, ..WalkOptions::default() }, &["a.rs", "b.rs", "c.rs"]);
}

#[test]
fn scanning_one_path_equals_the_same_part_of_a_full_scan() {
    let tree = TestTree::new(&[
        "root/a.rs",
        "root/src/b.rs",
        "root/src/c.log",
        "root/src/deep/d.rs",
        "root/target/e.rs",
    ]);
    tree.write("root/.gitignore", "*.log\n");
    let roots = tree.roots();
    let keys_at = |key: &str| -> Vec<String> {
        let result = walk_subtree(&roots, &key.into(), &WalkOptions::default(), &Cancel::new()).unwrap();
        result.entries.iter().map(shown).collect()
    };
    assert_eq!(keys_at("src/b.rs"), ["src/b.rs"]);
    assert_eq!(keys_at("src"), ["src/b.rs", "src/deep/d.rs"]);
    assert_eq!(keys_at("src/deep"), ["src/deep/d.rs"]);
    for nothing in ["src/c.log", "target/e.rs", "target", "missing.rs", "../a.rs", "src/b"] {
        assert_eq!(keys_at(nothing), Vec::<String>::new(), "{nothing}");
    }
}

#[test]
fn entries_have_the_same_stamp_as_a_read() {
    let tree = TestTree::new(&["root/a.rs"]);
    let roots = tree.roots();
    let result = walk(&roots, &WalkOptions::default(), &Cancel::new()).unwrap();
    assert_eq!(Ok(result.entries[0].stamp), crate::disk::stamp_of(&roots, &"a.rs".into()));
    assert_eq!(result.entries[0].stamp.size, "root/a.rs".len() as u64);
}
