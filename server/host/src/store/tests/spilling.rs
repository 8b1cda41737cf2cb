//! Tests of spilled outputs: complete, private, limited, and deleted with their session.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use super::*;

fn spills(home: &Home, quota: u64) -> Spills {
    home.open().spills.with_quota(Quota(quota))
}

fn set_age(file: &SpillFile, seconds: u64) {
    let opened = File::options().write(true).open(&file.path).unwrap();
    opened.set_modified(UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
}

#[test]
fn an_output_comes_back_page_by_page() {
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
fn the_oldest_of_other_sessions_make_room_first() {
    let home = Home::new();
    let spills = spills(&home, 10);
    let own = spills.write(&id("a"), b"own").unwrap();
    let (old, newer) = (spills.write(&id("b"), b"old").unwrap(), spills.write(&id("c"), b"new").unwrap());
    for (file, age) in [(&own, 1), (&old, 2), (&newer, 3)] {
        set_age(file, age);
    }
    let there = |file: &SpillFile| file.path.exists();
    spills.write(&id("a"), b"xx").unwrap();
    assert_eq!((there(&own), there(&old), there(&newer)), (true, false, true));
    spills.write(&id("a"), b"12345678").unwrap();
    assert_eq!((there(&own), there(&newer)), (false, false));
    let refused = spills.write(&id("a"), b"12345678901").unwrap_err();
    assert_eq!(refused, StoreError::OverQuota { bytes: 11, quota: 10 });
}

#[test]
fn outputs_of_other_workspaces_count_too() {
    let home = Home::new();
    let one = spills(&home, 10).write(&id("a"), b"123456").unwrap();
    let other = home.directory.path().join("other");
    fs::create_dir(&other).unwrap();
    let store = Store::open(&home.state(), &WorkspaceKey::of(&other).unwrap()).unwrap().store;
    store.spills.with_quota(Quota(10)).write(&id("a"), b"123456").unwrap();
    assert!(!one.path.exists());
}

#[test]
fn only_names_of_outputs_lead_anywhere() {
    let home = Home::new();
    let spills = spills(&home, 1_000);
    let spilled = spills.write(&id("a"), b"x").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(&spilled.path, spilled.path.with_file_name("0".repeat(26))).unwrap();
    let name = &spilled.id;
    for wrong in ["", "..", "../lock", &format!("../a/{name}"), &name[1..], &"0".repeat(26), &"u".repeat(26)]
    {
        let missing = spills.read_lines(&id("a"), wrong, 1, 1).unwrap_err();
        assert_eq!(missing, StoreError::NoSpill((*wrong).to_owned()));
    }
    assert!(spills.read_lines(&id("b"), name, 1, 1).is_err());
}

#[test]
fn outputs_go_with_their_session() {
    let home = Home::new();
    let mut store = home.open();
    drop(store.create(&new("a")).unwrap());
    let spilled = store.spills.write(&id("a"), b"x").unwrap();
    store.delete(&id("a")).unwrap();
    assert!(!spilled.path.exists() && !spilled.path.parent().unwrap().exists());
}

#[test]
fn a_clock_that_goes_backwards_makes_nothing_the_oldest() {
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
fn outputs_of_a_copy_take_no_room_of_their_own() {
    let home = Home::new();
    let mut store = home.open();
    drop(store.create(&new("a")).unwrap());
    let spills = store.spills.with_quota(Quota(10));
    let copied = spills.write(&id("a"), b"12345").unwrap();
    drop(store.fork(&id("a"), &new("b"), None).unwrap());
    let other = spills.write(&id("c"), b"12345").unwrap();
    assert!(copied.path.exists() && other.path.exists());
    // Deleting one name of the copied file does not free enough space.
    set_age(&other, 1 << 32);
    spills.write(&id("c"), b"1").unwrap();
    assert!(!copied.path.exists() && other.path.exists());
    assert!(spills.read_lines(&id("b"), &copied.id, 1, 1).is_err());
}

#[test]
fn a_copy_where_files_have_one_name_costs_the_original_nothing() {
    let home = Home::new();
    let mut store = home.open();
    drop(store.create(&new("a")).unwrap());
    let one_name = |_: &Path, _: &Path| -> io::Result<()> { Err(io::ErrorKind::Unsupported.into()) };
    let spills = store.spills.with_quota(Quota(20));
    let outputs = [b"12345", b"67890"].map(|output| spills.write(&id("a"), output).unwrap());
    let read = |session: &str, file: &SpillFile| {
        spills.read_lines(&id(session), &file.id, 1, 1).map(|lines| lines.text)
    };
    drop(spills.copy_session_by(&id("a"), &id("b"), one_name).unwrap());
    for file in &outputs {
        assert_eq!(read("b", file).unwrap(), read("a", file).unwrap());
    }
    let refused = spills.copy_session_by(&id("a"), &id("c"), one_name).unwrap_err();
    assert_eq!(refused, StoreError::NoRoomForCopy { quota: 20 });
    for file in &outputs {
        assert!(file.path.exists() && read("b", file).is_ok() && read("c", file).is_err());
    }
}

#[test]
fn outputs_of_a_session_that_is_no_more_go_when_the_store_is_opened() {
    let home = Home::new();
    let mut store = home.open();
    drop(store.create(&new("a")).unwrap());
    let kept = store.spills.write(&id("a"), b"kept").unwrap();
    // As left by a process that dies between deleting a session and deleting its outputs.
    let orphan = store.spills.write(&id("b"), b"deleted").unwrap();
    let not_ours = orphan.path.parent().unwrap().with_file_name("Not ours");
    fs::create_dir(&not_ours).unwrap();
    drop(store);
    drop(home.open());
    assert!(kept.path.exists() && not_ours.exists());
    assert!(!orphan.path.exists() && !orphan.path.parent().unwrap().exists());
}

#[test]
fn outputs_of_sessions_in_a_damaged_database_stay() {
    let home = Home::new();
    let mut store = home.open();
    drop(store.create(&new("a")).unwrap());
    let kept = store.spills.write(&id("a"), b"kept").unwrap();
    let database = store.place.database();
    drop(store);
    fs::write(database, "garbage ".repeat(1_000)).unwrap();
    assert!(Store::open(&home.state(), &home.key()).unwrap().set_aside.is_some());
    drop(home.open());
    assert!(kept.path.exists());
}

#[test]
fn a_fork_that_cannot_have_the_outputs_is_none() {
    let home = Home::new();
    let mut store = home.open();
    drop(store.create(&new("a")).unwrap());
    let spilled = store.spills.write(&id("a"), b"x").unwrap();
    // A file at the path of the directory for the copied outputs.
    let place = spilled.path.parent().unwrap().with_file_name("b");
    fs::write(&place, "x").unwrap();
    store.fork(&id("a"), &new("b"), None).unwrap_err();
    assert_eq!(store.list().unwrap().len(), 1);
    fs::remove_file(&place).unwrap();
    drop(store.fork(&id("a"), &new("b"), None).unwrap());
    assert_eq!(store.spills.read_lines(&id("b"), &spilled.id, 1, 1).unwrap().text, "x");
}

#[cfg(unix)]
#[test]
fn what_a_link_leads_to_is_no_output() {
    let home = Home::new();
    let spills = spills(&home, 10);
    let own = spills.write(&id("a"), b"12345").unwrap();
    let outside = home.directory.path().join("outside");
    fs::create_dir_all(outside.join("folder")).unwrap();
    fs::write(outside.join("folder/file"), "much more than the quota").unwrap();
    let all = home.state().join("spill");
    std::os::unix::fs::symlink(&outside, all.join("linked")).unwrap();
    std::os::unix::fs::symlink(outside.join("folder"), own.path.parent().unwrap().with_file_name("linked"))
        .unwrap();
    std::os::unix::fs::symlink(outside.join("folder/file"), own.path.with_file_name("linked")).unwrap();
    spills.write(&id("a"), b"1234").unwrap();
    assert!(own.path.exists() && outside.join("folder/file").exists());
    spills.write(&id("a"), b"1234567890").unwrap();
    assert!(!own.path.exists() && outside.join("folder/file").exists());
}
