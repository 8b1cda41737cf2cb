//! Opens the first session of a server: a new one, or one from an earlier server, which may have to release it first.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use strata_host::store::SessionAccess;
use strata_prompt::session::Session;

use crate::commands::Effect;
use crate::model::session_store::{SessionStore, SessionStoreError};
use crate::runtime::executor::CommandOutcome;
use crate::services::Services;

/// How long to wait for a session that another process is writing to. A server notices within 3 s that its editor has
/// ended.
const RESUME_TIMEOUT: Duration = Duration::from_millis(3_500);

/// Interval between attempts to open a session that another process is writing to.
const RESUME_PAUSE: Duration = Duration::from_millis(50);

/// The first session of a server.
pub struct FirstSession {
    pub session: Arc<Session>,
    /// Id of the session to resume later, because another process is writing to it, such as the server that this one
    /// replaces.
    pub pending: Option<String>,
    /// Message for the user if the session cannot be resumed.
    pub problem: Option<String>,
}

impl FirstSession {
    /// Resumes a session, or begins a new one.
    pub fn open(resume: Option<&str>, store: &SessionStore) -> Self {
        let (mut pending, mut problem) = (None, None);
        if let Some(id) = resume {
            match store.load(id, SessionAccess::Write) {
                Ok(session) => return Self { session, pending, problem },
                Err(error) if error.is_session_in_use() => pending = Some(id.to_owned()),
                Err(error) => problem = Some(resume_failure_message(&error)),
            }
        }
        Self { session: Arc::new(Session::new(SessionStore::new_id_or_fallback())), pending, problem }
    }
}

/// Resumes a session once it is available. Warns the user if this fails or takes too long.
pub(super) fn resume(name: &str, services: &Services) -> CommandOutcome {
    let deadline = Instant::now() + RESUME_TIMEOUT;
    let effects = loop {
        match services.store.load(name, SessionAccess::Write) {
            Ok(session) => {
                let id = Arc::clone(&session.id);
                break vec![Effect::Open(session), Effect::Show(id)];
            }
            Err(error) if error.is_session_in_use() && Instant::now() < deadline => {
                thread::sleep(RESUME_PAUSE);
            }
            Err(error) => {
                services.warn("resume", resume_failure_message(&error));
                break Vec::new();
            }
        }
    };
    CommandOutcome { session: None, effects, result: Ok(Value::Null) }
}

fn resume_failure_message(error: &SessionStoreError) -> String {
    format!("cannot resume the last session, so a new one was started: {error}")
}
