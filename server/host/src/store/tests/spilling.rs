//! Tests of spilled outputs: complete, private, limited, and deleted with their session.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use super::*;

fn spills(home: &Home, quota: u64) -> Spills {
    home.open().spills.with_quota(quota)
}

fn set_age(file: &SpillFile, seconds: u64) {
    let opened = File::options().write(true).open(&file.path).unwrap();
    opened.set_modified(UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
}

#[test]
fn an_output_is_read_page_by_page() {
    let home = Home::new();
    let spills = spills(&home, 1_000);
    let spilled = spills.write(&id("a"), b"one\ntwo\r\n\nfour \xff\nfive").unwrap();
    assert_eq!(spilled.bytes, 21);
    let page = |from: usize, count: usize| {
        let lines = spills.read_lines(&id("a"), &spilled.id, from, count).unwrap();
        (lines.text, lines.from, lines.to, lines.total)
    };
    assert_eq!(page(1, 2), ("one\ntwo\r\n".into(), 1, 2, 5));
    assert_eq!(page(3, 9), ("\nfour \u{fffd}\nfive".into(), 3, 5, 5));
    assert_eq!(page(0, 1), ("one\n".into(), 1, 1, 5));
    assert_eq!(page(6, 1), (String::new(), 6, 5, 5));
}

#[test]
fn the_hash_is_what_other_tools_compute() {
    let home = Home::new();
    // FIPS 180-2, B.1.
    let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(spills(&home, 10).write(&id("a"), b"abc").unwrap().sha256, expected);
}

#[test]
fn the_oldest_outputs_of_other_sessions_are_evicted_first() {
    let home = Home::new();
    let spills = spills(&home, 10);
    let first = spills.write(&id("a"), b"own").unwrap();
    let (old, newer) = (spills.write(&id("b"), b"old").unwrap(), spills.write(&id("c"), b"new").unwrap());
    for (file, age) in [(&first, 1), (&old, 2), (&newer, 3)] {
        set_age(file, age);
    }
    let exists = |file: &SpillFile| file.path.exists();
    spills.write(&id("a"), b"xx").unwrap();
    assert_eq!((exists(&first), exists(&old), exists(&newer)), (true, false, true));
    spills.write(&id("a"), b"12345678").unwrap();
    assert_eq!((exists(&first), exists(&newer)), (false, false));
    let error = spills.write(&id("a"), b"12345678901").unwrap_err();
    assert_eq!(error, StoreError::OverQuota { bytes: 11, quota: 10 });
}

#[test]
fn outputs_of_other_workspaces_count_too() {
    let home = Home::new();
    let one = spills(&home, 10).write(&id("a"), b"123456").unwrap();
    let other = home.directory.path().join("other");
    fs::create_dir(&other).unwrap();
    let store = Store::open(&home.state(), &WorkspaceKey::for_folder(&other).unwrap()).unwrap().store;
    store.spills.with_quota(10).write(&id("a"), b"123456").unwrap();
    assert!(!one.path.exists());
}

#[test]
fn only_valid_output_names_are_read() {
    let home = Home::new();
    let spills = spills(&home, 1_000);
    let spilled = spills.write(&id("a"), b"x").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(&spilled.path, spilled.path.with_file_name("0".repeat(26))).unwrap();
    let name = &spilled.id;
    for invalid in
        ["", "..", "../lock", &format!("../a/{name}"), &name[1..], &"0".repeat(26), &"u".repeat(26)]
    {
        let error = spills.read_lines(&id("a"), invalid, 1, 1).unwrap_err();
        assert_eq!(error, StoreError::NoSpill((*invalid).to_owned()));
    }
    assert!(spills.read_lines(&id("b"), name, 1, 1).is_err());
}

#[test]
fn outputs_are_deleted_with_their_session() {
    let home = Home::new();
    let mut store = home.open();
    drop(store.create(&new_session("a")).unwrap());
    let spilled = store.spills.write(&id("a"), b"x").unwrap();
    store.delete(&id("a")).unwrap();
    assert!(!spilled.path.exists() && !spilled.path.parent().unwrap().exists());
}

#[test]
fn a_clock_that_goes_backwards_does_not_change_the_order_of_outputs() {
    let home = Home::new();
    let spills = spills(&home, 10);
    let ahead = spills.write(&id("a"), b"ahead").unwrap();
    set_age(&ahead, 1 << 32);
    // Written when the clock was correct again.
    let later = spills.write(&id("a"), b"later").unwrap();
    let last = spills.write(&id("a"), b"last").unwrap();
    assert_eq!([&ahead, &later, &last].map(|file| file.path.exists()), [false, true, true]);
    spills.write(&id("a"), b"12345").unwrap();
    assert_eq!([&later, &last].map(|file| file.path.exists()), [false, true]);
}

#[test]
fn outputs_of_a_fork_take_no_extra_space() {
    let home = Home::new();
    let mut store = home.open();
    drop(store.create(&new_session("a")).unwrap());
    let spills = store.spills.with_quota(10);
    let shared = spills.write(&id("a"), b"12345").unwrap();
    drop(store.fork(&id("a"), &new_session("b"), None).unwrap());
    let other = spills.write(&id("c"), b"12345").unwrap();
    assert!(shared.path.exists() && other.path.exists());
    // Deleting one name of the shared file does not free enough space.
    set_age(&other, 1 << 32);
    spills.write(&id("c"), b"1").unwrap();
    assert!(!shared.path.exists() && other.path.exists());
    assert!(spills.read_lines(&id("b"), &shared.id, 1, 1).is_err());
}

#[test]
fn a_fork_without_hard_links_evicts_nothing_of_the_original() {
    let home = Home::new();
    let mut store = home.open();
    drop(store.create(&new_session("a")).unwrap());
    let fail_to_link = |_: &Path, _: &Path| -> io::Result<()> { Err(io::ErrorKind::Unsupported.into()) };
    let spills = store.spills.with_quota(20);
    let outputs = [b"12345", b"67890"].map(|output| spills.write(&id("a"), output).unwrap());
    let read = |session: &str, file: &SpillFile| {
        spills.read_lines(&id(session), &file.id, 1, 1).map(|lines| lines.text)
    };
    drop(spills.copy_session(&id("a"), &id("b"), fail_to_link).unwrap());
    for file in &outputs {
        assert_eq!(read("b", file).unwrap(), read("a", file).unwrap());
    }
    let error = spills.copy_session(&id("a"), &id("c"), fail_to_link).unwrap_err();
    assert_eq!(error, StoreError::NoRoomForCopy { quota: 20 });
    for file in &outputs {
        assert!(file.path.exists() && read("b", file).is_ok() && read("c", file).is_err());
    }
}

#[test]
fn outputs_of_deleted_sessions_are_removed_when_the_store_is_opened() {
    let home = Home::new();
    let mut store = home.open();
    drop(store.create(&new_session("a")).unwrap());
    let spilled = store.spills.write(&id("a"), b"kept").unwrap();
    // As left by a process that dies between deleting a session and deleting its outputs.
    let orphan = store.spills.write(&id("b"), b"deleted").unwrap();
    let not_ours = orphan.path.parent().unwrap().with_file_name("Not ours");
    fs::create_dir(&not_ours).unwrap();
    drop(store);
    drop(home.open());
    assert!(spilled.path.exists() && not_ours.exists());
    assert!(!orphan.path.exists() && !orphan.path.parent().unwrap().exists());
}

#[test]
fn outputs_of_sessions_in_a_damaged_database_are_kept() {
    let home = Home::new();
    let mut store = home.open();
    drop(store.create(&new_session("a")).unwrap());
    let spilled = store.spills.write(&id("a"), b"kept").unwrap();
    let database = store.paths.database();
    drop(store);
    fs::write(database, "garbage ".repeat(1_000)).unwrap();
    assert!(Store::open(&home.state(), &home.key()).unwrap().set_aside.is_some());
    drop(home.open());
    assert!(spilled.path.exists());
}

#[test]
fn a_fork_fails_if_its_outputs_cannot_be_copied() {
    let home = Home::new();
    let mut store = home.open();
    drop(store.create(&new_session("a")).unwrap());
    let spilled = store.spills.write(&id("a"), b"x").unwrap();
    // A file at the path of the directory for the copied outputs.
    let path = spilled.path.parent().unwrap().with_file_name("b");
    fs::write(&path, "x").unwrap();
    store.fork(&id("a"), &new_session("b"), None).unwrap_err();
    assert_eq!(store.list().unwrap().len(), 1);
    fs::remove_file(&path).unwrap();
    drop(store.fork(&id("a"), &new_session("b"), None).unwrap());
    assert_eq!(store.spills.read_lines(&id("b"), &spilled.id, 1, 1).unwrap().text, "x");
}

#[cfg(unix)]
#[test]
fn links_are_not_read_as_outputs() {
    let home = Home::new();
    let spills = spills(&home, 10);
    let first = spills.write(&id("a"), b"12345").unwrap();
    let outside = home.directory.path().join("outside");
    fs::create_dir_all(outside.join("folder")).unwrap();
    fs::write(outside.join("folder/file"), "much more than the quota").unwrap();
    let all = home.state().join("spill");
    std::os::unix::fs::symlink(&outside, all.join("linked")).unwrap();
    std::os::unix::fs::symlink(outside.join("folder"), first.path.parent().unwrap().with_file_name("linked"))
        .unwrap();
    std::os::unix::fs::symlink(outside.join("folder/file"), first.path.with_file_name("linked")).unwrap();
    spills.write(&id("a"), b"1234").unwrap();
    assert!(first.path.exists() && outside.join("folder/file").exists());
    spills.write(&id("a"), b"1234567890").unwrap();
    assert!(!first.path.exists() && outside.join("folder/file").exists());
}
