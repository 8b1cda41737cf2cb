//! Compares the list of files with Git's, on random trees with random rules: `git ls-files` says which files are tracked
//! or not ignored, and `git check-ignore` why. `STRATA_LONG=1` makes 10,000 trees instead of 200.
//!
//! Accepted differences, which the trees avoid: Strata lists no symbolic links, no directories that tools make
//! (`node_modules`) and no lock files; it lists the files of a repository inside another one by the rules of the inner
//! one, where Git names only its directory; and it applies `.ignore` and `.strataignore`, which Git does not know.
#![expect(clippy::unwrap_used, reason = "test support outside of test functions")]

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use e2e::{Rng, is_long};
use strata_base::cancel::Cancel;
use strata_host::roots::Roots;
use strata_host::walk::{WalkOptions, walk};
use strata_prompt::trust::Trust;

/// Names of files and directories. Some occur in patterns, and some look like patterns.
const NAMES: &[&str] = &[
    "a", "b", "ab", "abc", "a.c", "b.c", "x.log", "LOG", "a b", "a ", "{a,b}", "[ab]", "!a", "#a", "a*",
    "a?b", "a\\b", "ä", "-", "^", ".a", "a.b.c", "$a", "~",
];

/// Parts of patterns.
const PARTS: &[&str] = &[
    "a",
    "b",
    "ab",
    "c",
    "LOG",
    ".",
    "*",
    "*",
    "**",
    "?",
    "/",
    "/",
    "/",
    "!",
    "#",
    "\\",
    " ",
    "{a,b}",
    "{",
    "}",
    ",",
    "[ab]",
    "[!a]",
    "[^a]",
    "[a-c]",
    "[c-a]",
    "[[:alpha:]]",
    "[",
    "]",
    "[]a]",
    "[!]",
    "log",
    "x.",
    "ä",
    "\t",
    "\r",
    "$",
    "~",
    "-",
    "^",
];

struct Tree {
    _directory: tempfile::TempDir,
    top: PathBuf,
    files: Vec<String>,
    /// Ignore files, for the message of a failure.
    rules: Vec<(String, String)>,
    ignores_case: bool,
}

impl Tree {
    fn random(rng: &mut Rng) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let top = strata_host::roots::canonical(directory.path()).unwrap().join("work");
        // What `git init` makes, in less time.
        for folder in [".git/objects", ".git/refs", ".git/info"] {
            fs::create_dir_all(top.join(folder)).unwrap();
        }
        fs::write(top.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        let excludes = directory.path().join("excludes");
        let ignores_case = rng.once_in(4);
        let mut config =
            format!("[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tignoreCase = {ignores_case}\n");
        if rng.once_in(2) {
            config += &format!("\texcludesFile = {}\n", quoted(&excludes));
        }
        fs::write(top.join(".git/config"), config).unwrap();
        let mut tree =
            Self { _directory: directory, top, files: Vec::new(), rules: Vec::new(), ignores_case };
        let mut folders = vec![String::new()];
        for _ in 0..rng.below(4) {
            let folder = format!(
                "{}{}/",
                rng.one_of(&folders.iter().map(String::as_str).collect::<Vec<_>>()),
                name(rng)
            );
            if fs::create_dir_all(tree.top.join(&folder)).is_ok() {
                folders.push(folder);
            }
        }
        for _ in 0..1 + rng.below(8) {
            let folder = rng.one_of(&folders.iter().map(String::as_str).collect::<Vec<_>>());
            let file = format!("{folder}{}", name(rng));
            if fs::write(tree.top.join(&file), "").is_ok() && !tree.files.contains(&file) {
                tree.files.push(file);
            }
        }
        for _ in 0..1 + rng.below(3) {
            let folder = rng.one_of(&folders.iter().map(String::as_str).collect::<Vec<_>>());
            tree.write_rules(format!("{folder}.gitignore"), rng);
        }
        if rng.once_in(2) {
            tree.write_rules(".git/info/exclude".to_owned(), rng);
        }
        let rules = rules(rng);
        fs::write(excludes, &rules).unwrap();
        tree.rules.push(("core.excludesFile".to_owned(), rules));
        if rng.once_in(2) {
            let tracked: Vec<&str> =
                tree.files.iter().filter(|_| rng.once_in(3)).map(String::as_str).collect();
            if !tracked.is_empty() {
                tree.git(
                    &[
                        "--literal-pathspecs",
                        "add",
                        "--force",
                        "--pathspec-from-file=-",
                        "--pathspec-file-nul",
                    ],
                    &tracked,
                );
            }
        }
        tree
    }

    fn write_rules(&mut self, file: String, rng: &mut Rng) {
        let rules = rules(rng);
        fs::write(self.top.join(&file), &rules).unwrap();
        self.rules.push((file, rules));
    }

    fn git(&self, arguments: &[&str], input: &[&str]) -> BTreeSet<String> {
        git(&self.top, arguments, input)
    }

    /// Whether a rule contains a range that ends before it begins, and the tree ignores case. To Git, such a range
    /// matches nothing. gix-glob 0.29 also tries it the other way round (`wildmatch.rs`).
    fn has_reversed_range(&self) -> bool {
        self.ignores_case && self.rules.iter().any(|(_, rules)| rules.contains("c-a"))
    }

    fn ignored_by_git(&self) -> BTreeSet<String> {
        let files: Vec<&str> =
            self.files.iter().map(String::as_str).filter(|file| is_literal(file)).collect();
        self.git(&["check-ignore", "-z", "--stdin"], &files)
    }
}

/// Whether a path means only itself to `git check-ignore`, which reads its input as patterns of paths.
fn is_literal(file: &str) -> bool {
    !file.contains(['*', '?', '[', '\\'])
}

/// Runs Git with paths as its input, and returns the paths of its output.
fn git(folder: &Path, arguments: &[&str], input: &[&str]) -> BTreeSet<String> {
    let mut command = Command::new("git");
    command.current_dir(folder).args(["-c", "user.name=n", "-c", "user.email=e"]).args(arguments);
    command.env_remove("GIT_DIR").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut git = command.spawn().unwrap();
    let input: String = input.iter().flat_map(|path| [path, "\0"]).collect();
    git.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = git.wait_with_output().unwrap();
    // `check-ignore` ends with 1 if nothing is ignored.
    assert!(matches!(output.status.code(), Some(0 | 1)), "git {arguments:?}: {}", output.status);
    let output = String::from_utf8(output.stdout).unwrap();
    output.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect()
}

fn listed_by_git(folder: &Path) -> BTreeSet<String> {
    git(folder, &["ls-files", "-z", "--cached", "--others", "--exclude-standard"], &[])
}

fn listed(folder: &Path, trust: Trust) -> BTreeSet<String> {
    let options = WalkOptions { trust, ..WalkOptions::default() };
    let found = walk(&Roots::single(folder).unwrap(), &options, &Cancel::new()).unwrap();
    assert_eq!(found.notes, []);
    found.entries.iter().map(|entry| entry.key.as_str().to_owned()).collect()
}

fn name(rng: &mut Rng) -> &'static str {
    rng.one_of(NAMES)
}

fn quoted(path: &Path) -> String {
    format!("{:?}", path.display().to_string())
}

fn rules(rng: &mut Rng) -> String {
    let mut rules = String::new();
    if rng.once_in(12) {
        rules.push('\u{feff}');
    }
    for _ in 0..rng.below(5) {
        if rng.once_in(5) {
            rules.push('!');
        }
        match rng.below(3) {
            0 => rules.push_str(name(rng)),
            1 => rules.push_str(&format!("{}/{}", name(rng), rng.one_of(&["*", "**", "a", "**/b", ""]))),
            _ => (0..1 + rng.below(5)).for_each(|_| rules.push_str(rng.one_of(PARTS))),
        }
        rules.push_str(rng.one_of(&["\n", "\n", "\n", "\r\n", "/\n", " \n", "\\ \n"]));
    }
    if rng.once_in(6) {
        rules.push_str(name(rng));
    }
    rules
}

#[test]
fn files_are_listed_if_git_tracks_or_does_not_ignore_them() {
    let long = is_long();
    for seed in 0..if long { 10_000 } else { 200 } {
        let tree = Tree::random(&mut Rng::new(seed));
        if tree.has_reversed_range() {
            continue;
        }
        let listed = listed(&tree.top, Trust::Trusted);
        let context = || format!("tree {seed}: {:?}", tree.rules);
        assert_eq!(listed, listed_by_git(&tree.top), "listed by Strata, by Git; {}", context());
        let ignored: BTreeSet<String> =
            tree.files.iter().filter(|file| is_literal(file) && !listed.contains(*file)).cloned().collect();
        assert_eq!(ignored, tree.ignored_by_git(), "ignored by Strata, by Git; {}", context());
    }
}

/// The settings are those of the main repository, and name the patterns in an included file.
#[test]
fn excludes_file_of_a_linked_work_tree() {
    let directory = tempfile::tempdir().unwrap();
    let top = strata_host::roots::canonical(directory.path()).unwrap();
    let (main, linked) = (top.join("main"), top.join("linked"));
    fs::create_dir(&main).unwrap();
    git(&main, &["init", "--quiet"], &[]);
    git(&main, &["commit", "--quiet", "--allow-empty", "--message=m"], &[]);
    git(&main, &["worktree", "add", "--quiet", "../linked"], &[]);
    git(&main, &["config", "include.path", "more"], &[]);
    fs::write(main.join(".git/more"), format!("[core]\nexcludesFile = {}\n", quoted(&top.join("excludes"))))
        .unwrap();
    fs::write(top.join("excludes"), "*.log\n").unwrap();
    for folder in [&main, &linked] {
        fs::write(folder.join("a.log"), "").unwrap();
        fs::write(folder.join("b.txt"), "").unwrap();
        let expected = BTreeSet::from(["b.txt".to_owned()]);
        assert_eq!((listed(folder, Trust::Trusted), listed_by_git(folder)), (expected.clone(), expected));
    }
    // The settings of a repository can name any file, so they count only if the user trusts the workspace.
    assert!(listed(&linked, Trust::Untrusted).contains("a.log"));
}
