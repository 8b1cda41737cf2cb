//! Every kind of change to a store, one after the other, and the contents after each.

use std::fmt;
use std::sync::Arc;

use serde_json::json;

use super::super::{Home, appended, id, new_session, text_message};
use super::disk;
use crate::store::{
    NewNote, NoteId, SessionAccess, SessionChange, SessionInfo, Store, StoreError, StoredNote, StoredSession,
};
use strata_conversation::history::MessageId;

#[derive(Clone, Copy)]
pub(super) enum Step {
    /// Closes and reopens the store.
    Open,
    /// Performs an operation on the store.
    Do(&'static str, fn(&mut Store) -> Result<(), StoreError>),
}

/// The complete contents of a store.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Contents {
    sessions: Vec<(SessionInfo, StoredSession)>,
    notes: Vec<StoredNote>,
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Open => "open",
            Self::Do(name, _) => name,
        })
    }
}

impl Contents {
    pub(super) fn read_from(store: &Store) -> Result<Self, StoreError> {
        let mut sessions = Vec::new();
        for info in store.list()? {
            let stored = store.load_session(&info.id)?;
            sessions.push((info, stored));
        }
        Ok(Self { sessions, notes: store.list_notes()? })
    }

    pub(super) fn sessions(&self) -> usize {
        self.sessions.len()
    }

    pub(super) fn messages(&self) -> usize {
        self.sessions.iter().map(|(_, stored)| stored.messages.len()).sum()
    }
}

/// The steps, starting without a store.
pub(super) const STEPS: [Step; 17] = [
    Step::Open,
    Step::Do("create", |store| store.create(&new_session("a")).map(drop)),
    Step::Do("append", |store| append(store, "a", 0, 3, 20)),
    Step::Do("append much", |store| append(store, "a", 3, 2, 60_000)),
    Step::Do("change", |store| {
        let handle = store.open_session(&id("a"), SessionAccess::Write)?;
        let order = [2, 1, 5, 3].map(MessageId).to_vec();
        let commit = SessionChange {
            removed: vec![MessageId(0), MessageId(4)],
            changed: vec![text_message(1, "said otherwise")],
            order: Some(order),
            state: Some(json!({"selected": ["a.rs"]})),
            ..appended(&[text_message(5, "and more")])
        };
        store.commit(&handle, &commit)
    }),
    Step::Do("create another", |store| store.create(&new_session("b")).map(drop)),
    Step::Do("fill it", |store| append(store, "b", 0, 4, 20)),
    Step::Do("fork", |store| store.fork(&id("a"), &new_session("c"), Some(MessageId(5))).map(drop)),
    Step::Do("rename", |store| store.rename(&id("c"), "Another way")),
    Step::Do("note", |store| {
        let text = "uses tabs ".repeat(900);
        store.add_note(&NewNote {
            text,
            tags: vec!["style".into()],
            session: Some(id("a")),
            created_ms: 7,
        })?;
        Ok(())
    }),
    Step::Open,
    Step::Do("import", |store| {
        let header = r#"{"strataSession":1,"id":"d","name":"ImportedConversation","createdMs":5}"#;
        let message = serde_json::to_string(&*text_message(0, "brought along")).unwrap();
        store.import(format!("{header}\n{message}\n").as_bytes()).map(drop)
    }),
    Step::Do("delete", |store| store.delete(&id("b"))),
    Step::Do("forget", |store| store.remove_note(NoteId(1))),
    Step::Do("append to the copy", |store| append(store, "c", 6, 2, 5_000)),
    Step::Open,
    Step::Do("append after all", |store| append(store, "a", 6, 1, 10)),
];

/// Returns the contents after each step without faults.
pub(super) fn expected(home: &Home) -> Vec<Contents> {
    let mut store = None;
    STEPS
        .iter()
        .map(|step| {
            run(home, &mut store, *step).unwrap();
            disk::without_faults(|| Contents::read_from(store.as_ref().unwrap())).unwrap()
        })
        .collect()
}

/// Runs a step. If the store cannot be opened, `store` becomes `None`.
pub(super) fn run(home: &Home, store: &mut Option<Store>, step: Step) -> Result<(), StoreError> {
    match step {
        Step::Open => {
            *store = None;
            let opened = Store::open(&home.state(), &home.key())?;
            if let Some(damaged) = opened.set_aside {
                return Err(StoreError::Damaged(format!("set aside: {}", damaged.reason)));
            }
            *store = Some(opened.store);
            Ok(())
        }
        Step::Do(_, operation) => operation(store.as_mut().unwrap()),
    }
}

/// Appends messages of about `bytes` bytes, numbered from `first`.
fn append(store: &mut Store, session: &str, first: u64, count: u64, bytes: usize) -> Result<(), StoreError> {
    let handle = store.open_session(&id(session), SessionAccess::Write)?;
    let text = |number: u64| format!("message {number} {}", "words and ".repeat(bytes / 10));
    let messages: Vec<Arc<_>> =
        (first..first + count).map(|number| text_message(number, &text(number))).collect();
    store.commit(&handle, &appended(&messages))
}
