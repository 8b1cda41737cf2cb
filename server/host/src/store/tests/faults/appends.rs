//! Kills a process at any of the bytes that it writes while it appends a thousand messages.
//!
//! It writes tens of millions of bytes, and opening the store takes milliseconds, so the tests cannot try all of them.
//! However, SQLite ignores most bytes until the commit that they belong to is complete, so only a few bytes change
//! what the next process finds. [`Recovery`] predicts these. The tests open the store after each of them and after a
//! sample of the others, and compare what SQLite finds with the prediction.

use std::fs;
use std::sync::Arc;

use rusqlite::Connection;
use strata_conversation::history::Message;

use super::super::{Home, appended, id, new_session, text_message};
use super::cuts::{Cut, Rng, cuts, for_each, for_each_restored};
use super::disk::{self, Change};
use super::long;
use super::recovery::{Recovery, is_log};
use crate::store::{SessionAccess, Store, StoreError};

/// Number of appended messages, in the long and the short run. Enough for the log to start over.
const APPENDS: u64 = 1_000;
const FEW_APPENDS: u64 = 120;

#[test]
#[expect(clippy::print_stdout, reason = "prints the results of the run")]
fn a_thousand_appends_can_be_cut_at_every_byte() {
    let home = Home::new();
    let appends = if long() { APPENDS } else { FEW_APPENDS };
    let changes = append_all(&home, appends);
    let first = changes.iter().position(|change| matches!(change, Change::Acknowledged(0))).unwrap();
    let mut recovery = Recovery::default();
    let mut effective_cuts = Vec::new();
    for (within, change) in changes.iter().enumerate() {
        let effective_bytes = recovery.apply(change);
        if within > first {
            effective_cuts.extend(effective_bytes.into_iter().map(|bytes| Cut::kill(within, bytes)));
        }
        if within.is_multiple_of(100) {
            assert!(recovery.image() == recovery.with_reread_log().image(), "after change {within}");
        }
    }
    let effective_count = effective_cuts.len();
    assert!(effective_count as u64 >= appends, "only {effective_count} bytes matter for {appends} appends");
    let writes = (first..).zip(&changes[first..]).filter(|(_, change)| change.bytes() > 0);
    let bytes: usize = writes.clone().map(|(_, change)| change.bytes()).sum();
    // Before each write, and at a random byte within it.
    let mut rng = Rng(3);
    let mut between: Vec<Cut> = writes
        .flat_map(|(within, change)| [0, rng.below(change.bytes())].map(|bytes| Cut::kill(within, bytes)))
        .collect();
    let restart = first_log_restart(&changes).expect("the log never started over");
    if long() {
        between.extend(each_byte_of_the_append_with(restart, &changes));
    } else {
        effective_cuts = sample(effective_cuts, 40);
        between = sample(between, 20);
    }
    between.push(Cut::kill(changes.len() - 1, 0));
    let opened = [&effective_cuts[..], &between].concat();
    for_each(&home, &changes, &opened, assert_appended);
    let recovered = [effective_cuts, sample(between, 3_000)].concat();
    for_each_restored(&home, &[], &changes, &recovered, |_, cut| assert_recovered_as_predicted(&home, cut));
    println!(
        "{appends} appends write {bytes} bytes, {effective_count} of which change what the next process finds. Opened the store after \
         {} kills: 0 messages lost. Compared {} recoveries by SQLite with the prediction: all equal",
        opened.len(),
        recovered.len()
    );
}

#[test]
#[expect(clippy::print_stdout, reason = "prints the results of the run")]
fn a_thousand_appends_can_be_cut_by_a_power_cut() {
    let home = Home::new();
    let changes = append_all(&home, APPENDS);
    let cuts = cuts(&changes, 1, if long() { 5_000 } else { 30 });
    for_each(&home, &changes, &cuts, assert_appended);
    println!("{APPENDS} appends, {} interruptions, half of them power cuts: 0 messages lost", cuts.len());
}

/// Records the changes on disk for all appends. Every hundred of them use a newly opened store, so that logs are also
/// removed.
fn append_all(home: &Home, count: u64) -> Vec<Change> {
    disk::start_recording();
    let mut store = home.open();
    drop(store.create(&new_session("a")).unwrap());
    disk::acknowledged(0);
    for number in 0..count {
        if number.is_multiple_of(100) {
            drop(store);
            store = home.open();
        }
        append(&mut store, number).unwrap();
        disk::acknowledged(usize::try_from(number + 1).unwrap());
    }
    drop(store);
    // A final mark after all changes.
    disk::acknowledged(usize::try_from(count).unwrap());
    disk::take_recorded()
}

/// Checks that all acknowledged messages are stored, and at most one more.
fn assert_appended(acknowledged: usize, store: &Store) {
    let messages = match store.load_session(&id("a")) {
        Err(StoreError::NoSession(_)) if acknowledged == 0 => Vec::new(),
        loaded => loaded.unwrap().messages,
    };
    let count = messages.len();
    assert!(
        (acknowledged..=acknowledged + 1).contains(&count),
        "{acknowledged} messages acknowledged, {count} stored"
    );
    assert!((0..).zip(&messages).all(|(number, message)| *message == numbered_message(number)));
}

/// Checks that SQLite recovers the database that `Recovery` predicts from the files.
fn assert_recovered_as_predicted(home: &Home, cut: Cut) {
    let path = home.paths().database();
    let log = path.with_extension("db-wal");
    let predicted = Recovery::new(fs::read(&path).unwrap(), fs::read(&log).unwrap_or_default()).image();
    let connection = Connection::open(&path).unwrap();
    let mode: String = connection.query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal", "{cut:?}");
    let busy: i64 = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0)).unwrap();
    assert_eq!(busy, 0, "{cut:?}");
    drop(connection);
    assert!(fs::read(&path).unwrap() == predicted, "{cut:?}: SQLite does not find what its files predict");
}

/// Returns the first change that starts an existing log over, so that old frames follow the new ones.
fn first_log_restart(changes: &[Change]) -> Option<usize> {
    let mut log_exists = false;
    changes.iter().position(|change| match change {
        Change::Write(path, 0, _) if is_log(path) => std::mem::replace(&mut log_exists, true),
        Change::Delete(path) | Change::Truncate(path, 0) if is_log(path) => {
            log_exists = false;
            false
        }
        _ => false,
    })
}

/// Returns a cut at each byte written for the message that this change belongs to.
fn each_byte_of_the_append_with(change: usize, changes: &[Change]) -> Vec<Cut> {
    let is_end = |change: &Change| matches!(change, Change::Acknowledged(_));
    let from = changes[..change].iter().rposition(is_end).unwrap();
    let to = change + changes[change..].iter().position(is_end).unwrap();
    (from..to)
        .flat_map(|within| (0..changes[within].bytes()).map(move |bytes| Cut::kill(within, bytes)))
        .collect()
}

/// Returns at most `most` cuts, spread evenly.
fn sample(cuts: Vec<Cut>, most: usize) -> Vec<Cut> {
    let stride = cuts.len().div_ceil(most).max(1);
    cuts.into_iter().step_by(stride).collect()
}

fn append(store: &mut Store, number: u64) -> Result<(), StoreError> {
    let handle = store.open_session(&id("a"), SessionAccess::Write)?;
    store.commit(&handle, &appended(&[numbered_message(number)]))
}

/// Returns the message with this number. Some messages fill many pages.
fn numbered_message(number: u64) -> Arc<Message> {
    let words = if number.is_multiple_of(40) { 3_000 } else { usize::try_from(number % 50).unwrap() };
    text_message(number, &format!("message {number} {}", "and words ".repeat(words)))
}
