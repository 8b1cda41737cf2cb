//! Makes each of SQLite's reading and writing calls fail in turn.

use strata_conversation::history::MessageId;

use super::super::{Home, create_session_with, id, text_message};
use super::disk::{self, Fault, Lasting};
use super::long;
use super::script::{Contents, STEPS, Step, expected, run};
use crate::store::{SessionAccess, SessionChange, StoreError};

/// Number of calls tested in the short run.
const SHORT: usize = 6;

#[test]
#[expect(clippy::print_stdout, reason = "prints the results of the run")]
fn a_failed_system_call_causes_one_error_and_no_damage() {
    disk::install();
    let expected = expected(&Home::new());
    let (writes, reads) = disk::calls();
    let (mut runs, mut errors) = (0, 0);
    for (fault, calls) in
        [(Fault::Full, writes), (Fault::Half, writes), (Fault::Broken, writes), (Fault::Unread, reads)]
    {
        let stride = if long() { 1 } else { calls.div_ceil(SHORT) };
        for lasting in [Lasting::Once, Lasting::On] {
            // The short run tests different calls each time.
            for call in (runs % stride..calls).step_by(stride) {
                errors += one_failure(call, fault, lasting, &expected);
                runs += 1;
            }
        }
    }
    println!(
        "{writes} writing calls, {reads} reading calls, {runs} runs with one fault each: {errors} errors reported, 0 steps lost"
    );
    assert!(errors * 2 > runs, "most faults are noticed: {errors} of {runs}");
}

#[test]
fn no_file_is_created_in_a_shared_directory() {
    const MESSAGES: u64 = 30_000;
    disk::install();
    let home = Home::new();
    expected(&home);
    let mut store = home.open();
    let messages: Vec<_> = (0..MESSAGES).map(|number| text_message(number, "a word")).collect();
    create_session_with(&mut store, "many", &messages);
    store.search("a word", 20).unwrap();
    let order = Some((0..MESSAGES).rev().map(MessageId).collect());
    let handle = store.open_session(&id("many"), SessionAccess::Write).unwrap();
    store.commit(&handle, &SessionChange { order, next_id: MESSAGES, ..SessionChange::default() }).unwrap();
    drop(handle);
    store.delete(&id("many")).unwrap();
    assert_eq!(disk::temporary_files(), 0);
}

/// Runs all steps with a fault in one call, and returns the number of reported errors.
fn one_failure(call: usize, fault: Fault, lasting: Lasting, expected: &[Contents]) -> usize {
    let home = Home::new();
    let mut store = None;
    let mut errors = 0;
    disk::fail(call, fault, lasting);
    for (index, step) in STEPS.into_iter().enumerate() {
        let context = || format!("{fault:?} {lasting:?} from call {call}, while {step:?} (step {index})");
        if let Err(error) = run(&home, &mut store, step) {
            errors += 1;
            disk::repair();
            assert!(
                matches!(error, StoreError::Full | StoreError::Sqlite(_) | StoreError::Io { .. }),
                "{}: {error}",
                context()
            );
            if let (Step::Do(..), Some(store)) = (step, &store) {
                let contents = Contents::read_from(store).unwrap();
                assert!(contents == expected[index - 1], "{}: {error}, but the store has changed", context());
            }
            run(&home, &mut store, step)
                .unwrap_or_else(|error| panic!("{}, second attempt: {error}", context()));
        }
        let contents = disk::without_faults(|| Contents::read_from(store.as_ref().unwrap()));
        assert!(contents.unwrap() == expected[index], "{}: the store has unexpected contents", context());
    }
    disk::repair();
    for _ in 0..2 {
        store.as_ref().unwrap().verify().unwrap();
        run(&home, &mut store, Step::Open).unwrap();
        assert!(Contents::read_from(store.as_ref().unwrap()).unwrap() == expected[STEPS.len() - 1]);
    }
    errors
}
