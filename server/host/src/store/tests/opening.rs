//! Tests of opening the store when it is missing, newer, damaged, or in use by another process.

use std::fs::{self, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use rusqlite::Connection;

use super::*;

fn create_sessions(home: &Home, sessions: usize) {
    let mut store = home.open();
    for number in 0..sessions {
        let handle = store.create(&new_session(&format!("s{number}"))).unwrap();
        let messages: Vec<_> =
            (0..20).map(|at| text_message(at, &format!("message {at} of {number}"))).collect();
        store.commit(&handle, &appended(&messages)).unwrap();
    }
}

fn file_names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Opens a store that must be set aside, and checks that the new one works.
fn set_aside(home: &Home) -> DamagedDatabase {
    let opened = Store::open(&home.state(), &home.key()).unwrap();
    let mut store = opened.store;
    let handle = store.create(&new_session("fresh")).unwrap();
    store.commit(&handle, &appended(&[text_message(0, "it works")])).unwrap();
    drop((handle, store));
    assert_eq!(home.open().list().unwrap().len(), 1);
    opened.set_aside.unwrap()
}

#[test]
fn a_newer_database_is_rejected_and_unchanged() {
    let home = Home::new();
    create_sessions(&home, 2);
    let path = home.database();
    let other = Connection::open(&path).unwrap();
    other.pragma_update(None, "journal_mode", "DELETE").unwrap();
    other.pragma_update(None, "user_version", schema::NEWEST_VERSION + 1).unwrap();
    other.pragma_update(None, "journal_mode", "WAL").unwrap();
    drop(other);
    let (bytes, sibling) = (fs::read(&path).unwrap(), file_names(path.parent().unwrap()));
    let modified = fs::metadata(&path).unwrap().modified().unwrap();
    let error = Store::open(&home.state(), &home.key()).unwrap_err();
    let (found, known) = (schema::NEWEST_VERSION + 1, schema::NEWEST_VERSION);
    assert_eq!(error, StoreError::Newer { path: path.clone(), found, known });
    assert!(fs::read(&path).unwrap() == bytes);
    assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), modified);
    assert_eq!(file_names(path.parent().unwrap()), sibling);
}

#[test]
fn an_invalid_database_is_set_aside_with_its_journals() {
    let home = Home::new();
    let path = home.database();
    fs::write(&path, "garbage ".repeat(1_000)).unwrap();
    fs::write(path.with_extension("db-wal"), "more garbage").unwrap();
    let damaged = set_aside(&home);
    assert_eq!(fs::read_to_string(&damaged.path).unwrap(), "garbage ".repeat(1_000));
    assert_eq!(fs::read_to_string(damaged.path.with_extension("db-wal")).unwrap(), "more garbage");
    fs::write(&path, "again").unwrap();
    assert_ne!(set_aside(&home).path, damaged.path);
}

#[test]
fn a_truncated_or_overwritten_database_is_set_aside_unchanged() {
    for damage in ["truncated", "overwritten"] {
        let home = Home::new();
        create_sessions(&home, 40);
        let path = home.database();
        let length = fs::metadata(&path).unwrap().len();
        let mut file = OpenOptions::new().write(true).open(&path).unwrap();
        if damage == "truncated" {
            file.set_len(length / 2).unwrap();
        } else {
            // All pages except the first.
            file.seek(SeekFrom::Start(4_096)).unwrap();
            file.write_all(&vec![0xA5; usize::try_from(length).unwrap() - 4_096]).unwrap();
        }
        drop(file);
        let before = fs::read(&path).unwrap();
        let damaged = set_aside(&home);
        assert!(fs::read(&damaged.path).unwrap() == before, "{damage}");
    }
}

#[test]
fn a_torn_log_loses_only_the_torn_part() {
    let home = Home::new();
    let mut store = home.open();
    let path = store.paths.database();
    let handle = store.create(&new_session("a")).unwrap();
    let wal = path.with_extension("db-wal");
    let mut ends = Vec::new();
    for number in 0..10 {
        store.commit(&handle, &appended(&[text_message(number, "text")])).unwrap();
        ends.push(fs::metadata(&wal).unwrap().len());
    }
    // As after a crash: the log next to a database that lacks its changes.
    let (database, log) = (fs::read(&path).unwrap(), fs::read(&wal).unwrap());
    drop((handle, store));
    for (log_bytes, expected) in [(ends[6] + 100, 7), (ends[9], 10), (40, 0), (0, 0)] {
        fs::write(&path, &database).unwrap();
        let mut log = log.clone();
        log.truncate(usize::try_from(log_bytes).unwrap());
        fs::write(&wal, &log).unwrap();
        let store = home.open();
        let count = store.load_session(&id("a")).map_or(0, |stored| stored.messages.len());
        assert_eq!(count, expected, "{log_bytes} bytes of the log");
    }
}

#[test]
fn other_files_and_foreign_databases_are_set_aside() {
    let home = Home::new();
    let path = home.database();
    fs::remove_file(&path).unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("CREATE TABLE theirs (x); PRAGMA user_version = 1;").unwrap();
    drop(other);
    assert!(set_aside(&home).reason.contains("another program"));
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    fs::write(path.join("kept"), "x").unwrap();
    let damaged = set_aside(&home);
    assert_eq!(fs::read_to_string(damaged.path.join("kept")).unwrap(), "x");
    let ours = Connection::open(&path).unwrap();
    ours.execute_batch("DROP TABLE place").unwrap();
    drop(ours);
    set_aside(&home);
}

#[test]
fn an_interrupted_creation_is_repeated() {
    let home = Home::new();
    let path = home.database();
    fs::write(&path, "").unwrap();
    create_sessions(&home, 1);
    assert_eq!(home.open().list().unwrap().len(), 1);
}

#[test]
fn a_damaged_word_index_is_rebuilt_from_the_messages() {
    let home = Home::new();
    create_sessions(&home, 3);
    let mut store = home.open();
    let note = NewNote { text: "a note".into(), tags: Vec::new(), session: None, created_ms: 0 };
    store.add_note(&note).unwrap();
    drop(store);
    let other = Connection::open(home.database()).unwrap();
    other.execute("UPDATE words_data SET block = x'00ff00ff00ff' WHERE id > 10", []).unwrap();
    drop(other);
    let store = home.open();
    let damaged = store.search("message", 20).unwrap_err();
    assert!(matches!(damaged, StoreError::Damaged(_)), "{damaged}");
    drop(store);
    let store = home.open();
    assert_eq!(store.list().unwrap().len(), 3);
    for (query, hits) in [("message 7 of 2", 1), ("note", 1)] {
        let results = store.search(query, 20).unwrap();
        assert_eq!(results.hits.len(), hits, "{query}");
    }
    assert!(!store.paths.damage_marker().exists());
}

#[test]
fn workspaces_do_not_see_each_other() {
    let home = Home::new();
    create_sessions(&home, 1);
    let other = home.directory.path().join("other");
    fs::create_dir(&other).unwrap();
    let store = Store::open(&home.state(), &WorkspaceKey::for_folder(&other).unwrap()).unwrap().store;
    assert_eq!(store.list().unwrap(), []);
    let folder = store.paths.database().with_file_name("folder.txt");
    assert_eq!(
        fs::read_to_string(folder).unwrap().trim(),
        crate::roots::canonical(&other).unwrap().to_str().unwrap()
    );
}

#[cfg(unix)]
#[test]
fn stored_files_are_accessible_only_to_their_owner() {
    use std::os::unix::fs::PermissionsExt;

    let home = Home::new();
    fs::create_dir(home.state()).unwrap();
    fs::set_permissions(home.state(), fs::Permissions::from_mode(0o755)).unwrap();
    let mut store = home.open();
    let handle = store.create(&new_session("a")).unwrap();
    store.commit(&handle, &appended(&[text_message(0, "secret")])).unwrap();
    store.spills.write(&id("a"), b"secret").unwrap();
    let mut pending = vec![home.state()];
    let mut files = 0;
    while let Some(path) = pending.pop() {
        let metadata = fs::symlink_metadata(&path).unwrap();
        let expected = if metadata.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(metadata.permissions().mode() & 0o777, expected, "{}", path.display());
        if metadata.is_dir() {
            pending.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            files += 1;
        }
    }
    assert!(files >= 6, "the database, its log and index of it, the note, locks, the output: {files}");
}

#[cfg(unix)]
#[test]
fn a_link_in_place_of_the_database_is_not_followed() {
    let home = Home::new();
    let path = home.database();
    let elsewhere = home.directory.path().join("elsewhere");
    fs::rename(&path, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
    let before = fs::read(&elsewhere).unwrap();
    set_aside(&home);
    assert!(fs::read(&elsewhere).unwrap() == before);
}
