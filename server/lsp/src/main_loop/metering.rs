//! Decides when to read and send the context meter. It is read after a change that it shows, at most four times a
//! second, less often if a reading takes long, and never twice at the same time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use strata_base::cancel::Cancel;

use super::MainLoop;
use crate::event::Event;
use crate::outbound::OutboundMessage;
use strata_app::clock::now_ms;
use strata_app::faults::with_fault_points;
use strata_app::model::meter::{self, ContextStatus};

/// Minimum interval between two meter notifications (`strata/status`, at most four a second).
const MIN_METER_INTERVAL: Duration = Duration::from_millis(250);

/// Minimum interval between two readings, as a multiple of the duration of the last one. A reading is expensive, since
/// it checks every file in Git's index and all rules while the user types. The last change is always followed by a
/// reading, so that the displayed value is current.
const MIN_METER_INTERVAL_FACTOR: u32 = 5;

/// Maximum interval between two readings, regardless of their duration.
const MAX_METER_INTERVAL: Duration = Duration::from_secs(2);

impl MainLoop {
    /// Returns the time until the next reading. `None` if no reading is needed, a reading is running, or the first
    /// session is still being resumed.
    pub(super) fn time_until_meter_reading(&self) -> Option<Duration> {
        if !self.meter.is_due || self.meter.is_reading {
            return None;
        }
        // Clients store the session id from the meter to resume it later, so do not report a placeholder session.
        if self.sessions.is_resume_placeholder(self.world.sessions.current_id()) {
            return None;
        }
        let interval = self
            .meter
            .last_duration
            .saturating_mul(MIN_METER_INTERVAL_FACTOR)
            .clamp(MIN_METER_INTERVAL, MAX_METER_INTERVAL);
        let since = self.meter.last_start.map_or(interval, |last| last.elapsed());
        Some(interval.saturating_sub(since))
    }

    pub(super) fn read_meter(&mut self) {
        let Some(session) = self.world.sessions.current().cloned() else { return };
        (self.meter.is_due, self.meter.is_reading, self.meter.last_start) =
            (false, true, Some(Instant::now()));
        let snapshot = self.world.snapshot.clone();
        let events = self.events.clone();
        let services = Arc::clone(&self.services);
        self.background.spawn(
            with_fault_points("meter", move || {
                let persistence = services.store.persistence();
                let session = snapshot.with_relocated_lines(&session);
                meter::measure_context(&snapshot, &session, persistence, now_ms(), &Cancel::new())
            }),
            move |status| {
                let _ = events.send(Event::MeterRead(status.ok().flatten()));
            },
        );
    }

    /// Handles a meter reading; `None` if the size of the context is unknown.
    pub(super) fn meter_was_read(&mut self, status: Option<ContextStatus>) {
        self.meter.is_reading = false;
        self.meter.last_duration = self.meter.last_start.map_or(Duration::ZERO, |last| last.elapsed());
        if let Some(status) = status
            && self.meter.unsent.replace(status).is_none()
        {
            self.send_to_client(OutboundMessage::Status(self.meter.unsent.clone()));
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
    fn a_newer_reading_replaces_an_unsent_one() {
        let (mut main_loop, mut outbound) = MainLoop::with_one_thread(std::sync::mpsc::channel().0);
        let status = |revision: usize| {
            let mut session = Session::new("s-1");
            (0..revision).for_each(|_| session.mark_changed());
            meter::measure_context(&Snapshot::default(), &session, Persistence::InMemory, 0, &Cancel::new())
        };
        (1..=100).for_each(|revision| main_loop.meter_was_read(status(revision)));
        let Ok(OutboundMessage::Status(newest)) = outbound.try_recv() else { panic!("no reading was sent") };
        assert_eq!(newest.take(), status(100));
        assert!(outbound.try_recv().is_err(), "unsent readings are replaced");
        main_loop.meter_was_read(status(101));
        assert!(outbound.try_recv().is_ok(), "a reading after the previous one was sent is sent too");
    }

    #[test]
    fn the_next_reading_waits_longer_after_a_slow_one() {
        let (mut main_loop, _outbound) = MainLoop::with_one_thread(std::sync::mpsc::channel().0);
        let mut wait_after = |duration: Duration| {
            let start = Instant::now().checked_sub(duration);
            (main_loop.meter.last_start, main_loop.meter.is_reading) = (start, true);
            main_loop.meter_was_read(None);
            main_loop.meter.is_due = true;
            main_loop.time_until_meter_reading().unwrap()
        };
        assert!(wait_after(Duration::from_millis(300)) > MIN_METER_INTERVAL);
        assert!(wait_after(Duration::from_secs(10)).is_zero(), "the wait has an upper limit");
    }
}
