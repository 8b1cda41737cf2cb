//! Decides when to read and send the context meter. It is read after a change that it shows, at most four times a
//! second, less often if a reading takes long, and never twice at the same time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use strata_base::cancel::Cancel;

use super::MainLoop;
use crate::event::Event;
use crate::outbound::Outbound;
use strata_app::clock::now_ms;
use strata_app::faults::carried;
use strata_app::model::meter::{self, Status};

/// Minimum interval between two meter notifications (`strata/status`, at most four a second).
const METER_EVERY: Duration = Duration::from_millis(250);

/// Minimum interval between two readings, as a multiple of the duration of the last one. A reading is expensive, since
/// it checks every file in Git's index and all rules while the user types. The last change is always followed by a
/// reading, so that the displayed value is current.
const TIMES_AS_LONG: u32 = 5;

/// Maximum interval between two readings, regardless of their duration.
const METER_AT_LEAST_EVERY: Duration = Duration::from_secs(2);

impl MainLoop {
    /// Returns the time until the next reading. `None` if no reading is needed, a reading is running, or the first
    /// session is still being resumed.
    pub(super) fn time_to_meter(&self) -> Option<Duration> {
        if !self.meter.wanted || self.meter.reading {
            return None;
        }
        // Clients store the session id from the meter to resume it later, so do not report a placeholder session.
        if self.queues.is_resuming(self.world.sessions.current_id()) {
            return None;
        }
        let every = self.meter.took.saturating_mul(TIMES_AS_LONG).clamp(METER_EVERY, METER_AT_LEAST_EVERY);
        let since = self.meter.last.map_or(every, |last| last.elapsed());
        Some(every.saturating_sub(since))
    }

    pub(super) fn read_meter(&mut self) {
        let Some(session) = self.world.sessions.current().cloned() else { return };
        (self.meter.wanted, self.meter.reading, self.meter.last) = (false, true, Some(Instant::now()));
        let snapshot = self.world.snapshot.clone();
        let events = self.events.clone();
        let services = Arc::clone(&self.services);
        self.background.spawn(
            carried("meter", move || {
                let keeping = services.store.persistence();
                let session = snapshot.with_current_lines(&session);
                meter::read(&snapshot, &session, keeping, now_ms(), &Cancel::new())
            }),
            move |status| {
                let _ = events.send(Event::Metered(status.ok().flatten()));
            },
        );
    }

    /// Handles a meter reading; `None` if the size of the context is unknown.
    pub(super) fn metered(&mut self, status: Option<Status>) {
        self.meter.reading = false;
        self.meter.took = self.meter.last.map_or(Duration::ZERO, |last| last.elapsed());
        if let Some(status) = status
            && self.meter.unsent.put(status).is_none()
        {
            self.say(Outbound::Status(self.meter.unsent.clone()));
        }
    }
}

#[cfg(test)]
mod tests {

    use strata_prompt::session::Session;

    use super::*;
    use strata_app::model::session_store::Persistence;
    use strata_app::model::snapshot::Snapshot;

    #[test]
    fn of_readings_that_nobody_takes_only_the_newest_is_kept() {
        let (mut main_loop, mut said) = MainLoop::with_one_thread(std::sync::mpsc::channel().0);
        let status = |revision: usize| {
            let mut session = Session::new("s-1");
            (0..revision).for_each(|_| session.touch());
            meter::read(&Snapshot::default(), &session, Persistence::InMemory, 0, &Cancel::new())
        };
        (1..=100).for_each(|revision| main_loop.metered(status(revision)));
        let Ok(Outbound::Status(newest)) = said.try_recv() else { panic!("no reading was sent") };
        assert_eq!(newest.take(), status(100));
        assert!(said.try_recv().is_err(), "unsent readings are replaced");
        main_loop.metered(status(101));
        assert!(said.try_recv().is_ok(), "a reading after the previous one was sent is sent too");
    }

    #[test]
    fn a_reading_that_takes_long_is_not_followed_at_once() {
        let (mut main_loop, _said) = MainLoop::with_one_thread(std::sync::mpsc::channel().0);
        let mut wait_after = |took: Duration| {
            let began = Instant::now().checked_sub(took);
            (main_loop.meter.last, main_loop.meter.reading) = (began, true);
            main_loop.metered(None);
            main_loop.meter.wanted = true;
            main_loop.time_to_meter().unwrap()
        };
        assert!(wait_after(Duration::from_millis(300)) > METER_EVERY);
        assert!(wait_after(Duration::from_secs(10)).is_zero(), "the wait has an upper limit");
    }
}
