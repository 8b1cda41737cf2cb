//! The open sessions, and which of them is the current one. All effects of commands on sessions are applied here.

use std::collections::BTreeMap;
use std::sync::Arc;

use strata_engine::prompt::session::Session;

use crate::commands::{Effect, Job, MAIN_SESSION};
use crate::session_store::SessionStore;

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
    pub fn resolve(&self, name: &str) -> Option<Arc<str>> {
        let name = if name == MAIN_SESSION { &self.current } else { name };
        self.open.get_key_value(name).map(|(id, _)| Arc::clone(id))
    }

    /// Replaces an open session with a changed version. Does nothing if the session has been closed in the meantime.
    pub fn install(&mut self, session: Arc<Session>) {
        if let Some(open) = self.open.get_mut(&session.id) {
            *open = session;
        }
    }

    /// Applies the effects of a command: opens, shows and closes sessions. Returns the jobs to start, in order.
    pub fn apply(&mut self, effects: Vec<Effect>) -> Vec<Job> {
        let mut jobs = Vec::new();
        for effect in effects {
            match effect {
                // Keep a session that is already open.
                Effect::Open(session) => {
                    self.open.entry(Arc::clone(&session.id)).or_insert(session);
                }
                Effect::Show(id) if self.contains(&id) => self.current = id,
                Effect::Show(_) => {}
                Effect::Close(id) => {
                    self.open.remove(&id);
                    if self.current == id {
                        let next = Arc::new(Session::new(SessionStore::new_name()));
                        self.current = Arc::clone(&next.id);
                        self.open.insert(Arc::clone(&next.id), next);
                    }
                }
                Effect::Start(job) => jobs.push(job),
            }
        }
        jobs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened() -> Sessions {
        let mut sessions = Sessions::new(Arc::new(Session::new(MAIN_SESSION)));
        sessions.apply(vec![Effect::Open(Arc::new(Session::new("s-1"))), Effect::Show("s-1".into())]);
        sessions
    }

    #[test]
    fn main_is_the_current_session_whatever_others_are_called() {
        let found = [MAIN_SESSION, "s-1", "s-2"].map(|name| opened().resolve(name));
        assert_eq!(found, [Some("s-1".into()), Some("s-1".into()), None]);
    }

    #[test]
    fn closing_the_current_session_begins_another_one() {
        let mut sessions = opened();
        let jobs = sessions.apply(vec![Effect::Close("s-1".into()), Effect::Start(Job::Reindex)]);
        assert!(matches!(jobs[..], [Job::Reindex]) && !sessions.contains("s-1"));
        assert!(sessions.current().is_some_and(|session| session.history.messages().is_empty()));
        assert_eq!(sessions.iter().count(), 2);
    }

    #[test]
    fn a_closed_session_stays_closed() {
        let mut sessions = opened();
        sessions.apply(vec![Effect::Close(MAIN_SESSION.into())]);
        sessions.install(Arc::new(Session::new(MAIN_SESSION)));
        assert!(!sessions.contains(MAIN_SESSION));
    }
}
