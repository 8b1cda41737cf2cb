//! Migrations are atomic: whatever fails, and wherever the process dies, the tables are either unchanged for the old
//! version or completely migrated.

use rusqlite::Connection;

use super::super::Home;
use super::cuts::{Cut, cuts, for_each_left};
use super::disk::{self, Fault, Lasting};
use super::long;
use super::script::{Contents, expected};
use crate::store::{Store, StoreError, schema};

/// Creates a store of this version with all kinds of data, and returns its contents.
fn filled() -> (Home, Contents) {
    let home = Home::new();
    let states = expected(&home);
    (home, states.into_iter().next_back().unwrap())
}

/// Opens the file like the next version would.
fn migrate(home: &Home) -> Result<(), StoreError> {
    let mut connection = Connection::open(home.place().database())?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    schema::migrate_to_next(&mut connection)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    Ok(())
}

/// Checks that the store is either unchanged or completely migrated.
fn one_or_the_other(home: &Home, before: &Contents) -> Version {
    match Store::open(&home.state(), &home.key()) {
        Ok(opened) => {
            assert_eq!(opened.set_aside, None);
            assert!(Contents::of(&opened.store).unwrap() == *before);
            opened.store.verify().unwrap();
            Version::This
        }
        Err(StoreError::Newer { found, known, .. }) => {
            assert_eq!((found, known), (schema::NEWEST + 1, schema::NEWEST));
            let connection = Connection::open(home.place().database()).unwrap();
            let count = |query: &str| connection.query_row(query, [], |row| row.get::<_, i64>(0)).unwrap();
            assert_eq!(
                count("SELECT count(*) FROM message WHERE weight = length(body)"),
                i64::try_from(before.messages()).unwrap()
            );
            assert_eq!(count("SELECT count(*) FROM label"), i64::try_from(before.sessions()).unwrap());
            assert_eq!(count("SELECT count(*) FROM fragment WHERE tags != '[\"moved\"]'"), 0);
            let findings: String =
                connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
            assert_eq!(findings, "ok");
            Version::Next
        }
        Err(error) => panic!("{error}"),
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Version {
    This,
    Next,
}

#[test]
fn what_is_stored_goes_over_to_the_next_version() {
    let (home, before) = filled();
    assert_eq!(one_or_the_other(&home, &before), Version::This);
    migrate(&home).unwrap();
    assert_eq!(one_or_the_other(&home, &before), Version::Next);
    migrate(&home).unwrap();
    assert_eq!(one_or_the_other(&home, &before), Version::Next);
}

#[test]
#[expect(clippy::print_stdout, reason = "prints the results of the run")]
fn a_migration_that_fails_leaves_the_older_version_as_it_was() {
    let (home, _) = filled();
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
                let (home, before) = filled();
                disk::fail(call, fault, lasting);
                let migrated = migrate(&home);
                disk::mend();
                let version = one_or_the_other(&home, &before);
                if migrated.is_ok() {
                    assert_eq!(version, Version::Next, "{fault:?} {lasting:?} in call {call}");
                }
                migrate(&home).unwrap();
                assert_eq!(one_or_the_other(&home, &before), Version::Next);
                runs += 1;
            }
        }
    }
    println!("{writes} writing calls, {reads} reading calls, {runs} runs with one fault each: nothing lost");
}

#[test]
#[expect(clippy::print_stdout, reason = "prints the results of the run")]
fn a_migration_that_dies_leaves_the_older_version_as_it_was() {
    let (home, before) = filled();
    let was = std::fs::read(home.place().database()).unwrap();
    disk::note();
    migrate(&home).unwrap();
    let changes = disk::noted();
    let cuts: Vec<Cut> = cuts(&changes, if long() { 6 } else { 1 }, if long() { usize::MAX } else { 60 });
    for_each_left(&home, &[(home.place().database(), was)], &changes, &cuts, |_, _| {
        one_or_the_other(&home, &before);
        migrate(&home).unwrap();
        assert_eq!(one_or_the_other(&home, &before), Version::Next);
    });
    println!("{} changes of files, interrupted at {} points: nothing lost", changes.len(), cuts.len());
}
