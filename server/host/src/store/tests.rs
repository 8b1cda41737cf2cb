//! Tests of the store's guarantees, from outside its modules.

mod faults;
mod lines;
mod model;
mod opening;
mod searching;
mod sessions;
mod spilling;

use std::path::PathBuf;
use std::sync::Arc;

use strata_conversation::history::{Message, MessageId, NewMessage, Role};

use super::*;

/// A state directory and a workspace folder for one test.
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
        WorkspaceKey::for_folder(&self.directory.path().join("work")).unwrap()
    }

    fn state(&self) -> PathBuf {
        self.directory.path().join("state")
    }

    fn database(&self) -> PathBuf {
        self.open().paths.database()
    }

    /// Returns the paths without opening anything.
    fn paths(&self) -> StorePaths {
        StorePaths::prepare(&self.state(), &self.key()).unwrap()
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

fn new_session(name: &str) -> NewSession {
    NewSession { id: id(name), name: format!("Session {name}"), created_ms: 1_000 }
}

fn text_message(number: u64, text: &str) -> Arc<Message> {
    let role = if number.is_multiple_of(2) { Role::User } else { Role::Assistant };
    Arc::new(Message { id: MessageId(number), body: NewMessage::text(role, text) })
}

fn appended(messages: &[Arc<Message>]) -> SessionChange {
    let next_id = messages.iter().map(|message| message.id.0 + 1).max().unwrap_or_default();
    SessionChange { appended: messages.to_vec(), next_id, now_ms: 2_000, ..SessionChange::default() }
}

fn create_session_with(store: &mut Store, name: &str, messages: &[Arc<Message>]) {
    let handle = store.create(&new_session(name)).unwrap();
    store.commit(&handle, &appended(messages)).unwrap();
}

fn texts(store: &Store, name: &str) -> Vec<String> {
    store.load_session(&id(name)).unwrap().messages.iter().map(|message| message.text()).collect()
}
