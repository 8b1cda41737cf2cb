//! Applies the effects of commands to the open sessions.

use std::sync::Arc;

use strata_prompt::session::Session;

use crate::commands::{BackgroundJob, Effect};
use crate::model::sessions::Sessions;

/// Installs the session that a command changed, if any, and applies its effects: opens, shows and closes sessions.
/// Returns the jobs to start, in order.
pub fn apply_effects(
    sessions: &mut Sessions,
    changed: Option<Arc<Session>>,
    effects: Vec<Effect>,
) -> Vec<BackgroundJob> {
    if let Some(session) = changed {
        sessions.replace(session);
    }
    let mut jobs = Vec::new();
    for effect in effects {
        match effect {
            Effect::Open(session) => sessions.open(session),
            Effect::Show(id) => sessions.make_current(id),
            Effect::Close(id) => sessions.close(&id),
            Effect::Start(job) => jobs.push(job),
        }
    }
    jobs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::sessions::MAIN_SESSION;

    fn opened() -> Sessions {
        let mut sessions = Sessions::new(Arc::new(Session::new(MAIN_SESSION)));
        let effects = vec![Effect::Open(Arc::new(Session::new("s-1"))), Effect::Show("s-1".into())];
        apply_effects(&mut sessions, None, effects);
        sessions
    }

    #[test]
    fn main_stands_for_the_current_session() {
        let resolved = [MAIN_SESSION, "s-1", "s-2"].map(|name| opened().resolve_id(name));
        assert_eq!(resolved, [Some("s-1".into()), Some("s-1".into()), None]);
    }

    #[test]
    fn closing_the_current_session_begins_another_one() {
        let mut sessions = opened();
        let jobs = apply_effects(
            &mut sessions,
            None,
            vec![Effect::Close("s-1".into()), Effect::Start(BackgroundJob::Reindex)],
        );
        assert!(matches!(jobs[..], [BackgroundJob::Reindex]) && !sessions.contains("s-1"));
        assert!(sessions.current().is_some_and(|session| session.history.messages().is_empty()));
        assert_eq!(sessions.iter().count(), 2);
    }

    #[test]
    fn a_closed_session_stays_closed() {
        let mut sessions = opened();
        apply_effects(&mut sessions, None, vec![Effect::Close(MAIN_SESSION.into())]);
        sessions.replace(Arc::new(Session::new(MAIN_SESSION)));
        assert!(!sessions.contains(MAIN_SESSION));
    }
}
