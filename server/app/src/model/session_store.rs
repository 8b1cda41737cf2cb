//! Stores sessions: tracks the last stored state of each, and who may write to it. Opens the store on first use.
//! Without a store, sessions last as long as the server. Call its methods only on threads that may wait for the disk.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use strata_conversation::history::{History, MessageId};
use strata_host::store::{
    NewSession, SessionAccess, SessionChange, SessionHandle, SessionId, SessionInfo, Store, StoreError,
    StoredCacheMemory, WorkspaceKey, state_directory,
};
use strata_prompt::session::{CacheMemory, SavedSession, Session};
use strata_tokens::calibration::Calibrations;
use strata_tokens::cost::Bill;

use crate::clock::now_ms;
use crate::faults::{self, FaultPoint};

/// Whether sessions are kept on disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Persistence {
    Durable,
    /// Sessions are lost when the server exits, because there is no workspace folder or no usable store.
    InMemory,
}

/// Persistent storage for sessions. Sessions are kept in memory until a folder is set.
#[derive(Debug, Default)]
pub struct SessionStore(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    store_state: StoreState,
    sessions: BTreeMap<String, OpenSession>,
    /// Ids of the sessions that are never stored.
    in_memory: BTreeSet<String>,
    /// Message about the store that has not been shown to the user yet.
    notice: Option<String>,
    /// Token calibration of the most recently stored conversation. `None` until it is looked up.
    calibrations: Option<Calibrations>,
}

#[derive(Debug, Default)]
enum StoreState {
    #[default]
    Nowhere,
    /// Not opened yet. The store is in the directory `state`, and `folder` identifies the workspace.
    Closed {
        state: PathBuf,
        folder: PathBuf,
    },
    Open(Box<Store>),
    /// Could not be opened at the last attempt.
    Failed {
        state: PathBuf,
        folder: PathBuf,
        reason: String,
    },
}

/// A session that is open in this process.
#[derive(Debug)]
struct OpenSession {
    handle: SessionHandle,
    /// Messages as last stored. The other stored state is in `saved`.
    history: History,
    saved: Arc<SavedSession>,
    /// Number of callers that have loaded the session and not yet released it.
    holders: usize,
}

/// Why a session could not be stored, read or found.
#[derive(Debug, thiserror::Error)]
pub enum SessionStoreError {
    /// There is no store because no folder is set.
    #[error("conversations are not saved: there is no workspace folder")]
    Nowhere,
    #[error("conversations are not saved: {0}")]
    Unavailable(String),
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The stored data is not in a format that Strata writes.
    #[error("cannot read session `{id}`: {problem}")]
    Unreadable { id: String, problem: String },
}

impl SessionStoreError {
    /// Returns whether the session could not be opened because another process is writing to it.
    pub fn is_session_in_use(&self) -> bool {
        matches!(self, Self::Store(StoreError::InUse { .. }))
    }
}

impl SessionStore {
    /// Persists sessions from now on, in the user's state directory, for the workspace whose first folder is `folder`.
    /// Does not open the store yet. Sessions that are already open are unaffected.
    ///
    /// # Errors
    /// Returns [`StoreError::NoStateDirectory`] if the state directory is unknown.
    pub fn enable_persistence(&self, folder: &Path) -> Result<(), StoreError> {
        let state = state_directory(|name| std::env::var_os(name))?;
        self.enable_persistence_in(state, folder);
        Ok(())
    }

    /// Like `settle`, with an explicit state directory.
    pub fn enable_persistence_in(&self, state: PathBuf, folder: &Path) {
        let mut inner = self.inner();
        if matches!(inner.store_state, StoreState::Nowhere) {
            inner.store_state = StoreState::Closed { state, folder: folder.to_owned() };
        }
    }

    /// Creates an unguessable id for a new session.
    ///
    /// # Errors
    /// Returns an error if the system provides no randomness.
    pub(crate) fn new_id() -> Result<String, StoreError> {
        Ok(SessionId::random()?.as_str().to_owned())
    }

    /// Like `new_id`, but derives the id from the time if the system provides no randomness.
    pub fn new_id_or_fallback() -> String {
        Self::new_id().unwrap_or_else(|_| format!("s-{}", now_ms()))
    }

    /// Excludes a session from the store from now on.
    pub(crate) fn keep_in_memory(&self, id: &str) {
        self.inner().in_memory.insert(id.to_owned());
    }

    /// Returns whether sessions are persisted. A store that has not been opened yet counts as working.
    pub fn persistence(&self) -> Persistence {
        match self.inner().store_state {
            StoreState::Nowhere | StoreState::Failed { .. } => Persistence::InMemory,
            StoreState::Closed { .. } | StoreState::Open(_) => Persistence::Durable,
        }
    }

    /// Runs `work` with the open store.
    ///
    /// # Errors
    /// Returns a [`SessionStoreError`] if the store cannot be opened or `work` fails.
    pub fn with_store<T>(
        &self,
        work: impl FnOnce(&mut Store) -> Result<T, StoreError>,
    ) -> Result<T, SessionStoreError> {
        let mut inner = self.inner();
        let Inner { store_state, notice, .. } = &mut *inner;
        Ok(work(open_store(store_state, notice)?)?)
    }

    /// Stores the changes to a session durably. Stores nothing for a new session that is still empty.
    ///
    /// # Errors
    /// Returns a [`SessionStoreError`] if the changes cannot be stored. The stored session is then unchanged. Returns
    /// `Ok` if there is no store.
    pub fn commit(&self, session: &Arc<Session>, now_ms: u64) -> Result<(), SessionStoreError> {
        let mut inner = self.inner();
        let Inner { store_state, sessions, in_memory, notice, calibrations } = &mut *inner;
        if matches!(store_state, StoreState::Nowhere) || in_memory.contains(&*session.id) {
            return Ok(());
        }
        faults::reach("store", FaultPoint::Before);
        let id = &*session.id;
        let saved = session.saved_session();
        let (changes, is_state_changed) = match sessions.get(id) {
            Some(open_session) => {
                (session.history.diff_since(&open_session.history), *saved != open_session.saved)
            }
            None => (session.history.diff_since(&History::default()), **saved != SavedSession::default()),
        };
        if changes.is_empty() && !is_state_changed {
            return Ok(());
        }
        let store = match open_store(store_state, notice) {
            // The user is notified once. When the store works again, everything up to then is stored.
            Err(SessionStoreError::Unavailable(_)) => return Ok(()),
            opened => opened?,
        };
        if !sessions.contains_key(id) {
            sessions.insert(id.to_owned(), OpenSession::create(store, id, now_ms)?);
        }
        let Some(open_session) = sessions.get_mut(id) else { return Err(SessionStoreError::Nowhere) };
        let state = is_state_changed.then(|| serde_json::to_value(&**saved)).transpose();
        let commit = SessionChange {
            removed: changes.removed,
            changed: changes.changed,
            appended: changes.added,
            order: changes.order,
            state: state.map_err(|error| StoreError::Sqlite(error.to_string()))?,
            next_id: session.history.next_id().0,
            now_ms,
        };
        store.commit(&open_session.handle, &commit)?;
        faults::reach("store", FaultPoint::Changed);
        open_session.record_stored_state(session);
        if !session.calibrations.is_empty() {
            *calibrations = Some(session.calibrations.clone());
        }
        faults::reach("store", FaultPoint::After);
        Ok(())
    }

    /// Opens a stored session. A session that is already open in this process keeps its access.
    ///
    /// # Errors
    /// Returns a [`SessionStoreError`], including [`StoreError::InUse`] if another server writes to the session.
    pub fn load(&self, id: &str, access: SessionAccess) -> Result<Arc<Session>, SessionStoreError> {
        let mut inner = self.inner();
        let Inner { store_state, sessions, notice, .. } = &mut *inner;
        let store = open_store(store_state, notice)?;
        let name: SessionId = id.parse()?;
        match sessions.get_mut(id) {
            Some(open_session) => {
                let session = load_session(store, &name)?;
                open_session.record_stored_state(&session);
                open_session.holders += 1;
                Ok(Arc::new(session))
            }
            None => {
                let handle = store.open_session(&name, access)?;
                let session = load_session(store, &name)?;
                sessions.insert(id.to_owned(), OpenSession::new(handle, &session));
                Ok(Arc::new(session))
            }
        }
    }

    /// Stores the cache state and pending prompts for the next process. Does nothing for a session that is not stored.
    ///
    /// # Errors
    /// Returns a [`SessionStoreError`] if the state cannot be stored.
    pub(crate) fn store_cache_memory(&self, session: &Session) -> Result<(), SessionStoreError> {
        let mut inner = self.inner();
        let Inner { store_state, sessions, notice, .. } = &mut *inner;
        let Some(open) = sessions.get(&*session.id) else { return Ok(()) };
        let memory = serde_json::to_string(session.cache_memory())
            .map_err(|error| StoreError::Sqlite(error.to_string()))?;
        Ok(open_store(store_state, notice)?.keep_cache_memory(&open.handle, &memory)?)
    }

    /// Adds the state that [`keep_cache_memory`](Self::store_cache_memory) stored to a session.
    pub(crate) fn with_stored_cache_memory(&self, session: Arc<Session>) -> Arc<Session> {
        let stored = self.with_store(|store| store.cache_memory(&session.id.parse()?));
        let Ok(Some(StoredCacheMemory { memory, is_current })) = stored else { return session };
        match serde_json::from_str::<CacheMemory>(&memory) {
            Ok(memory) => {
                let mut session = Session::clone(&session);
                session.restore_cache_memory(if is_current {
                    memory
                } else {
                    memory.adapt_to_changed_session()
                });
                Arc::new(session)
            }
            // The state was written by another version, so the next prompt will be rebuilt.
            Err(error) => {
                tracing::info!(%error, "cannot read the state of the provider's cache");
                session
            }
        }
    }

    /// Closes a session in this process, so that other processes may write to it. Does not delete it.
    pub fn release(&self, id: &str) {
        self.inner().sessions.remove(id);
    }

    /// Reverts a load that turned out not to be needed. Call it at most once per load. The session stays open while
    /// others use it.
    pub(crate) fn undo_load(&self, id: &str) {
        let mut inner = self.inner();
        let Some(open_session) = inner.sessions.get_mut(id) else { return };
        open_session.holders -= 1;
        if open_session.holders == 0 {
            inner.sessions.remove(id);
        }
    }

    /// Lists all stored sessions. Returns none if there is no store.
    ///
    /// # Errors
    /// Returns a [`SessionStoreError`] if the store cannot be read.
    pub(crate) fn list(&self) -> Result<Vec<SessionInfo>, SessionStoreError> {
        match self.with_store(|store| store.list()) {
            Err(SessionStoreError::Nowhere | SessionStoreError::Unavailable(_)) => Ok(Vec::new()),
            listed => listed,
        }
    }

    /// Returns what each stored session was billed, by its id. Returns none if there is no store.
    ///
    /// # Errors
    /// Returns a [`SessionStoreError`] if the store cannot be read.
    pub(crate) fn bills(&self) -> Result<BTreeMap<String, Bill>, SessionStoreError> {
        let states = match self.with_store(|store| store.state_field_by_session("bill")) {
            Err(SessionStoreError::Nowhere | SessionStoreError::Unavailable(_)) => Vec::new(),
            states => states?,
        };
        let bill = |(id, bill): (SessionId, Value)| {
            let bill =
                serde_json::from_value(bill).map_err(|error| StoreError::Damaged(error.to_string()))?;
            Ok((id.as_str().to_owned(), bill))
        };
        states.into_iter().map(bill).collect()
    }

    /// Returns the branch at the last prompt of a stored session, or `None` if it is unknown.
    ///
    /// # Errors
    /// Returns a [`SessionStoreError`] if the store cannot be read.
    pub(crate) fn branch_of(&self, id: &str) -> Result<Option<String>, SessionStoreError> {
        let states = self.with_store(|store| store.state_field_by_session("branch"))?;
        let state = states.into_iter().find(|(session, _)| session.as_str() == id);
        Ok(state.and_then(|(_, branch)| branch.as_str().map(str::to_owned)))
    }

    /// Stores a new session completely, or not at all.
    ///
    /// # Errors
    /// Returns the same errors as [`commit`](Self::commit).
    pub(crate) fn add(
        &self,
        session: &Arc<Session>,
        name: &str,
        now_ms: u64,
    ) -> Result<(), SessionStoreError> {
        let added = catch_unwind(AssertUnwindSafe(|| self.commit_with_name(session, name, now_ms)));
        if !matches!(added, Ok(Ok(()))) {
            // Report the first error, not that of the cleanup.
            let _ = self.delete(&session.id);
        }
        added.unwrap_or_else(|panic| resume_unwind(panic))
    }

    fn commit_with_name(
        &self,
        session: &Arc<Session>,
        name: &str,
        now_ms: u64,
    ) -> Result<(), SessionStoreError> {
        self.commit(session, now_ms)?;
        if !name.is_empty() && self.access(&session.id).is_some() {
            let id = session.id.parse()?;
            self.with_store(|store| store.rename(&id, name))?;
        }
        Ok(())
    }

    /// Stores `session`, which is a copy of the session `from`, together with its spilled outputs.
    ///
    /// # Errors
    /// Returns the same errors as [`commit`](Self::commit).
    pub(crate) fn fork(
        &self,
        from: &str,
        session: &Arc<Session>,
        name: &str,
        now_ms: u64,
    ) -> Result<(), SessionStoreError> {
        if self.access(from).is_some() {
            let mut inner = self.inner();
            let Inner { store_state, sessions, notice, .. } = &mut *inner;
            let original: SessionId = from.parse()?;
            let new = NewSession { id: session.id.parse()?, name: name.to_owned(), created_ms: now_ms };
            let store = open_store(store_state, notice)?;
            let handle = store.fork(&original, &new, None)?;
            let copy = load_session(store, &new.id)?;
            sessions.insert(session.id.to_string(), OpenSession::new(handle, &copy));
        }
        self.add(session, name, now_ms)
    }

    /// Deletes a session and all its data.
    ///
    /// # Errors
    /// Returns a [`SessionStoreError`], for example [`StoreError::InUse`] if another server writes to the session. The
    /// session is then unchanged.
    pub(crate) fn delete(&self, id: &str) -> Result<(), SessionStoreError> {
        let name: SessionId = id.parse()?;
        let mut inner = self.inner();
        let Inner { store_state, sessions, notice, .. } = &mut *inner;
        let store = match open_store(store_state, notice) {
            // Without a store, the session only needs to be closed.
            Err(SessionStoreError::Nowhere | SessionStoreError::Unavailable(_)) => return Ok(()),
            opened => opened?,
        };
        // The store takes the lock of the session itself, so release the lock held here first.
        let open_session = sessions.remove(id).map(|OpenSession { handle, history, saved, holders }| {
            (handle.access(), history, saved, holders)
        });
        match store.delete(&name) {
            Ok(()) => Ok(()),
            Err(error) => {
                if let Some((access, history, saved, holders)) = open_session
                    && let Ok(handle) = store.open_session(&name, access)
                {
                    sessions.insert(id.to_owned(), OpenSession { handle, history, saved, holders });
                }
                Err(error.into())
            }
        }
    }

    /// Stores a session even if it is empty, so that it can be named.
    ///
    /// # Errors
    /// Returns the same errors as [`commit`](Self::commit).
    pub(crate) fn ensure_stored(&self, session: &Session, now_ms: u64) -> Result<(), SessionStoreError> {
        let mut inner = self.inner();
        let Inner { store_state, sessions, notice, .. } = &mut *inner;
        if sessions.contains_key(&*session.id) {
            return Ok(());
        }
        match OpenSession::create(open_store(store_state, notice)?, &session.id, now_ms) {
            // The session is stored, but not open here.
            Err(StoreError::Exists(_)) => {}
            begun => {
                sessions.insert(session.id.to_string(), begun?);
            }
        }
        Ok(())
    }

    /// Returns the token calibration of the most recently stored conversation, or `None` if there is none. Looks it up
    /// only once.
    pub(crate) fn calibrations(&self) -> Option<Calibrations> {
        let mut inner = self.inner();
        let Inner { store_state, notice, calibrations, .. } = &mut *inner;
        if calibrations.is_none() {
            let state = open_store(store_state, notice)
                .and_then(|store| Ok(store.newest_state_field("calibrations")?));
            let calibrations_json = state.unwrap_or_else(|error| {
                tracing::debug!(%error, "earlier conversations are not available");
                None
            });
            *calibrations = Some(
                calibrations_json
                    .and_then(|calibrations_json| serde_json::from_value(calibrations_json).ok())
                    .unwrap_or_default(),
            );
        }
        calibrations.clone().filter(|calibrations| !calibrations.is_empty())
    }

    /// Returns the access with which a stored session is open in this process, or `None` if it is not open.
    pub(crate) fn access(&self, id: &str) -> Option<SessionAccess> {
        self.inner().sessions.get(id).map(|open_session| open_session.handle.access())
    }

    /// Takes the pending message for the user about the store.
    pub(crate) fn take_notice(&self) -> Option<String> {
        self.inner().notice.take()
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(|poisoned: PoisonError<_>| {
            self.0.clear_poison();
            let mut inner = poisoned.into_inner();
            inner.reload();
            inner
        })
    }
}

impl Inner {
    /// Reloads the stored state. The store itself is atomic, but a panic may have occurred before a change was recorded
    /// here.
    fn reload(&mut self) {
        let StoreState::Open(store) = &self.store_state else { return };
        for (id, open_session) in &mut self.sessions {
            // If a session cannot be read now, its next write reports the error.
            if let Ok(id) = id.parse()
                && let Ok(stored) = load_session(store, &id)
            {
                open_session.record_stored_state(&stored);
            }
        }
    }
}

impl OpenSession {
    /// Creates a stored session that is still empty.
    fn create(store: &mut Store, id: &str, now_ms: u64) -> Result<Self, StoreError> {
        let new = NewSession { id: id.parse()?, name: String::new(), created_ms: now_ms };
        Ok(Self {
            handle: store.create(&new)?,
            history: History::default(),
            saved: Arc::default(),
            holders: 1,
        })
    }

    /// Creates an open session with this stored state.
    fn new(handle: SessionHandle, stored: &Session) -> Self {
        Self {
            handle,
            history: stored.history.clone(),
            saved: Arc::clone(stored.saved_session()),
            holders: 1,
        }
    }

    /// Records the state that is now stored.
    fn record_stored_state(&mut self, stored: &Session) {
        (self.history, self.saved) = (stored.history.clone(), Arc::clone(stored.saved_session()));
    }
}

fn load_session(store: &Store, id: &SessionId) -> Result<Session, SessionStoreError> {
    let stored = store.load_session(id)?;
    let saved = parse_saved(id.as_str(), stored.state)?;
    let messages = stored.messages.into_iter().map(Arc::unwrap_or_clone);
    Ok(Session::restore(id.as_str(), messages, MessageId(stored.next_id), saved))
}

/// Parses the stored state other than messages. Imported sessions have no such state.
fn parse_saved(id: &str, state: Value) -> Result<SavedSession, SessionStoreError> {
    if state.is_null() {
        return Ok(SavedSession::default());
    }
    let unreadable = |error: serde_json::Error| SessionStoreError::Unreadable {
        id: id.to_owned(),
        problem: error.to_string(),
    };
    serde_json::from_value(state).map_err(unreadable)
}

/// Returns the store, and opens it if needed. Retries after each failure, because a disk may become available again.
fn open_store<'a>(
    store_state: &'a mut StoreState,
    notice: &mut Option<String>,
) -> Result<&'a mut Store, SessionStoreError> {
    let (state, folder, failed) = match store_state {
        StoreState::Open(store) => return Ok(store),
        StoreState::Nowhere => return Err(SessionStoreError::Nowhere),
        StoreState::Closed { state, folder } => (state.clone(), folder.clone(), None),
        StoreState::Failed { state, folder, reason } => (state.clone(), folder.clone(), Some(reason.clone())),
    };
    match WorkspaceKey::for_folder(&folder).and_then(|workspace| Store::open(&state, &workspace)) {
        Ok(opened) => {
            *notice = match opened.set_aside {
                Some(aside) => Some(format!(
                    "the session store was damaged ({}); it is now {}, and Strata created a new one",
                    aside.reason,
                    aside.path.display()
                )),
                None => failed.map(|_| "conversations are being saved again".to_owned()),
            };
            *store_state = StoreState::Open(Box::new(opened.store));
        }
        // A busy or full store may work the next time, and changes that were not stored have not been acknowledged.
        Err(error @ (StoreError::Busy | StoreError::Full)) if failed.is_none() => return Err(error.into()),
        Err(error) => {
            let reason = error.to_string();
            if failed.as_ref() != Some(&reason) {
                *notice = Some(format!(
                    "conversations are not saved: {reason}; they are lost when the server exits"
                ));
            }
            *store_state = StoreState::Failed { state, folder, reason };
        }
    }
    match store_state {
        StoreState::Open(store) => Ok(store),
        StoreState::Failed { reason, .. } => Err(SessionStoreError::Unavailable(reason.clone())),
        StoreState::Nowhere | StoreState::Closed { .. } => Err(SessionStoreError::Nowhere),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use strata_conversation::history::{NewMessage, Role};

    use super::*;

    #[test]
    fn messages_added_while_the_disk_was_unavailable_are_stored_later() {
        let top = tempfile::tempdir().unwrap();
        let disk = top.path().join("disk");
        fs::write(&disk, "no directory").unwrap();
        let store = SessionStore::default();
        store.enable_persistence_in(disk.join("state"), top.path());
        let mut session = Session::new("s-1");
        let mut add_message = |text: &str| {
            session.history.add(NewMessage::text(Role::User, text));
            Arc::new(session.clone())
        };
        for text in ["one", "two"] {
            store.commit(&add_message(text), 1).unwrap();
            assert_eq!(store.persistence(), Persistence::InMemory);
        }
        assert!(
            store.take_notice().is_some_and(|notice| notice.contains("they are lost when the server exits"))
        );
        assert_eq!(store.take_notice(), None);
        fs::remove_file(&disk).unwrap();
        store.commit(&add_message("three"), 1).unwrap();
        assert_eq!(
            (store.persistence(), store.take_notice()),
            (Persistence::Durable, Some("conversations are being saved again".to_owned()))
        );
        drop(store);
        let store = SessionStore::default();
        store.enable_persistence_in(disk.join("state"), top.path());
        assert_eq!(store.load("s-1", SessionAccess::Write).unwrap().history.messages().len(), 3);
    }

    #[test]
    fn the_store_keeps_no_reference_to_a_stored_session() {
        let top = tempfile::tempdir().unwrap();
        let store = SessionStore::default();
        store.enable_persistence_in(top.path().join("state"), top.path());
        let mut session = Session::new("s-1");
        session.history.add(NewMessage::text(Role::User, "one"));
        let session = Arc::new(session);
        store.commit(&session, 1).unwrap();
        assert_eq!(Arc::strong_count(&session), 1, "prompts that wait for their answer would be kept twice");
    }
}
