//! Files that are no files to read: too large, of one line that is too long, without an end.

use std::fs::File;
use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

use e2e::process::Process;
use e2e::{Editor, Repo};
use serde_json::json;

/// What is taken of memory for a file that is refused, in KiB.
const BOUND: u64 = 8 << 10;

#[test]
fn files_that_are_too_much_are_refused_unread() {
    let repo = Repo::new("//- a.rs\nfn a() {}\n");
    // Holes, which a program that reads them sees as zeros: no disk is filled.
    File::create(repo.path("large.rs")).unwrap().set_len(100 << 20).unwrap();
    let text: Vec<u8> = b"fn large() {}\n".repeat((100 << 20) / 14);
    repo.write("text.rs", text);
    repo.write("line.js", vec![b'x'; 10 << 20]);
    symlink("/dev/zero", repo.path("zero.rs")).unwrap();
    symlink("/dev/stdin", repo.path("stdin.rs")).unwrap();
    let mut editor = Editor::start(&repo);
    let process = Process::new(editor.server.process_id());
    let before = process.resident();
    let mut slowest = Duration::ZERO;
    for path in ["large.rs", "text.rs", "line.js", "zero.rs", "stdin.rs"] {
        let begun = Instant::now();
        let refused = editor.refused("files.select", json!({ "paths": [path] }));
        let took = begun.elapsed();
        eprintln!("{path}: {took:.1?}: {}", refused.message);
        slowest = slowest.max(took);
        assert!(refused.message.contains(path), "{refused}");
    }
    eprintln!("refused in at most {slowest:.1?}");
    if let (Some(before), Some(after)) = (before, process.peak()) {
        assert!(after <= before + BOUND, "{before} to {after} KiB");
    }
}
