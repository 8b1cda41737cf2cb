//! Migrations are atomic: whatever fails, and wherever the process dies, the tables are either unchanged for the old
//! version or completely migrated.

use rusqlite::Connection;

use super::super::Home;
use super::cuts::{Cut, cuts, for_each_restored};
use super::disk::{self, Fault, Lasting};
use super::long;
use super::script::{Contents, expected};
use crate::store::{Store, StoreError, schema};

/// Creates a store of this version with all kinds of data, and returns its contents.
fn filled_store() -> (Home, Contents) {
    let home = Home::new();
    let states = expected(&home);
    (home, states.into_iter().next_back().unwrap())
}

/// Opens the file like the next version would.
fn migrate(home: &Home) -> Result<(), StoreError> {
    let mut connection = Connection::open(home.paths().database())?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    schema::migrate_to_test_version(&mut connection)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    Ok(())
}

/// Checks that the store is either unchanged or completely migrated.
fn assert_one_version(home: &Home, before: &Contents) -> Version {
    match Store::open(&home.state(), &home.key()) {
        Ok(opened) => {
            assert_eq!(opened.set_aside, None);
            assert!(Contents::read_from(&opened.store).unwrap() == *before);
            opened.store.verify().unwrap();
            Version::Current
        }
        Err(StoreError::Newer { found, known, .. }) => {
            assert_eq!((found, known), (schema::NEWEST_VERSION + 1, schema::NEWEST_VERSION));
            let connection = Connection::open(home.paths().database()).unwrap();
            let count = |query: &str| connection.query_row(query, [], |row| row.get::<_, i64>(0)).unwrap();
            assert_eq!(
                count("SELECT count(*) FROM message WHERE weight = length(body)"),
                i64::try_from(before.messages()).unwrap()
            );
            assert_eq!(count("SELECT count(*) FROM label"), i64::try_from(before.sessions()).unwrap());
            assert_eq!(count("SELECT count(*) FROM fragment WHERE tags != '[\"moved\"]'"), 0);
            let integrity: String =
                connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
            assert_eq!(integrity, "ok");
            Version::Next
        }
        Err(error) => panic!("{error}"),
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Version {
    Current,
    Next,
}

#[test]
fn stored_data_survives_a_migration() {
    let (home, before) = filled_store();
    assert_eq!(assert_one_version(&home, &before), Version::Current);
    migrate(&home).unwrap();
    assert_eq!(assert_one_version(&home, &before), Version::Next);
    migrate(&home).unwrap();
    assert_eq!(assert_one_version(&home, &before), Version::Next);
}

#[test]
#[expect(clippy::print_stdout, reason = "prints the results of the run")]
fn a_failed_migration_leaves_the_older_version_unchanged() {
    let (home, _) = filled_store();
    disk::install();
    migrate(&home).unwrap();
    let (writes, reads) = disk::calls();
    let mut runs = 0;
    for (fault, calls) in
        [(Fault::Full, writes), (Fault::Half, writes), (Fault::Broken, writes), (Fault::Unread, reads)]
    {
        for lasting in [Lasting::Once, Lasting::On] {
            let stride = if long() { 1 } else { calls.div_ceil(4) };
            for call in (runs % stride..calls).step_by(stride) {
                let (home, before) = filled_store();
                disk::fail(call, fault, lasting);
                let migrated = migrate(&home);
                disk::repair();
                let version = assert_one_version(&home, &before);
                if migrated.is_ok() {
                    assert_eq!(version, Version::Next, "{fault:?} {lasting:?} in call {call}");
                }
                migrate(&home).unwrap();
                assert_eq!(assert_one_version(&home, &before), Version::Next);
                runs += 1;
            }
        }
    }
    println!("{writes} writing calls, {reads} reading calls, {runs} runs with one fault each: nothing lost");
}

#[test]
#[expect(clippy::print_stdout, reason = "prints the results of the run")]
fn an_interrupted_migration_leaves_the_older_version_unchanged() {
    let (home, before) = filled_store();
    let database_before = std::fs::read(home.paths().database()).unwrap();
    disk::start_recording();
    migrate(&home).unwrap();
    let changes = disk::take_recorded();
    let cuts: Vec<Cut> = cuts(&changes, if long() { 6 } else { 1 }, if long() { usize::MAX } else { 60 });
    for_each_restored(&home, &[(home.paths().database(), database_before)], &changes, &cuts, |_, _| {
        assert_one_version(&home, &before);
        migrate(&home).unwrap();
        assert_eq!(assert_one_version(&home, &before), Version::Next);
    });
    println!("{} changes of files, interrupted at {} points: nothing lost", changes.len(), cuts.len());
}
