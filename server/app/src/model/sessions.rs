//! The open sessions, and which of them is the current one.

use std::collections::BTreeMap;
use std::sync::Arc;

use strata_prompt::session::Session;

use crate::model::session_store::SessionStore;

/// Alias that requests can use for the id of the current session.
pub const MAIN_SESSION: &str = "main";

#[derive(Clone, Debug)]
pub struct Sessions {
    open: BTreeMap<Arc<str>, Arc<Session>>,
    current: Arc<str>,
}

impl Sessions {
    /// Creates the collection with one open session, which becomes the current one.
    pub fn new(session: Arc<Session>) -> Self {
        let current = Arc::clone(&session.id);
        Self { open: BTreeMap::from([(Arc::clone(&current), session)]), current }
    }

    pub fn current_id(&self) -> &Arc<str> {
        &self.current
    }

    pub fn current(&self) -> Option<&Arc<Session>> {
        self.get(&self.current)
    }

    pub fn get(&self, id: &str) -> Option<&Arc<Session>> {
        self.open.get(id)
    }

    pub fn contains(&self, id: &str) -> bool {
        self.open.contains_key(id)
    }

    /// Returns the open sessions, sorted by id.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Session>> {
        self.open.values()
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Arc<Session>> {
        self.open.values_mut()
    }

    /// Returns the id of an open session. `main` is an alias for the current one.
    pub fn resolve_id(&self, name: &str) -> Option<Arc<str>> {
        let name = if name == MAIN_SESSION { &self.current } else { name };
        self.open.get_key_value(name).map(|(id, _)| Arc::clone(id))
    }

    /// Replaces an open session with a changed version. Does nothing if the session has been closed in the meantime.
    pub fn replace(&mut self, session: Arc<Session>) {
        if let Some(open) = self.open.get_mut(&session.id) {
            *open = session;
        }
    }

    /// Opens a session. Keeps the one with this id that is already open, if any.
    pub(crate) fn open(&mut self, session: Arc<Session>) {
        self.open.entry(Arc::clone(&session.id)).or_insert(session);
    }

    /// Makes a session the current one, if it is open.
    pub(crate) fn make_current(&mut self, id: Arc<str>) {
        if self.contains(&id) {
            self.current = id;
        }
    }

    /// Closes a session. A new and empty one replaces the current session.
    pub(crate) fn close(&mut self, id: &Arc<str>) {
        self.open.remove(id);
        if self.current == *id {
            let next = Arc::new(Session::new(SessionStore::new_id_or_fallback()));
            self.current = Arc::clone(&next.id);
            self.open.insert(Arc::clone(&next.id), next);
        }
    }
}
