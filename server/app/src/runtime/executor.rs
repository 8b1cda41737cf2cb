//! Runs commands and applies the results of jobs, each on a copy of their session. Stores changes before they become
//! visible. All front ends use this module, which depends on none of them.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use serde_json::Value;
use strata_base::cancel::Cancel;
use strata_host::pool::catch_panic;
use strata_prompt::session::Session;

use crate::clock::now_ms;
use crate::commands::{Access, CommandError, Context, Effect, Invocation};
use crate::model::sessions::Sessions;
use crate::model::snapshot::Snapshot;
use crate::services::Services;
use crate::services::running_compaction::RunningCompaction;

/// The environment of a command at the time it arrived.
pub(super) struct CommandEnvironment<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) sessions: &'a Sessions,
    pub(super) services: &'a Services,
    /// Running compaction of the session, if any.
    pub(super) compaction: Option<&'a RunningCompaction>,
    pub(super) cancel: &'a Cancel,
}

/// The outcome of a command or a job. Changes to its session have been stored.
#[derive(Debug)]
pub(super) struct CommandOutcome {
    /// The changed session. `None` if the session did not change.
    pub(super) session: Option<Arc<Session>>,
    pub(super) effects: Vec<Effect>,
    pub(super) result: Result<Value, CommandError>,
}

/// Runs a command on a copy of `before`. A command that fails, panics or is cancelled, or whose changes cannot be
/// stored, changes nothing.
pub(super) fn execute(
    command: Invocation,
    before: &Session,
    environment: &CommandEnvironment<'_>,
) -> CommandOutcome {
    let (name, access) = (command.name, command.access);
    let CommandEnvironment { snapshot, sessions, services, compaction, cancel } = *environment;
    let mut session = snapshot.with_relocated_lines(before).into_owned();
    let start = session.clone();
    let mut context = Context {
        snapshot,
        session: &mut session,
        sessions,
        services,
        compaction,
        now_ms: now_ms(),
        cancel,
        effects: Vec::new(),
        write: None,
        has_written: false,
    };
    let result = catch_unwind(AssertUnwindSafe(|| command.run(&mut context)));
    let Context { effects, has_written, .. } = context;
    let result = result.unwrap_or_else(|panic| {
        release_sessions_not_kept_open(&effects, sessions, services);
        resume_unwind(panic)
    });
    // Discard a result that no caller waits for, unless the command has already written to the store.
    if result.is_err() || (cancel.is_cancelled() && !has_written) {
        release_sessions_not_kept_open(&effects, sessions, services);
        return CommandOutcome { session: None, effects: Vec::new(), result };
    }
    let session = (!session.shares_all_state_with(&start)).then_some(session);
    debug_assert!(session.is_none() || access != Access::Reads, "{name} must not change its session");
    commit(session, effects, result, services)
}

/// Applies the result of a finished job to a copy of `before`.
pub(super) fn apply_job_result(
    before: &Session,
    services: &Services,
    change: impl FnOnce(&mut Session) -> Result<(), CommandError>,
) -> CommandOutcome {
    let mut session = before.clone();
    let result = change(&mut session).map(|()| Value::Null);
    commit(result.is_ok().then_some(session), Vec::new(), result, services)
}

/// Stores the changed session, and discards the change if it cannot be stored.
fn commit(
    session: Option<Session>,
    effects: Vec<Effect>,
    result: Result<Value, CommandError>,
    services: &Services,
) -> CommandOutcome {
    let session = session.map(Arc::new);
    let stored = session.as_ref().map_or(Ok(()), |session| services.store.commit(session, now_ms()));
    if let Some(notice) = services.store.take_notice() {
        services.warn("store", notice);
    }
    match stored {
        Ok(()) => CommandOutcome { session, effects, result },
        Err(error) => CommandOutcome::from_error(CommandError::failed(format!(
            "nothing was changed, because the change could not be saved: {error}"
        ))),
    }
}

impl CommandOutcome {
    pub(super) fn from_error(error: CommandError) -> Self {
        Self { session: None, effects: Vec::new(), result: Err(error) }
    }
}

/// Releases sessions that a task opened but that will not stay open. Keeps sessions that were open before.
pub(super) fn release_sessions_not_kept_open(effects: &[Effect], open: &Sessions, services: &Services) {
    for effect in effects {
        if let Effect::Open(session) = effect
            && !open.contains(&session.id)
        {
            services.store.undo_load(&session.id);
        }
    }
}

/// Stores the previous session again, because a failed change may already have been stored.
pub(super) fn restore_stored_session(session: &Arc<Session>, services: &Services) {
    if !matches!(catch_panic(|| services.store.commit(session, now_ms())), Ok(Ok(()))) {
        tracing::error!(session = &*session.id, "cannot undo a failed change in the session store");
    }
}

#[cfg(test)]
mod tests {
    use strata_host::store::SessionAccess;

    use super::*;

    fn services_with_sessions(folder: &tempfile::TempDir) -> Services {
        let services = Services::default();
        services.store.enable_persistence_in(folder.path().join("state"), folder.path());
        for id in ["s-1", "s-2"] {
            let mut session = Session::new(id);
            session.mark_changed();
            services.store.ensure_stored(&session, 1).unwrap();
        }
        services.store.release("s-2");
        services
    }

    #[test]
    fn a_session_opened_by_a_failed_task_is_released() {
        let folder = tempfile::tempdir().unwrap();
        let services = services_with_sessions(&folder);
        let sessions = Sessions::new(Arc::new(Session::new("s-1")));
        let effects = vec![
            Effect::Open(services.store.load("s-2", SessionAccess::Write).unwrap()),
            Effect::Open(Arc::new(Session::new("s-1"))),
        ];
        release_sessions_not_kept_open(&effects, &sessions, &services);
        assert_eq!(
            (services.store.access("s-2"), services.store.access("s-1")),
            (None, Some(SessionAccess::Write))
        );
    }

    #[test]
    fn a_session_loaded_twice_stays_open_until_both_loads_are_undone() {
        let folder = tempfile::tempdir().unwrap();
        let services = services_with_sessions(&folder);
        let sessions = Sessions::new(Arc::new(Session::new("s-1")));
        let loads =
            [(); 2].map(|()| vec![Effect::Open(services.store.load("s-2", SessionAccess::Write).unwrap())]);
        let access = loads.map(|effects| {
            release_sessions_not_kept_open(&effects, &sessions, &services);
            services.store.access("s-2")
        });
        assert_eq!(access, [Some(SessionAccess::Write), None]);
    }
}
