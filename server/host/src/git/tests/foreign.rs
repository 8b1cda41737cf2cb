//! Repositories that lead into a repository next to them, as an attacker would make them. Without trust, no name and no
//! text from there may be reported.

use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use proptest::test_runner::TestRunner;

use super::*;

/// Part of all branches, files, subjects and texts of the neighbour, and of nothing else.
const SECRET: &str = "neighbour";

const BRANCH: &str = "refs/heads/neighbour-branch";

/// A private repository with a branch, commits, an index and files.
fn neighbour() -> TestRepo {
    let mut repo = TestRepo::new();
    repo.commit("neighbour 1", &[("neighbour-1.py", "neighbour 1\n"), ("neighbour/2.py", "neighbour 2\n")]);
    let newest = repo.commit("neighbour 2", &[("neighbour-1.py", "neighbour 3\n")]);
    repo.check_out();
    // Conflicts are reported even if the committed files are unknown.
    repo.change_index("neighbour-1.py", |entry| {
        entry.flags |= gix::index::entry::Flags::from_stage(gix::index::entry::Stage::Ours);
    });
    repo.write_in_git_dir(BRANCH, &format!("{newest}\n"));
    repo.write_in_git_dir("HEAD", &format!("ref: {BRANCH}\n"));
    repo.write_in_git_dir("info/exclude", "neighbour-3\n");
    repo.write_in_git_dir("packed-refs", &format!("{newest} {BRANCH}\n{newest} refs/heads/main\n"));
    repo
}

/// Everything that Strata reports about the repository of a folder.
fn report(folder: &Path, trust: Trust) -> String {
    let cancel = Cancel::new();
    let shown = |error: GitError| format!("{error} {error:?}");
    let facts = git_facts(folder, trust, &cancel).map_err(shown);
    let status = status(folder, ["own.py", "new.py"].into_iter(), trust, &cancel).map_err(shown);
    format!("{facts:?} {:?} {status:?}", current_branch(folder, trust).map_err(shown))
}

/// A step by which a repository is made to lead to its neighbour.
#[derive(Clone, Debug)]
enum Redirection {
    /// The entry with this number in the neighbour's directory, as a link at the same place.
    Link(usize),
    /// The branch in `HEAD` is a chain of references that ends with a link.
    Hops(usize),
    /// The branch is the neighbour's newest commit.
    Commit,
    /// Every directory of the neighbour's objects, as a link.
    Objects,
    /// The objects of the neighbour, in `objects/info/alternates`.
    Alternates { relative: bool },
    /// The neighbour's directory, in `commondir`.
    CommonDirectory,
    /// The neighbour's directory, in a `.git` file.
    GitFile,
    /// A `.git` file whose first line names a directory that names the work tree. The library reads all lines as one
    /// path, which is a link.
    TwoLines,
    /// A setting that names a file or directory of the neighbour, in `config` or `config.worktree`.
    Setting { number: usize, of_work_tree: bool },
    /// A pack of the neighbour, by its path in a multi-pack index.
    Pack,
    /// `.git` is damaged, and the folder itself is a bare repository with links.
    Bare,
}

fn redirection() -> impl Strategy<Value = Redirection> {
    prop_oneof![
        3 => Just(Redirection::Objects),
        6 => (0usize..1000).prop_map(Redirection::Link),
        2 => (0usize..6).prop_map(Redirection::Hops),
        2 => Just(Redirection::Commit),
        1 => any::<bool>().prop_map(|relative| Redirection::Alternates { relative }),
        1 => Just(Redirection::CommonDirectory),
        1 => Just(Redirection::GitFile),
        1 => Just(Redirection::TwoLines),
        3 => (0usize..8, any::<bool>())
            .prop_map(|(number, of_work_tree)| Redirection::Setting { number, of_work_tree }),
        1 => Just(Redirection::Pack),
        1 => Just(Redirection::Bare),
    ]
}

/// Returns all paths below a directory, relative to it.
fn entries(top: &Path) -> Vec<PathBuf> {
    let mut paths = vec![PathBuf::new()];
    for index in 0.. {
        let Some(below) = paths.get(index).cloned() else { break };
        let entries = fs::read_dir(top.join(&below)).into_iter().flatten().flatten();
        paths.extend(entries.map(|entry| below.join(entry.file_name())));
    }
    paths.sort();
    paths
}

/// Replaces a path with a link. Does nothing if a parent is a file or a link.
fn link(target: &Path, path: &Path) {
    let parent = path.parent().unwrap();
    let is_inside =
        |path: &Path| path.ancestors().skip(1).all(|at| at.symlink_metadata().is_ok_and(|at| at.is_dir()));
    if !parent.exists() {
        let _ = fs::create_dir_all(parent);
    }
    if !is_inside(path) {
        return;
    }
    let _ = fs::remove_file(path).or_else(|_| fs::remove_dir_all(path));
    symlink(target, path).unwrap();
}

/// Writes a file, but never into the neighbour's directory.
fn write(path: &Path, text: &str) {
    write_bytes(path, text.as_bytes());
}

fn write_bytes(path: &Path, bytes: &[u8]) {
    let is_inside = path.ancestors().skip(1).all(|at| at.symlink_metadata().is_ok_and(|at| at.is_dir()));
    if is_inside && !path.is_symlink() && !path.is_dir() {
        fs::write(path, bytes).unwrap();
    }
}

/// Makes the repository at `top` lead to its neighbour.
fn redirect(top: &Path, neighbour: &TestRepo, redirection: &Redirection) {
    let neighbour_git_dir = neighbour.git_dir();
    let git = top.join(".git");
    let newest = fs::read_to_string(neighbour_git_dir.join(BRANCH)).unwrap();
    match redirection {
        Redirection::Link(number) => {
            let all = entries(neighbour_git_dir);
            let entry = &all[number % all.len()];
            // A name that the attacker chose is not a secret.
            let name = entry.to_str().unwrap().replace("neighbour-branch", "main");
            let path = if name.is_empty() { git } else { git.join(name) };
            link(&neighbour_git_dir.join(entry), &path);
        }
        Redirection::Hops(hops) => {
            write(&git.join("HEAD"), "ref: refs/heads/0\n");
            for hop in 0..*hops {
                write(&git.join(format!("refs/heads/{hop}")), &format!("ref: refs/heads/{}\n", hop + 1));
            }
            link(&neighbour_git_dir.join(BRANCH), &git.join(format!("refs/heads/{hops}")));
        }
        Redirection::Commit => write(&git.join("refs/heads/main"), &newest),
        Redirection::Objects => {
            let objects = entries(&neighbour_git_dir.join("objects")).into_iter();
            for folder in objects.filter(|path| path.as_os_str().len() == 2) {
                link(&neighbour_git_dir.join("objects").join(&folder), &git.join("objects").join(folder));
            }
        }
        Redirection::Alternates { relative } => {
            let up = "../".repeat(git.components().count());
            let objects = neighbour_git_dir.join("objects");
            let objects =
                if *relative { format!("{up}{}", objects.display()) } else { objects.display().to_string() };
            write(&git.join("objects/info/alternates"), &format!("{objects}\n"));
        }
        Redirection::CommonDirectory => {
            write(&git.join("commondir"), &format!("{}\n", neighbour_git_dir.display()));
        }
        Redirection::GitFile => {
            let _ = fs::remove_file(&git).or_else(|_| fs::remove_dir_all(&git));
            write(&git, &format!("gitdir: {}\n", neighbour_git_dir.display()));
        }
        Redirection::TwoLines => {
            if git.is_dir() && fs::rename(&git, top.join("sub")).is_ok() {
                write(&top.join("sub/config"), "[core]\n\tworktree = ..\n");
                write(&git, "gitdir: sub\nx\n");
                link(neighbour_git_dir, &top.join("sub\nx"));
            }
        }
        Redirection::Setting { number, of_work_tree } => {
            let neighbour_git_dir = neighbour_git_dir.display();
            let settings = [
                format!("[gitoxide \"core\"]\n\tindexFile = {neighbour_git_dir}/index\n"),
                format!("[gitoxide \"core\"]\n\tshallowFile = {neighbour_git_dir}/packed-refs\n"),
                format!("[gitoxide \"objects\"]\n\treplaceRefBase = {neighbour_git_dir}/refs\n"),
                format!("[core]\n\tworktree = {}\n", neighbour.folder().display()),
                format!("[core]\n\texcludesFile = {neighbour_git_dir}/info/exclude\n"),
                format!("[core]\n\tattributesFile = {neighbour_git_dir}/info/exclude\n"),
                format!("[include]\n\tpath = {neighbour_git_dir}/config\n"),
                format!("[includeIf \"gitdir:**\"]\n\tpath = {neighbour_git_dir}/config\n"),
            ];
            let setting = &settings[number % settings.len()];
            let core = "[core]\n\trepositoryformatversion = 1\n\tbare = false\n";
            if *of_work_tree {
                write(&git.join("config"), &format!("{core}[extensions]\n\tworktreeConfig = true\n"));
                write(&git.join("config.worktree"), setting);
            } else {
                write(&git.join("config"), &format!("{core}{setting}"));
            }
        }
        Redirection::Pack => borrow_pack(top, neighbour),
        Redirection::Bare => {
            let _ = fs::remove_file(git.join("HEAD"));
            for name in ["HEAD", "index", "objects", "refs"] {
                link(&neighbour_git_dir.join(name), &top.join(name));
            }
        }
    }
}

fn own_repository() -> TestRepo {
    let mut repo = TestRepo::new();
    repo.commit("own", &[("own.py", "own\n")]);
    repo.check_out();
    repo
}

/// Copies a repository, which is faster than making one.
fn copy_of(repo: &TestRepo) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    for below in entries(repo.folder()) {
        let (from, to) = (repo.folder().join(&below), copy.path().join(&below));
        let _ = if from.is_dir() { fs::create_dir_all(to) } else { fs::copy(from, to).map(drop) };
    }
    copy
}

/// A repository of an attacker who knows the hash of the neighbour's newest tree.
fn attacker(neighbour: &TestRepo) -> TestRepo {
    let mut repo = own_repository();
    repo.commit_tree("own", neighbour.newest_tree(), None);
    repo
}

/// Nothing is rejected merely because it is unusual.
#[test]
fn a_repository_without_redirections_is_read() {
    let repo = own_repository();
    let newest = fs::read_to_string(repo.git_dir().join("refs/heads/main")).unwrap();
    let parts = (0usize..5, proptest::collection::vec("[a-z]{1,8}", 0..6));
    let mut runner =
        TestRunner::new(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(16) });
    let outcome = runner.run(&parts, |(hops, names)| {
        let copy = copy_of(&repo);
        let git = copy.path().join(".git");
        for name in names {
            fs::create_dir_all(git.join("x").join(&name)).unwrap();
            fs::write(git.join("x").join(&name).join("y"), "anything").unwrap();
        }
        fs::write(git.join("HEAD"), "ref: refs/heads/0\n").unwrap();
        for hop in 0..hops {
            fs::write(git.join(format!("refs/heads/{hop}")), format!("ref: refs/heads/{}\n", hop + 1))
                .unwrap();
        }
        fs::write(git.join(format!("refs/heads/{hops}")), &newest).unwrap();
        let facts = git_facts(copy.path(), Trust::Untrusted, &Cancel::new()).unwrap().unwrap();
        prop_assert_eq!(facts.committed, Some(["own.py".to_owned()].into()));
        Ok(())
    });
    outcome.unwrap();
}

/// `-- --nocapture` prints how many of the repositories would reveal something with trust.
#[expect(clippy::print_stderr, reason = "the test reports how strong it is")]
#[test]
fn no_redirection_reveals_the_neighbour() {
    let neighbour = neighbour();
    let repos = [own_repository(), attacker(&neighbour)];
    let (cases, revealing) =
        (if std::env::var_os("STRATA_LONG").is_some() { 20_000 } else { 48 }, AtomicU32::new(0));
    let mut runner =
        TestRunner::new(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases) });
    let steps = (0usize..2, proptest::collection::vec(redirection(), 1..6));
    let outcome = runner.run(&steps, |(repo, redirections)| {
        let copy = copy_of(&repos[repo]);
        for redirection in &redirections {
            redirect(copy.path(), &neighbour, redirection);
        }
        if report(copy.path(), Trust::Trusted).contains(SECRET) {
            revealing.fetch_add(1, Ordering::Relaxed);
        }
        let report = report(copy.path(), Trust::Untrusted);
        prop_assert!(!report.contains(SECRET), "{report}");
        Ok(())
    });
    outcome.unwrap();
    let revealing = revealing.into_inner();
    eprintln!(
        "{revealing} of {cases} repositories reveal their neighbour to a user who trusts them, none without trust"
    );
    assert!(revealing >= cases / 10, "the redirections lead nowhere: {revealing} of {cases}");
}

/// Each redirection that is known to work, alone, so that none hides behind another.
#[test]
fn each_redirection_is_rejected_or_ignored() {
    let neighbour = neighbour();
    let index = |of_work_tree| Redirection::Setting { number: 0, of_work_tree };
    let alternates = |relative| Redirection::Alternates { relative };
    let (own, attacker) = (own_repository(), attacker(&neighbour));
    let cases = [
        (&attacker, vec![Redirection::Objects]),
        (&attacker, vec![Redirection::Hops(2), Redirection::Objects]),
        (&attacker, vec![Redirection::Commit, Redirection::Objects]),
        (&attacker, vec![alternates(false)]),
        (&attacker, vec![alternates(true)]),
        (&attacker, vec![Redirection::CommonDirectory]),
        (&attacker, vec![Redirection::GitFile]),
        (&attacker, vec![Redirection::TwoLines]),
        (&own, vec![index(false)]),
        (&own, vec![index(true)]),
        (&own, vec![Redirection::Bare]),
        (&own, vec![Redirection::Pack]),
    ];
    for (repo, redirections) in cases {
        let copy = copy_of(repo);
        for redirection in &redirections {
            redirect(copy.path(), &neighbour, redirection);
        }
        let [trusted, untrusted] = [Trust::Trusted, Trust::Untrusted].map(|trust| report(copy.path(), trust));
        assert!(trusted.contains(SECRET), "{redirections:?} leads nowhere: {trusted}");
        assert!(!untrusted.contains(SECRET), "{redirections:?}: {untrusted}");
    }
}

/// Writes a multi-pack index that names a pack of the neighbour by its path, and makes the pack's first object, a
/// commit, the newest commit.
fn borrow_pack(top: &Path, neighbour: &TestRepo) {
    let id = |kind, bytes: &[u8]| gix::objs::compute_hash(gix::hash::Kind::Sha1, kind, bytes).unwrap();
    let hash = |bytes: &[u8]| {
        let mut hasher = gix::hash::hasher(gix::hash::Kind::Sha1);
        hasher.update(bytes);
        hasher.try_finalize().unwrap()
    };
    // The tree is the attacker's own, since a commit is only reported with the files that it changes.
    let file = id(gix::objs::Kind::Blob, b"own\n");
    let tree = id(gix::objs::Kind::Tree, &[b"100644 own.py\0", file.as_slice()].concat());
    let commit = format!("tree {tree}\nauthor a <a> 0 +0000\ncommitter a <a> 0 +0000\n\nneighbour 3\n");
    let id = id(gix::objs::Kind::Commit, commit.as_bytes());

    // The type and size of the object, and its content.
    let size = commit.len();
    let mut pack = b"PACK\0\0\0\x02\0\0\0\x01".to_vec();
    pack.push(0x90 | u8::try_from(size & 15).unwrap());
    pack.push(u8::try_from(size >> 4).unwrap());
    pack.extend(stored(commit.as_bytes()));
    pack.extend(hash(&pack).as_slice());
    let pack_path = neighbour.git_dir().join("objects/pack/pack-1.pack");
    fs::create_dir_all(pack_path.parent().unwrap()).unwrap();
    fs::write(&pack_path, pack).unwrap();

    let mut names = pack_path.with_extension("idx").to_str().unwrap().as_bytes().to_vec();
    names.resize(names.len() + 4 - names.len() % 4, 0);
    let first = usize::from(id.as_slice()[0]);
    let fanout: Vec<u8> = (0..256).flat_map(|byte| u32::from(byte >= first).to_be_bytes()).collect();
    let offsets = [0, 0, 0, 0, 0, 0, 0, 12];
    let chunks: [(&[u8; 4], &[u8]); 4] =
        [(b"PNAM", &names), (b"OIDF", &fanout), (b"OIDL", id.as_slice()), (b"OOFF", &offsets)];
    let mut index = b"MIDX\x01\x01\x04\0\0\0\0\x01".to_vec();
    let mut offset = index.len() as u64 + 5 * 12;
    for (name, chunk) in &chunks {
        index.extend(*name);
        index.extend(offset.to_be_bytes());
        offset += chunk.len() as u64;
    }
    index.extend([0; 4]);
    index.extend(offset.to_be_bytes());
    chunks.iter().for_each(|(_, chunk)| index.extend(*chunk));
    index.extend(hash(&index).as_slice());
    write_bytes(&top.join(".git/objects/pack/multi-pack-index"), &index);
    write(&top.join(".git/refs/heads/main"), &format!("{id}\n"));
}

/// Returns a zlib stream with the bytes as they are.
fn stored(bytes: &[u8]) -> Vec<u8> {
    let length = u16::try_from(bytes.len()).unwrap();
    let mut stream = vec![0x78, 0x01, 0x01];
    stream.extend(length.to_le_bytes());
    stream.extend((!length).to_le_bytes());
    stream.extend(bytes);
    let (a, b) = bytes.iter().fold((1u32, 0u32), |(a, b), byte| {
        let a = (a + u32::from(*byte)) % 65_521;
        (a, (b + a) % 65_521)
    });
    stream.extend((b << 16 | a).to_be_bytes());
    stream
}

/// A program can replace a part with a link between the check and the end of the reading, and put the part back.
#[test]
fn results_read_while_a_link_existed_are_discarded() {
    let repo = own_repository();
    let branch = repo.git_dir().join("refs/heads/main");
    let aside = repo.git_dir().join("refs/heads/aside");
    let mut reads = 0;
    let outcome = History::read(repo.folder(), Trust::Untrusted, |_| {
        reads += 1;
        if reads == 1 {
            fs::rename(&branch, &aside).unwrap();
            symlink("/", &branch).unwrap();
            fs::remove_file(&branch).unwrap();
            fs::rename(&aside, &branch).unwrap();
        }
        Ok(Some(reads))
    });
    assert_eq!(outcome.unwrap(), Some(2), "the first result was read while a link was there");
    let outcome = History::read(repo.folder(), Trust::Untrusted, |_| {
        if !branch.is_symlink() {
            fs::remove_file(&branch).unwrap();
            symlink("/", &branch).unwrap();
        }
        Ok(Some(()))
    });
    let link = NotContainedReason::Link("refs/heads/main".into());
    assert!(matches!(outcome, Err(GitError::Elsewhere { part, .. }) if part == link));
}

#[test]
fn a_repository_that_never_stops_changing_is_not_read() {
    let repo = own_repository();
    let mut reads = 0;
    let outcome = History::read(repo.folder(), Trust::Untrusted, |_| {
        reads += 1;
        repo.write_in_git_dir(&format!("refs/heads/{reads}"), "");
        Ok(Some(()))
    });
    assert!(matches!(outcome, Err(GitError::Changing(_))), "{outcome:?}");
    assert!(reads > 0);
}

#[test]
fn an_error_names_the_foreign_part_and_the_remedy() {
    let repo = own_repository();
    symlink("/", repo.git_dir().join("refs/a\nb\u{202e}")).unwrap();
    let error = git_facts(repo.folder(), Trust::Untrusted, &Cancel::new()).unwrap_err().to_string();
    let expected = r#": "refs/a\nb\u{202e}" is a link, which could lead outside; to read it anyway, trust the workspace"#;
    assert!(error.ends_with(expected), "{error}");
}
