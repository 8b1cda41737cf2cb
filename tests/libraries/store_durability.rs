//! The store under processes that die and processes that meet: what was acknowledged is there, and a session has one
//! writer. The other process is this test itself, started again with a folder in its environment.
#![cfg(unix)]
#![expect(clippy::print_stdout, reason = "a process acknowledges on its standard output")]
#![expect(clippy::print_stderr, reason = "figures of a run")]
#![expect(clippy::unwrap_used, reason = "test support outside of test functions")]

use std::env;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use e2e::{Rng, rerun};
use strata_conversation::history::{Message, MessageId, NewMessage, Role};
use strata_host::store::{
    NewSession, SessionAccess, SessionChange, SessionHandle, SessionId, Store, StoreError, WorkspaceKey,
};

/// Set in the process that is started again: the folder of the test.
const OTHER: &str = "STRATA_TEST_STORE";
/// And the session that it writes.
const SESSION: &str = "STRATA_TEST_SESSION";

const APPENDS: u64 = 1_000;

#[test]
fn every_acknowledged_message_survives_kill_9() {
    if let Some(folder) = other() {
        append_and_acknowledge(&folder, &session());
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    kill_until_all_is_said("every_acknowledged_message_survives_kill_9", folder.path(), &session());
}

#[test]
fn processes_that_write_beside_each_other_lose_nothing() {
    const TEST: &str = "processes_that_write_beside_each_other_lose_nothing";
    if let Some(folder) = other() {
        let name = env::var(SESSION).unwrap();
        append_and_acknowledge(&folder, &name.parse().unwrap());
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // Each is killed while the others go on.
    thread::scope(|scope| {
        for name in ["one", "two", "three"] {
            let folder = folder.path();
            scope.spawn(move || kill_until_all_is_said(TEST, folder, &name.parse().unwrap()));
        }
    });
    let store = open(folder.path());
    store.verify().unwrap();
    for name in ["one", "two", "three"] {
        let messages = store.load_session(&name.parse().unwrap()).unwrap().messages;
        assert_eq!(messages.len() as u64, APPENDS, "{name}");
        assert!((0..).zip(&messages).all(|(number, message)| **message == *said(number)), "{name}");
    }
}

/// Has a process append to a session, kills it and starts it again, until all is said; nothing of what it acknowledged is lost.
fn kill_until_all_is_said(test: &str, folder: &Path, session: &SessionId) {
    // Others in every run; shown when the test fails.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let mut rng = Rng::new(u64::from(now.subsec_nanos()));
    let (mut held, mut kills) = (0, 0);
    while held < APPENDS {
        let (mut process, lines) = start(test, folder, session);
        let patience = rng.below(150);
        let mut acknowledged: Vec<u64> = Vec::new();
        let mut lines = lines
            .lines()
            .map(Result::unwrap)
            .filter_map(|line| line.strip_prefix("ack ")?.parse::<u64>().ok());
        acknowledged.extend(lines.by_ref().take(patience));
        // Anywhere inside the next commits.
        thread::sleep(Duration::from_micros(rng.below(3_000) as u64));
        process.kill().unwrap();
        let status = process.wait().unwrap();
        assert!(matches!(status.code(), None | Some(0)), "{rng:?}: it ended by itself: {status}");
        kills += 1;
        // What it still said before it died counts as well.
        acknowledged.extend(lines);
        let store = open(folder);
        store.verify().unwrap();
        let messages = store.load_session(session).map(|stored| stored.messages).unwrap_or_default();
        let expected: Vec<u64> = (held..held + acknowledged.len() as u64).collect();
        assert_eq!(
            acknowledged, expected,
            "{rng:?}: acknowledged in order, going on where the last one ended"
        );
        let after = messages.len() as u64;
        let sure = held + acknowledged.len() as u64;
        assert!((sure..=sure + 1).contains(&after), "{rng:?}: {sure} acknowledged, {after} there");
        for (number, message) in (0..).zip(&messages) {
            assert_eq!(**message, *said(number), "{rng:?}");
        }
        held = after;
    }
    assert!(kills >= 5, "{rng:?}: only {kills} kills");
    eprintln!("{session}: {held} messages through {kills} kills, none lost");
}

#[test]
fn a_session_has_one_writer_until_its_process_dies() {
    if let Some(folder) = other() {
        let mut store = open(&folder);
        let _handle = create(&mut store, &session());
        println!("ack 0");
        // Until it is killed.
        io::stdin().read_to_end(&mut Vec::new()).unwrap();
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (mut process, mut lines) =
        start("a_session_has_one_writer_until_its_process_dies", folder.path(), &session());
    let mut line = String::new();
    while !line.starts_with("ack ") {
        line.clear();
        assert!(lines.read_line(&mut line).unwrap() > 0, "it ended without a word");
    }
    let store = open(folder.path());
    let in_use = StoreError::InUse { id: session(), pid: Some(process.id()) };
    assert_eq!(store.open_session(&session(), SessionAccess::Write).unwrap_err(), in_use);
    assert!(store.open_session(&session(), SessionAccess::Read).is_ok());
    process.kill().unwrap();
    process.wait().unwrap();
    assert!(store.open_session(&session(), SessionAccess::Write).is_ok());
}

fn append_and_acknowledge(folder: &Path, session: &SessionId) {
    let mut store = open(folder);
    let handle = match store.open_session(session, SessionAccess::Write) {
        Err(StoreError::NoSession(_)) => create(&mut store, session),
        opened => opened.unwrap(),
    };
    for number in store.load_session(session).unwrap().next_id..APPENDS {
        let appended = vec![said(number)];
        store
            .commit(&handle, &SessionChange { appended, next_id: number + 1, ..SessionChange::default() })
            .unwrap();
        println!("ack {number}");
        // As a user would, it leaves others their turn.
        thread::sleep(Duration::from_millis(1));
    }
}

fn other() -> Option<PathBuf> {
    env::var_os(OTHER).map(PathBuf::from)
}

/// Starts this test again as another process.
fn start(test: &str, folder: &Path, session: &SessionId) -> (Child, BufReader<ChildStdout>) {
    let mut command = rerun(module_path!(), test);
    command.env(OTHER, folder).env(SESSION, session.to_string());
    let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(process.stdout.take().unwrap());
    (process, lines)
}

fn open(folder: &Path) -> Store {
    let opened = Store::open(&folder.join("state"), &WorkspaceKey::for_folder(folder).unwrap()).unwrap();
    assert_eq!(opened.set_aside, None);
    opened.store
}

fn create(store: &mut Store, session: &SessionId) -> SessionHandle {
    store.create(&NewSession { id: session.clone(), name: String::new(), created_ms: 0 }).unwrap()
}

fn session() -> SessionId {
    "killed".parse().unwrap()
}

/// The message that stands at a place; some are long enough to fill many pages.
fn said(number: u64) -> Arc<Message> {
    let length = if number.is_multiple_of(40) { 30_000 } else { 10 + number % 500 };
    let text = format!("message {number} {}", "x".repeat(usize::try_from(length).unwrap()));
    Arc::new(Message { id: MessageId(number), body: NewMessage::text(Role::User, text) })
}
