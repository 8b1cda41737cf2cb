//! What the store promises, checked from outside its modules.

use std::sync::Arc;

use serde_json::{Value, json};
use strata_engine::history::{Message, MessageId, NewMessage, Role};

use super::*;

/// A state directory and a workspace folder of a test's own.
struct Home {
    directory: tempfile::TempDir,
}

impl Home {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("work")).unwrap();
        Self { directory }
    }

    fn key(&self) -> WorkspaceKey {
        WorkspaceKey::of(&self.directory.path().join("work")).unwrap()
    }

    fn state(&self) -> std::path::PathBuf {
        self.directory.path().join("state")
    }

    fn open(&self) -> Store {
        let opened = Store::open(&self.state(), &self.key()).unwrap();
        assert_eq!(opened.set_aside, None);
        opened.store
    }
}

fn id(name: &str) -> SessionId {
    name.parse().unwrap()
}

fn new(name: &str) -> NewSession {
    NewSession { id: id(name), name: format!("Session {name}"), created_ms: 1_000 }
}

fn said(number: u64, text: &str) -> Arc<Message> {
    let role = if number.is_multiple_of(2) { Role::User } else { Role::Assistant };
    Arc::new(Message { id: MessageId(number), body: NewMessage::text(role, text) })
}

fn appended(messages: &[Arc<Message>]) -> Commit {
    let next_id = messages.iter().map(|message| message.id.0 + 1).max().unwrap_or_default();
    Commit { appended: messages.to_vec(), next_id, now_ms: 2_000, ..Commit::default() }
}

fn texts(store: &Store, name: &str) -> Vec<String> {
    store.load(&id(name)).unwrap().messages.iter().map(|message| message.text()).collect()
}

#[test]
fn what_was_committed_is_there_after_opening_again() {
    let home = Home::new();
    let mut store = home.open();
    let handle = store.create(&new("a")).unwrap();
    let messages = [said(0, "how do I\nsort?"), said(1, "like this")];
    let state = json!({"selected": ["a.rs"]});
    let commit = Commit { state: Some(state.clone()), ..appended(&messages) };
    store.commit(&handle, &commit).unwrap();
    drop((handle, store));
    let store = home.open();
    let stored = store.load(&id("a")).unwrap();
    assert_eq!(stored.messages, messages);
    assert_eq!((stored.state, stored.next_id, &*stored.name), (state, 2, "Session a"));
    let listed = &store.list().unwrap()[0];
    assert_eq!((listed.messages, listed.updated_ms, &*listed.preview), (2, 2_000, "how do I sort?"));
}

#[test]
fn a_fragment_and_a_message_are_found() {
    let home = Home::new();
    let mut store = home.open();
    let handle = store.create(&new("a")).unwrap();
    store.commit(&handle, &appended(&[said(0, "the parser is slow"), said(1, "quite")])).unwrap();
    let note = NewFragment {
        text: "Use the fast parser.".into(),
        tags: vec!["performance".into()],
        session: None,
        created_ms: 5,
    };
    store.memory_add(&note).unwrap();
    let found = store.search("PARSER", &Scope::Workspace, Limits::default()).unwrap();
    assert_eq!(found.hits.len(), 2);
    let found = store.search("slow parser", &Scope::Session(id("a")), Limits::default()).unwrap();
    assert_eq!(found.hits[0].snippet, "the parser is slow");
    assert_eq!(store.load(&id("a")).unwrap().state, Value::Null);
}
