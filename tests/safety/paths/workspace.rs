//! A workspace folder with every kind of trap in it, and around it what must not come in.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use e2e::Repo;

/// Stands in every file outside.
pub(crate) const TEXT: &str = "CANARY_7f3a91";

/// Stands in names of files outside that no test ever asks for.
pub(crate) const NAME: &str = "unnamed_7f3a91";

/// The workspace folder: `ö` is one character here. Beside it is a folder whose `ö` is two.
pub(crate) const ROOT: &str = "r\u{f6}ot";

/// What is in the workspace folder.
const INSIDE: &[&str] = &[
    "a.rs",
    "src/lib.rs",
    "src/deep/mod.rs",
    "a b.txt",
    "[id].tsx",
    "caf\u{e9}.rs",
    "100%.txt",
    "c#.cs",
    "note: this.md",
    ".hidden",
    "..dots",
    "...",
    "%2e%2e/in.txt",
    "back\\slash.rs",
    "nested/inner.rs",
    "~/home.txt",
    "line\nbreak.txt",
];

/// Folders and files beside it that look alike.
const LOOKALIKES: &[&str] = &[
    "ro\u{308}ot",
    "R\u{d6}OT",
    "r\u{f6}ot-evil",
    "r\u{f6}ot ",
    "r\u{f6}ot.",
    "r\u{f6}o",
    "r\u{f6}ot\u{200b}",
    "\u{ff52}\u{f6}ot",
    "root",
];

/// Removed with everything in it when dropped.
pub(crate) struct Field {
    _socket: UnixListener,
    top: Repo,
}

/// Stands in the environment of the server, which `/proc` shows.
pub(crate) const VARIABLE: &str = "canary-in-the-environment";
/// What `/etc/passwd` says of the administrator.
const PASSWD: &str = "root:x:0:";

impl Field {
    pub(crate) fn new() -> Self {
        let top = Repo::new("");
        for file in INSIDE {
            top.write(&format!("{ROOT}/{file}"), format!("pub fn inside() {{}} // {file:?}\n"));
        }
        let secret = format!("pub fn {TEXT}() {{}}\n{TEXT} = '[broken {{ {TEXT}\n");
        for folder in LOOKALIKES.iter().chain(&["outside", "outside/sub"]) {
            for file in ["secret.txt", "a.rs", "src/lib.rs", &format!("{NAME}.rs"), &format!("{NAME}.md")] {
                top.write(&format!("{folder}/{file}"), &secret);
            }
        }
        top.write(&format!("{ROOT}less.txt"), &secret);
        let root = top.path(ROOT);
        for (target, link) in links(top.root()) {
            symlink(target, root.join(link)).unwrap();
        }
        for at in 0..60 {
            symlink(format!("long-{}", at + 1), root.join(format!("long-{at}"))).unwrap();
        }
        symlink("../outside/secret.txt", root.join("long-60")).unwrap();
        assert!(Command::new("mkfifo").arg(root.join("fifo")).status().unwrap().success());
        let socket = UnixListener::bind(root.join("socket")).unwrap();
        top.write("outside/shared.txt", "a text with two names\n");
        fs::hard_link(top.path("outside/shared.txt"), root.join("hard.txt")).unwrap();
        symlink(&root, top.path("other-name")).unwrap();
        Self { _socket: socket, top }
    }

    /// The folder around everything.
    pub(crate) fn top(&self) -> &Path {
        self.top.root()
    }

    /// The workspace folder.
    pub(crate) fn root(&self) -> PathBuf {
        self.top.path(ROOT)
    }

    /// The same as an editor opens it.
    pub(crate) fn repo(&self) -> Repo {
        self.top.folder(ROOT)
    }

    /// Fails when something of the outside stands in a text.
    #[track_caller]
    pub(crate) fn check(place: &str, text: &str) {
        for canary in [TEXT, NAME, VARIABLE, PASSWD] {
            assert!(!text.contains(canary), "{place} shows {canary}:\n{text}");
        }
    }
}

/// Links in the workspace folder: where to, and their names.
fn links(top: &Path) -> Vec<(PathBuf, &'static str)> {
    let outside = top.join("outside");
    let mut links: Vec<(PathBuf, &'static str)> = [
        ("../outside/secret.txt", "to-secret"),
        ("../../outside", "src/up"),
        ("/", "to-top"),
        ("/proc/self/root", "to-proc-root"),
        ("/proc/self", "proc"),
        ("/proc/self/cwd", "cwd"),
        ("/proc/self/environ", "environ"),
        ("/dev/zero", "zero"),
        ("/dev/fd", "fd"),
        ("/dev/stdin", "stdin"),
        ("/sys/kernel", "sys"),
        ("../r\u{f6}ot-evil", "evil"),
        ("../ro\u{308}ot", "decomposed"),
        ("one", "two"),
        ("two", "one"),
        ("self", "self"),
        ("self-folder/x", "self-folder"),
        ("chain-1", "chain-0"),
        ("src/../chain-2", "chain-1"),
        ("./to-outside/../outside/./sub", "chain-2"),
        ("nowhere", "dangling"),
        ("../nowhere", "dangling-up"),
        ("../outside/back", "zigzag"),
        ("a.rs", "link.rs"),
        ("src", "folder"),
        ("../other-name/src", "round-trip"),
        ("..", "parent"),
        ("../outside/", "slash"),
        ("fifo", "to-fifo"),
        ("../outside/secret.txt", "c#L1"),
        ("../outside", "x.ipynb"),
        ("../outside/secret.txt", "AGENTS.md"),
        ("../outside/secret.txt", "MEMORY.md"),
        ("../outside/secret.txt", ".strata.toml"),
        ("../outside/secret.txt", ".strata.yaml"),
        ("../outside", ".cursor"),
    ]
    .map(|(target, link)| (PathBuf::from(target), link))
    .to_vec();
    links.push((outside.clone(), "to-outside"));
    links.push((outside.join("secret.txt"), "absolute-secret"));
    links.push((Path::new("/proc/self/root").join(outside.strip_prefix("/").unwrap()), "through-proc"));
    // Where this leads out is a link outside that leads back in, to a link that leads out.
    symlink(format!("../{ROOT}/to-secret"), outside.join("back")).unwrap();
    links
}
