//! Repositories that say that they are somewhere else: names of files and branches, and texts of settings, of a
//! repository outside must not be told.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use e2e::{Editor, Repo, Setup};
use serde_json::{Value, json};

use super::workspace::{Field, NAME, TEXT};

/// Ways to make a `.git` in a folder so that it leads to a file, or a repository, outside.
type Trap = (&'static str, fn(folder: &Path, outside: &Path));

const TRAPS: &[Trap] = &[
    ("a link", |folder, outside| symlink(outside.join("private.git"), folder.join(".git")).unwrap()),
    ("a pointer", |folder, outside| {
        fs::write(folder.join(".git"), format!("gitdir: {}\n", outside.join("private.git").display()))
            .unwrap();
    }),
    ("a pointer to a text", |folder, outside| {
        symlink(outside.join("secret.txt"), folder.join(".git")).unwrap();
    }),
    ("its HEAD", |folder, outside| replaced(folder, "HEAD", &outside.join("secret.txt"))),
    ("its HEAD in a repository", |folder, outside| {
        replaced(folder, "HEAD", &outside.join("private.git/HEAD"));
    }),
    ("its branch", |folder, outside| replaced(folder, "refs/heads/main", &outside.join("secret.txt"))),
    ("its settings", |folder, outside| replaced(folder, "config", &outside.join("secret.txt"))),
    ("its index", |folder, outside| replaced(folder, "index", &outside.join("secret.txt"))),
    ("its packed branches", |folder, outside| {
        fs::remove_file(folder.join(".git/refs/heads/main")).unwrap_or_default();
        replaced(folder, "packed-refs", &outside.join("secret.txt"));
    }),
    ("its objects", |folder, outside| replaced(folder, "objects", &outside.join("private.git/objects"))),
    ("what it shares", |folder, outside| {
        ordinary(folder);
        fs::write(folder.join(".git/commondir"), format!("{}\n", outside.join("private.git").display()))
            .unwrap();
    }),
    ("included settings", |folder, outside| {
        ordinary(folder);
        let include = format!("[include]\n\tpath = {}\n", outside.join("secret.txt").display());
        fs::write(folder.join(".git/config"), include).unwrap();
    }),
    ("folders of its objects", |folder, outside| {
        ordinary(folder);
        objects_of_the_neighbour(folder, outside);
    }),
    ("a chain of branches", |folder, outside| {
        objects_of_the_neighbour(folder, outside);
        fs::remove_file(folder.join(".git/refs/heads/main")).unwrap();
        fs::write(folder.join(".git/refs/heads/main"), "ref: refs/heads/1\n").unwrap();
        fs::write(folder.join(".git/refs/heads/1"), "ref: refs/heads/2\n").unwrap();
        symlink(outside.join("private.git/refs/heads").join(NAME), folder.join(".git/refs/heads/2")).unwrap();
    }),
    ("its index, by a setting", |folder, outside| {
        objects_of_the_neighbour(folder, outside);
        let index = outside.join("private.git/index");
        let setting = format!("[gitoxide \"core\"]\n\tindexFile = {}\n", index.display());
        fs::write(folder.join(".git/config"), setting).unwrap();
    }),
    ("a bare repository beside a damaged one", |folder, outside| {
        fs::create_dir(folder.join(".git")).unwrap();
        for part in ["HEAD", "index", "objects", "refs"] {
            symlink(outside.join("private.git").join(part), folder.join(part)).unwrap();
        }
    }),
    ("its exclusions", |folder, outside| {
        ordinary(folder);
        fs::create_dir_all(folder.join(".git/info")).unwrap();
        symlink(outside.join("private.git/info/exclude"), folder.join(".git/info/exclude")).unwrap();
    }),
    ("ignore files", |folder, outside| {
        symlink(outside.join("private.git/info/exclude"), folder.join(".gitignore")).unwrap();
        symlink(outside.join("private.git/info/exclude"), folder.join(".strataignore")).unwrap();
    }),
    ("a pipe", |folder, _| {
        ordinary(folder);
        fs::remove_file(folder.join(".git/HEAD")).unwrap();
        let made = std::process::Command::new("mkfifo").arg(folder.join(".git/HEAD")).status();
        assert!(made.unwrap().success());
    }),
];

/// A repository without a commit.
fn ordinary(folder: &Path) {
    for part in ["objects/info", "refs/heads"] {
        fs::create_dir_all(folder.join(".git").join(part)).unwrap();
    }
    fs::write(folder.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(folder.join(".git/config"), "[core]\n\trepositoryformatversion = 0\n").unwrap();
}

/// One with a link instead of a part.
fn replaced(folder: &Path, part: &str, target: &Path) {
    ordinary(folder);
    let place = folder.join(".git").join(part);
    let _ = fs::remove_file(&place).or_else(|_| fs::remove_dir_all(&place));
    symlink(target, place).unwrap();
}

/// An ordinary repository whose branch is the newest commit of the repository outside, and whose objects are there too.
fn objects_of_the_neighbour(folder: &Path, outside: &Path) {
    ordinary(folder);
    let private = outside.join("private.git");
    fs::copy(private.join("refs/heads").join(NAME), folder.join(".git/refs/heads/main")).unwrap();
    for entry in fs::read_dir(private.join("objects")).unwrap() {
        let name = entry.unwrap().file_name();
        if name.len() == 2 {
            symlink(private.join("objects").join(&name), folder.join(".git/objects").join(name)).unwrap();
        }
    }
}

/// A repository outside whose branch, files and rules have the names that no one may see.
fn outside(top: &Repo) {
    top.write("outside/secret.txt", format!("[{TEXT}\n{TEXT} = {TEXT}\n"));
    let private = top.path("outside/private.git");
    let options = gix::open::Options::isolated();
    let kind = gix::create::Kind::Bare;
    let repository =
        gix::ThreadSafeRepository::init_opts(private, kind, gix::create::Options::default(), options);
    let repository = repository.unwrap().to_thread_local();
    let blob = repository.write_blob(TEXT).unwrap().detach();
    let entry = gix::objs::tree::Entry {
        mode: gix::objs::tree::EntryKind::Blob.into(),
        filename: format!("{NAME}.rs").into(),
        oid: blob,
    };
    let tree = repository.write_object(&gix::objs::Tree { entries: vec![entry] }).unwrap().detach();
    repository.index_from_tree(&tree).unwrap().write(gix::index::write::Options::default()).unwrap();
    let who = gix::actor::Signature {
        name: NAME.into(),
        email: NAME.into(),
        time: gix::date::Time::new(1_700_000_000, 0),
    };
    let commit = gix::objs::Commit {
        tree,
        parents: [].into_iter().collect(),
        author: who.clone(),
        committer: who,
        encoding: None,
        message: TEXT.into(),
        extra_headers: Vec::new(),
    };
    let commit = repository.write_object(&commit).unwrap().detach();
    top.write("outside/private.git/HEAD", format!("ref: refs/heads/{NAME}\n"));
    top.write(&format!("outside/private.git/refs/heads/{NAME}"), format!("{commit}\n"));
    top.write("outside/private.git/info/exclude", format!("{TEXT}[z-a]\n"));
}

fn look(editor: &mut Editor) -> usize {
    let commands: [(&str, Value); 6] = [
        ("server.reindex", json!({})),
        ("server.status", json!({})),
        ("symbols.map", json!({})),
        ("files.find", json!({})),
        ("prompt.preview", json!({})),
        ("prompt.assemble", json!({ "prompt": "?", "dryRun": true, "policy": "flat" })),
    ];
    for (command, argument) in &commands {
        let reply = editor.try_run(command, argument.clone());
        Field::check(command, &format!("{reply:?}"));
    }
    commands.len()
}

#[test]
fn a_foreign_repository_reveals_nothing() {
    let top = Repo::new("");
    outside(&top);
    let mut asked = 0;
    for (name, make) in TRAPS {
        let repo = top.folder(&format!("workspace of {name}"));
        repo.write("a.rs", "pub fn inside() {}\n");
        make(repo.root(), &top.path("outside"));
        let state = tempfile::tempdir().unwrap();
        let mut editor = Setup::new(&repo).state(state.path()).variable("STRATA_LOG", "trace").start();
        asked += look(&mut editor);
        editor.wait_until_indexed();
        asked += look(&mut editor);
        editor.server.heard("strata/warning").iter().for_each(|said| Field::check(name, &said.to_string()));
        editor.quit();
        Field::check(&format!("the log with {name}"), &editor.server.errors());
    }
    eprintln!("{} repositories that lead outside, {asked} requests: nothing from there", TRAPS.len());
}
