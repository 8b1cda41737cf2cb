//! Places a link at every path that Strata creates or opens in its state and cache directories, and checks that no link
//! is followed. The link's target is not read, changed or created. Without the link, Strata does the same work
//! successfully.
//!
//! `STRATA_LONG=1` tests all combinations; `-- --nocapture` prints how many.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "test support outside of test functions")]

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::Arc;
use std::time::SystemTime;

use strata_base::hash::ContentHash;
use strata_conversation::history::{Message, MessageId, NewMessage, Role};
use strata_host::disk::Stamp;
use strata_host::outline_cache::{KnownFile, OutlineCache, OutlineUpdate};
use strata_host::placeholder_key;
use strata_host::preview_file::PreviewFiles;
use strata_host::store::{
    NewNote, NewSession, SessionAccess, SessionChange, SessionId, Store, StoreError, WorkspaceKey,
};
use strata_tokens::redaction::{PlaceholderKey, SecretRedactor};

/// Every path that Strata creates or opens below the state directory (`S`) and the cache directory (`C`). `H` is the
/// name of the workspace, and `P` the id of this process.
const NAMES: [&str; 33] = [
    "S/workspaces",
    "S/workspaces/H",
    "S/workspaces/H/folder.txt",
    "S/workspaces/H/locks",
    "S/workspaces/H/locks/opening",
    "S/workspaces/H/locks/session-a",
    "S/workspaces/H/locks/session-b",
    "S/workspaces/H/sessions.db",
    "S/workspaces/H/sessions.db-wal",
    "S/workspaces/H/sessions.db-shm",
    "S/workspaces/H/sessions.db-journal",
    "S/workspaces/H/sessions.suspect",
    "S/workspaces/H/sessions.damaged-1.db",
    "S/spill",
    "S/spill/lock",
    "S/spill/H",
    "S/spill/H/a",
    "S/spill/H/b",
    "S/spill/H/gone",
    "S/spill/H/a/00000000000000000000000000",
    "S/spill/elsewhere",
    "S/spill/elsewhere/a",
    "S/spill/elsewhere/a/00000000000000000000000000",
    "S/placeholder.key",
    "C/preview",
    "C/preview/a.md",
    "C/preview/a.P.half",
    "C/outlines",
    "C/outlines/lock",
    "C/outlines/outlines-1.db",
    "C/outlines/outlines-1.db-wal",
    "C/outlines/outlines-1.db-shm",
    "C/outlines/outlines-1.db-journal",
];

#[derive(Clone, Copy, PartialEq, Debug)]
enum Target {
    File,
    Directory,
    Missing,
    /// A device that never ends.
    Zero,
    /// A FIFO without a writer, which blocks whoever opens it for reading.
    Pipe,
    /// A file of another workspace.
    Ours,
    Itself,
}

/// How a link refers to its target.
#[derive(Clone, Copy, PartialEq, Debug)]
enum LinkKind {
    Absolute,
    Relative,
    /// Through another link.
    Around,
}

/// When a link is placed.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Moment {
    /// Before Strata creates anything.
    First,
    /// In place of an existing file or directory.
    Later,
}

const TARGETS: [Target; 7] = [
    Target::File,
    Target::Directory,
    Target::Missing,
    Target::Zero,
    Target::Pipe,
    Target::Ours,
    Target::Itself,
];

/// Content of the file outside. As long as a key.
const SECRET: &str = "this stands outside of the state";
/// A token that is replaced with a placeholder. Split so that secret scanners do not report this file.
const TOKEN: &str = concat!("gh", "p_9fK2mQ7xR4tV8bN1cL6zW3yH5jD0sGpEuTiX");

/// Name of a spilled output.
const OUTPUT: &str = "00000000000000000000000000";

/// A state directory, a cache directory, and a directory outside both.
struct World {
    _directory: tempfile::TempDir,
    top: PathBuf,
}

impl World {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let top = directory.path().canonicalize().unwrap();
        let world = Self { _directory: directory, top };
        for folder in ["work", "other", "S", "C", "outside/folder/a"] {
            fs::create_dir_all(world.at(folder)).unwrap();
        }
        for file in [
            "outside/file".to_owned(),
            "outside/folder/file".to_owned(),
            format!("outside/folder/{OUTPUT}"),
            format!("outside/folder/a/{OUTPUT}"),
        ] {
            fs::write(world.at(&file), SECRET).unwrap();
        }
        for open in ["outside/file", "outside/folder", "outside/folder/a"] {
            fs::set_permissions(world.at(open), fs::Permissions::from_mode(0o755)).unwrap();
        }
        // Avoids starting `mkfifo`, since a child process would hold locks taken by other tests in this process. On macOS,
        // where `rustix` cannot create a FIFO, a child process starts without them.
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{CWD, Mode, mkfifoat};

            mkfifoat(CWD, world.at("outside/pipe"), Mode::RUSR | Mode::WUSR).unwrap();
        }
        #[cfg(not(target_os = "linux"))]
        assert!(process::Command::new("mkfifo").arg(world.at("outside/pipe")).status().unwrap().success());
        world
    }

    fn at(&self, below: &str) -> PathBuf {
        self.top.join(below)
    }

    fn workspace(&self, folder: &str) -> WorkspaceKey {
        WorkspaceKey::for_folder(&self.at(folder)).unwrap()
    }

    fn name_of(&self, folder: &str) -> String {
        ContentHash::from_parts([self.at(folder).as_os_str().as_encoded_bytes()]).to_string()
    }

    /// Returns the path that a name stands for.
    fn path_of(&self, name: &str) -> PathBuf {
        let process = process::id().to_string();
        let parts =
            name.split('/').map(|part| if part == "H" { self.name_of("work") } else { part.to_owned() });
        self.at(&parts.collect::<Vec<_>>().join("/").replace(".P.", &format!(".{process}.")))
    }

    fn target(&self, target: Target, link: &Path) -> PathBuf {
        match target {
            Target::File => self.at("outside/file"),
            Target::Directory => self.at("outside/folder"),
            Target::Missing => self.at("outside/missing"),
            Target::Zero => "/dev/zero".into(),
            Target::Pipe => self.at("outside/pipe"),
            Target::Ours => self.at(&format!("S/workspaces/{}/sessions.db", self.name_of("other"))),
            Target::Itself => link.to_owned(),
        }
    }

    /// Places a link at the path that a name stands for.
    fn plant(&self, name: &str, target: Target, kind: LinkKind) -> PathBuf {
        let link = self.path_of(name);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        if link.symlink_metadata().is_ok() {
            // Move the existing entry to another location.
            fs::rename(&link, self.at("taken")).unwrap();
        }
        let target = self.target(target, &link);
        match kind {
            LinkKind::Absolute => symlink(target, &link).unwrap(),
            LinkKind::Relative => {
                let up = "../".repeat(link.components().count() - 2);
                symlink(Path::new(&up).join(target.strip_prefix("/").unwrap()), &link).unwrap();
            }
            LinkKind::Around => {
                symlink(target, self.at("around")).unwrap();
                symlink(self.at("around"), &link).unwrap();
            }
        }
        link
    }

    /// Returns the mode, modification time and content of everything outside.
    fn outside(&self) -> BTreeMap<PathBuf, (u32, SystemTime, Vec<u8>)> {
        let mut files = BTreeMap::new();
        let ours = self.at("S/workspaces").join(self.name_of("other"));
        let mut pending = vec![self.at("outside"), ours.join("sessions.db")];
        while let Some(path) = pending.pop() {
            let Ok(metadata) = path.symlink_metadata() else { continue };
            let is_pipe = metadata.file_type().is_fifo();
            let bytes = if metadata.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
            if metadata.is_dir() {
                pending.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            }
            let written = if is_pipe { SystemTime::UNIX_EPOCH } else { metadata.modified().unwrap() };
            files.insert(path, (metadata.mode(), written, bytes));
        }
        files
    }

    /// Uses all stored files. Returns a description of each problem, including content that was read from outside.
    fn use_everything(&self, times: u64) -> Vec<String> {
        let mut problems: Vec<String> = Vec::new();
        let mut check = |name: &str, result: Result<(), String>| {
            if let Err(error) = result {
                problems.push(format!("{name}: {error}"));
            }
        };
        check("store", self.use_store(times).map_err(|error| error.to_string()));
        check("key", self.use_key());
        let previews = PreviewFiles::in_cache(Some(self.at("C")));
        check("preview", previews.write("a", "a prompt").map(drop).map_err(|error| error.to_string()));
        let cache = OutlineCache::in_directory(self.at("C"));
        let stamp = Stamp { mtime_ns: 1, size: 2, identity: 3 };
        let read_files = vec![("a.rs".into(), KnownFile { stamp, hash: ContentHash::from_text("text") })];
        cache.save(&self.at("work"), &OutlineUpdate { read_files, ..OutlineUpdate::default() });
        check("cache", cache.size().map(drop).ok_or_else(|| "nothing is stored".to_owned()));
        problems
    }

    fn use_key(&self) -> Result<(), String> {
        let key = placeholder_key::read_or_create_key(&self.at("S")).map_err(|error| error.to_string())?;
        let screened = |key: PlaceholderKey| SecretRedactor::new(move || key).redact_text(TOKEN).into_owned();
        let outside = PlaceholderKey::new(SECRET.as_bytes().try_into().unwrap());
        assert_ne!(screened(outside), TOKEN, "the token is not recognized as a secret");
        assert_ne!(screened(key), screened(outside), "the key comes from outside");
        Ok(())
    }

    fn use_store(&self, times: u64) -> Result<(), StoreError> {
        let mut store = Store::open(&self.at("S"), &self.workspace("work"))?.store;
        let (a, b): (SessionId, SessionId) = ("a".parse()?, "b".parse()?);
        let handle = match store.open_session(&a, SessionAccess::Write) {
            Err(StoreError::NoSession(_)) => store.create(&session("a"))?,
            opened => opened?,
        };
        let id = MessageId(store.load_session(&a)?.next_id);
        let body = NewMessage::text(Role::User, format!("said {times}"));
        let appended = vec![Arc::new(Message { id, body })];
        store.commit(&handle, &SessionChange { appended, next_id: id.0 + 1, ..SessionChange::default() })?;
        let text = "a note".to_owned();
        store.add_note(&NewNote { text, tags: Vec::new(), session: None, created_ms: 0 })?;
        // Report errors later, so that they do not prevent the other checks.
        let spilled = store.spills.write(&a, b"an output");
        // The quota is too small for the existing outputs.
        let over_quota = store.spills.with_quota(12).write(&a, b"another one");
        for id in [&a, &b] {
            if let Ok(lines) = store.spills.read_lines(id, OUTPUT, 1, 10) {
                assert!(!lines.text.contains(SECRET), "{}", lines.text);
            }
        }
        drop(store.fork(&a, &session("b"), None)?);
        store.delete(&b)?;
        spilled.and(over_quota).map(drop)
    }
}

fn session(name: &str) -> NewSession {
    NewSession { id: name.parse().unwrap(), name: String::new(), created_ms: 0 }
}

#[test]
#[expect(clippy::print_stdout, reason = "prints the results of the run")]
fn no_planted_link_is_followed() {
    let mut planted = Vec::new();
    for name in NAMES {
        for target in TARGETS {
            for kind in [LinkKind::Absolute, LinkKind::Relative, LinkKind::Around] {
                for moment in [Moment::First, Moment::Later] {
                    planted.push((name, target, kind, moment));
                }
            }
        }
    }
    let all = planted.len();
    let per_name = all / NAMES.len();
    let mut tried = planted;
    if env::var_os("STRATA_LONG").is_none() {
        // One combination for each name, of another kind than the previous one.
        let chosen =
            tried.chunks(per_name).enumerate().map(|(number, of_name)| of_name[number * 11 % per_name]);
        tried = chosen.collect();
    }
    let mut refused = 0;
    for &(name, target, kind, moment) in &tried {
        let context = format!("{name} -> {target:?} ({kind:?}, {moment:?})");
        let world = World::new();
        drop(Store::open(&world.at("S"), &world.workspace("other")).unwrap());
        if moment == Moment::Later {
            assert_eq!(world.use_everything(1), [""; 0], "{context}");
        }
        let link = world.plant(name, target, kind);
        let before = world.outside();
        refused += usize::from(!world.use_everything(2).is_empty());
        assert_eq!(world.outside(), before, "{context}");
        // Strata may have set the link aside or replaced it.
        if link.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink()) {
            fs::remove_file(&link).unwrap();
        }
        assert_eq!(world.use_everything(3), [""; 0], "{context}, after its removal");
        assert_eq!(world.outside(), before, "{context}, after its removal");
    }
    println!("{} of {all} links planted: {refused} refused, the others replaced, 0 followed", tried.len());
}

#[test]
fn the_state_directory_may_be_a_link_of_the_user() {
    let world = World::new();
    fs::remove_dir(world.at("S")).unwrap();
    fs::create_dir(world.at("moved")).unwrap();
    symlink(world.at("moved"), world.at("S")).unwrap();
    assert_eq!(world.use_everything(1), [""; 0]);
    assert!(world.at("moved/placeholder.key").exists());
    assert_eq!(world.at("moved").metadata().unwrap().mode() & 0o777, 0o700);
}

#[test]
fn files_of_other_users_are_not_used() {
    const OTHER_USER: u32 = 12_345;
    let world = World::new();
    // Give the directory to another user if this process may do so; otherwise, use a directory that belongs to another
    // user.
    let directory = match std::os::unix::fs::chown(world.at("S"), Some(OTHER_USER), Some(OTHER_USER)) {
        Ok(()) => world.at("S"),
        Err(_) => PathBuf::from("/"),
    };
    let before = directory.metadata().unwrap();
    let error = Store::open(&directory, &world.workspace("work")).unwrap_err();
    let problem = "belongs to another user";
    assert_eq!(error, StoreError::NotPrivate { path: directory.clone(), problem });
    assert!(placeholder_key::read_or_create_key(&directory).is_err());
    let after = directory.metadata().unwrap();
    assert_eq!((after.mode(), after.modified().unwrap()), (before.mode(), before.modified().unwrap()));
}

#[test]
fn a_shared_temporary_directory_is_not_used() {
    let world = World::new();
    fs::set_permissions(world.at("S"), fs::Permissions::from_mode(0o1777)).unwrap();
    let error = Store::open(&world.at("S"), &world.workspace("work")).unwrap_err();
    assert_eq!(error, StoreError::NotPrivate { path: world.at("S"), problem: "is shared by all users" });
    assert_eq!(world.at("S").metadata().unwrap().mode() & 0o7777, 0o1777);
    assert_eq!(fs::read_dir(world.at("S")).unwrap().count(), 0);
}
