//! Tests of reading files: what is decoded, what is rejected, and that nothing outside the roots is ever opened.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use strata_base::hash::ContentHash;

use super::*;
#[cfg(unix)]
use crate::roots::PathRefusal;
use crate::testing::TestTree;

const MAX_BYTES: u64 = 1000;

#[track_caller]
fn read(tree: &TestTree, key: &str) -> Result<String, ReadError> {
    let read = read_text(&tree.roots(), &key.into(), MAX_BYTES)?;
    assert_eq!(read.hash, ContentHash::from_text(&read.text));
    Ok(read.text.to_string())
}

#[cfg(unix)]
#[track_caller]
fn check_refused(tree: &TestTree, key: &str, reason: &PathRefusal) {
    match read(tree, key) {
        Err(ReadError::Path(error)) => assert_eq!(error.reason, *reason, "{key}"),
        other => panic!("{key}: {other:?}"),
    }
}

/// Makes a file `age` seconds old, which is old enough for the cache to trust its stamp.
fn set_age(path: PathBuf, age: u64) {
    let file = fs::File::options().write(true).open(path).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
}

#[test]
fn text_is_decoded_and_binary_data_is_rejected() {
    let tree = TestTree::new(&["root/src/a.rs", "root/src/deep/er/b.rs"]);
    tree.write("root/bom.txt", "\u{feff}text");
    tree.write("root/empty", "");
    tree.write("root/full", "x".repeat(1000));
    tree.write("root/over", "x".repeat(1001));
    tree.write("root/binary", b"\x7fELF\0\0");
    tree.write("root/cyrillic", b"\xef\xf0\xe8\xe2\xe5\xf2");
    assert_eq!(read(&tree, "src/a.rs").unwrap(), "root/src/a.rs");
    assert_eq!(read(&tree, "src/deep/er/b.rs").unwrap(), "root/src/deep/er/b.rs");
    assert_eq!(read(&tree, "bom.txt").unwrap(), "text");
    assert_eq!(read(&tree, "empty").unwrap(), "");
    assert_eq!(read(&tree, "full").unwrap().len(), 1000);
    let too_large = ReadError::TooLarge { key: "over".into(), size: 1001, limit: 1000 };
    assert_eq!(read(&tree, "over"), Err(too_large));
    assert_eq!(read(&tree, "binary"), Err(ReadError::Binary("binary".into())));
    assert_eq!(read(&tree, "cyrillic"), Err(ReadError::NotUtf8("cyrillic".into())));
    assert_eq!(read(&tree, "missing"), Err(ReadError::NotFound("missing".into())));
    assert_eq!(read(&tree, "missing/a"), Err(ReadError::NotFound("missing/a".into())));
    assert_eq!(read(&tree, "src"), Err(ReadError::Folder("src".into())));
    match read(&tree, "src/a.rs/b").unwrap_err() {
        // Windows does not distinguish these cases.
        ReadError::NotFound(_) if cfg!(windows) => {}
        error => {
            assert!(matches!(error, ReadError::Io { kind: io::ErrorKind::NotADirectory, .. }), "{error:?}");
        }
    }
}

#[cfg(windows)]
#[test]
fn a_locked_file_is_reported_and_readable_once_unlocked() {
    use std::os::windows::fs::OpenOptionsExt as _;

    let tree = TestTree::new(&["root/a.rs"]);
    let lock = fs::File::options().read(true).write(true).share_mode(0).open(tree.path("root/a.rs")).unwrap();
    let error = read(&tree, "a.rs").unwrap_err();
    assert_eq!(error.to_string(), "`a.rs` is locked by another program");
    drop(lock);
    assert_eq!(read(&tree, "a.rs").unwrap(), "root/a.rs");
}

#[test]
fn a_huge_file_is_rejected_without_reading_it() {
    let tree = TestTree::new(&["root/huge"]);
    let file = fs::File::options().write(true).open(tree.path("root/huge")).unwrap();
    file.set_len(1 << 40).unwrap(); // sparse: reading it would take minutes
    assert!(matches!(read(&tree, "huge"), Err(ReadError::TooLarge { size, .. }) if size == 1 << 40));
}

#[cfg(unix)]
#[test]
fn links_are_followed_only_inside_the_roots() {
    let tree = TestTree::new(&["root/src/a.rs", "outside/secret.txt", "root-evil/secret.txt"]);
    tree.create_link("src/a.rs", "root/link.rs");
    tree.create_link("src", "root/folder");
    tree.create_link(tree.path("root/folder"), "root/absolute");
    tree.create_link("../outside/secret.txt", "root/secret");
    tree.create_link("../root-evil", "root/evil");
    tree.create_link("/proc/self/environ", "root/environ");
    tree.create_link("loop", "root/loop");
    tree.create_link("nowhere", "root/dangling");
    assert_eq!(read(&tree, "link.rs").unwrap(), "root/src/a.rs");
    assert_eq!(read(&tree, "folder/a.rs").unwrap(), "root/src/a.rs");
    assert_eq!(read(&tree, "absolute/a.rs").unwrap(), "root/src/a.rs");
    check_refused(&tree, "secret", &PathRefusal::LinkOutside);
    check_refused(&tree, "evil/secret.txt", &PathRefusal::LinkOutside);
    check_refused(&tree, "environ", &PathRefusal::LinkOutside);
    check_refused(&tree, "loop", &PathRefusal::LinkLoop);
    check_refused(&tree, "dangling", &PathRefusal::BrokenLink);
    check_refused(&tree, "../outside/secret.txt", &PathRefusal::ParentStep);
}

#[cfg(unix)]
#[test]
fn only_regular_files_are_opened() {
    let tree = TestTree::new(&["root/a.rs"]);
    tree.create_fifo("root/fifo");
    let _socket = std::os::unix::net::UnixListener::bind(tree.path("root/socket")).unwrap();
    let not_regular = |key: &str| ReadError::NotRegular(key.into());
    // Opening a FIFO for reading blocks until it has a writer. If this test hangs, a FIFO was opened.
    assert_eq!(read(&tree, "fifo").unwrap_err(), not_regular("fifo"));
    assert_eq!(read(&tree, "socket").unwrap_err(), not_regular("socket"));
    let roots = Roots::single("/dev").unwrap();
    for device in ["zero", "null", "tty"] {
        assert_eq!(read_text(&roots, &device.into(), MAX_BYTES).unwrap_err(), not_regular(device));
    }
    assert_eq!(stamp_of(&tree.roots(), &"fifo".into()).unwrap_err(), not_regular("fifo"));
}

#[cfg(target_os = "linux")]
#[test]
fn kernel_interfaces_are_rejected_even_as_a_root() {
    let roots = Roots::single("/proc").unwrap();
    let key = FileKey::new(format!("{}/environ", std::process::id()));
    assert_eq!(read_text(&roots, &key, MAX_BYTES).map(|_| ()), Err(ReadError::NotRegular(key)));
    let everything = Roots::single("/").unwrap();
    let result = read_text(&everything, &"proc/version".into(), MAX_BYTES);
    assert!(matches!(result, Err(ReadError::Path(error)) if error.reason == PathRefusal::SystemFile));
}

/// Swaps two files. On Linux, the swap is atomic, so that neither is ever missing.
#[cfg(unix)]
fn exchange(a: &std::path::Path, b: &std::path::Path) {
    #[cfg(target_os = "linux")]
    use rustix::fs::{CWD, RenameFlags, renameat_with};

    #[cfg(target_os = "linux")]
    if renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE).is_ok() {
        return;
    }
    let aside = a.with_extension("aside");
    fs::rename(a, &aside).and_then(|()| fs::rename(b, a)).and_then(|()| fs::rename(&aside, b)).unwrap();
}

/// Number of renames per run: 100,000 with `STRATA_LONG=1`.
#[cfg(unix)]
fn renames() -> usize {
    if std::env::var_os("STRATA_LONG").is_some() { 100_000 } else { 10_000 }
}

/// Swaps a directory and a file in the root with links that lead outside, while every reading function is running.
#[cfg(unix)]
#[test]
#[expect(clippy::print_stderr, reason = "prints the results of the run")]
fn renames_during_a_read_never_lead_outside() {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use strata_base::cancel::Cancel;

    use crate::path_patterns::expand_path_pattern;
    use crate::walk::{WalkOptions, walk, walk_subtree};

    let tree =
        TestTree::new(&["root/folder/sub/file", "root/file", "outside/sub/file", "outside/sub/private"]);
    tree.create_link("../outside", "root/evil-folder");
    tree.create_link("../outside/sub/file", "root/evil-file");
    let (roots, cache) = (tree.roots(), TextCache::new(1000));
    let done = AtomicUsize::new(0);
    let swap = |a: &str, b: &str| {
        let [a, b] = [a, b].map(|name| tree.path("root").join(name));
        exchange(&a, &b);
    };
    let (mut inside, mut outside, mut refused) = (0, 0, 0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while done.load(Ordering::Relaxed) < renames() {
                for _ in 0..2 {
                    swap("folder", "evil-folder");
                    swap("file", "evil-file");
                }
                done.fetch_add(4, Ordering::Relaxed);
            }
        });
        let mut turn = 0;
        while done.load(Ordering::Relaxed) < renames() {
            for key in ["folder/sub/file", "file"].map(FileKey::from) {
                let text = match turn % 3 {
                    0 => read_text(&roots, &key, MAX_BYTES),
                    1 => cache.text(&roots, &key, MAX_BYTES),
                    _ => {
                        cache.forget(&key);
                        cache.text(&roots, &key, MAX_BYTES)
                    }
                };
                match text {
                    Ok(read) if read.text.starts_with("root/") => inside += 1,
                    Ok(_) => outside += 1,
                    Err(_) => refused += 1,
                }
            }
            if turn % 16 == 0 {
                let options = WalkOptions::default();
                let listed = walk(&roots, &options, &Cancel::new()).unwrap();
                let below = walk_subtree(&roots, &"folder".into(), &options, &Cancel::new()).unwrap();
                let chosen = ["folder", "folder/**", "*"]
                    .map(|text| expand_path_pattern(&roots, &listed.entries, text));
                let named = crate::rule_files::rule_files(&roots, &["folder/*/*".into(), "*".into()]);
                let output = format!("{listed:?} {below:?} {chosen:?} {named:?}");
                outside += usize::from(output.contains("private"));
            }
            turn += 1;
        }
    });
    eprintln!("{} renames; reads: {inside} inside, {refused} refused, {outside} outside", done.into_inner());
    assert_eq!(outside, 0, "a read left the workspace folder");
    assert!(
        inside > 0 && refused > 0,
        "the renames never interfered with the reads: {inside} inside, {refused} refused"
    );
}

#[cfg(unix)]
#[test]
fn a_file_without_permission_is_an_error_of_its_own() {
    use std::os::unix::fs::PermissionsExt;

    let tree = TestTree::new(&["root/a.rs"]);
    fs::set_permissions(tree.path("root/a.rs"), fs::Permissions::from_mode(0o000)).unwrap();
    match read(&tree, "a.rs") {
        Err(ReadError::Io { kind: io::ErrorKind::PermissionDenied, .. }) => {}
        Ok(_) => assert!(fs::read(tree.path("root/a.rs")).is_ok(), "only root can read it"),
        Err(other) => panic!("{other:?}"),
    }
}

#[test]
fn the_cache_rereads_a_file_only_after_a_change() {
    let tree = TestTree::new(&["root/a.rs"]);
    let (roots, path) = (tree.roots(), tree.path("root/a.rs"));
    let cache = TextCache::new(1000);
    let text = || cache.text(&roots, &"a.rs".into(), MAX_BYTES).map(|read| read.text);

    set_age(path.clone(), 100);
    let first = text().unwrap();
    assert!(std::sync::Arc::ptr_eq(&first, &text().unwrap()), "unchanged: the same text, not a copy");

    // another size at the same time
    fs::write(&path, "longer than before").unwrap();
    set_age(path.clone(), 100);
    assert_eq!(&*text().unwrap(), "longer than before");

    // the same size at another time
    fs::write(&path, "LONGER THAN BEFORE").unwrap();
    set_age(path.clone(), 50);
    assert_eq!(&*text().unwrap(), "LONGER THAN BEFORE");

    fs::remove_file(&path).unwrap();
    assert_eq!(text(), Err(ReadError::NotFound("a.rs".into())));
    assert_eq!(cache.total_bytes(), 0);
}

/// Same size and same time, as left by `cp -p` or a fast writer.
#[cfg(unix)]
#[test]
fn the_cache_notices_a_replacement_of_the_same_size_and_time() {
    let tree = TestTree::new(&["root/a.rs", "root/b.rs"]);
    let (roots, cache) = (tree.roots(), TextCache::new(1000));
    let time = SystemTime::now() - Duration::from_secs(100);
    for file in ["root/a.rs", "root/b.rs"] {
        fs::File::options().write(true).open(tree.path(file)).unwrap().set_modified(time).unwrap();
    }
    assert_eq!(&*cache.text(&roots, &"a.rs".into(), MAX_BYTES).unwrap().text, "root/a.rs");
    fs::rename(tree.path("root/b.rs"), tree.path("root/a.rs")).unwrap();
    assert_eq!(&*cache.text(&roots, &"a.rs".into(), MAX_BYTES).unwrap().text, "root/b.rs");
}

#[test]
fn a_recently_changed_file_is_read_again() {
    let tree = TestTree::new(&["root/a.rs"]);
    let (roots, cache) = (tree.roots(), TextCache::new(1000));
    let first = cache.text(&roots, &"a.rs".into(), MAX_BYTES).unwrap();
    let second = cache.text(&roots, &"a.rs".into(), MAX_BYTES).unwrap();
    assert_eq!(first, second);
    assert!(!std::sync::Arc::ptr_eq(&first.text, &second.text), "it was read again");
}

#[cfg(unix)]
#[test]
fn the_cache_returns_nothing_for_a_link_that_replaced_the_file() {
    let tree = TestTree::new(&["root/a.rs", "outside/a.rs"]);
    let (roots, cache) = (tree.roots(), TextCache::new(1000));
    set_age(tree.path("root/a.rs"), 100);
    cache.text(&roots, &"a.rs".into(), MAX_BYTES).unwrap();
    fs::remove_file(tree.path("root/a.rs")).unwrap();
    tree.create_link("../outside/a.rs", "root/a.rs");
    assert!(matches!(cache.text(&roots, &"a.rs".into(), MAX_BYTES), Err(ReadError::Path(_))));
}

#[test]
fn the_cache_keeps_the_most_recently_used_files_within_its_limit() {
    let tree = TestTree::new(&[]);
    let names: Vec<String> = (0..8).map(|n| format!("{n}.txt")).collect();
    for name in &names {
        tree.write(&format!("root/{name}"), "x".repeat(100));
        set_age(tree.path(&format!("root/{name}")), 100);
    }
    let (roots, cache) = (tree.roots(), TextCache::new(400));
    let look = |name: &String| cache.text(&roots, &name.as_str().into(), MAX_BYTES).unwrap().text;
    let first = look(&names[0]);
    for name in &names {
        look(name);
        assert!(std::sync::Arc::ptr_eq(&first, &look(&names[0])), "in use: {name}");
        assert!(cache.total_bytes() <= 400);
    }
    cache.forget(&names[0].as_str().into());
    assert!(!std::sync::Arc::ptr_eq(&first, &look(&names[0])));
    cache.clear();
    assert_eq!(cache.total_bytes(), 0);
    let small = TextCache::new(50);
    small.text(&roots, &"1.txt".into(), MAX_BYTES).unwrap();
    assert_eq!(small.total_bytes(), 0, "a text larger than the cache is not kept");
}

#[test]
fn a_lower_limit_applies_to_cached_files_too() {
    let tree = TestTree::new(&["root/a.rs"]);
    let (roots, cache) = (tree.roots(), TextCache::new(1000));
    set_age(tree.path("root/a.rs"), 100);
    cache.text(&roots, &"a.rs".into(), MAX_BYTES).unwrap();
    let result = cache.text(&roots, &"a.rs".into(), 3);
    assert!(matches!(result, Err(ReadError::TooLarge { limit: 3, .. })));
}
