//! Takes events in order, and keeps a panic from doing harm.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use strata_app::faults::{self, FaultPoint};
use strata_host::pool::catch_panic;

use super::MainLoop;
use super::handling::EventHandler;
use crate::event::Event;
use crate::world::Action;

impl MainLoop {
    /// Handles events until [`Event::Shutdown`].
    pub(crate) fn run(mut self, events: &Receiver<Event>) {
        loop {
            let next = match self.time_until_timer() {
                Some(wait) => events.recv_timeout(wait),
                None => events.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match next {
                Ok(Event::Shutdown) | Err(RecvTimeoutError::Disconnected) => return,
                Ok(event) => self.handle_event(event),
                Err(RecvTimeoutError::Timeout) => {
                    self.handle(EventHandler::new("time", Self::on_timer).recovering_by_meter_reset());
                }
            }
        }
    }

    /// Returns the time until the next timer is due. `None` if no timer is active.
    fn time_until_timer(&mut self) -> Option<Duration> {
        let index_wait = self.with_sessions(|sessions, host| sessions.shortest_index_wait(host));
        let times = [self.time_until_meter_reading(), self.watching.time_until_scan(), index_wait];
        times.into_iter().flatten().min()
    }

    pub(super) fn handle_event(&mut self, event: Event) {
        self.handle(EventHandler::for_event(event));
    }

    /// Handles an event. After a panic, leaves the world unchanged, notifies the user, and runs the recovery.
    pub(super) fn handle(&mut self, EventHandler { name, handle, recover }: EventHandler) {
        let result = catch_panic(|| {
            faults::reach(name, FaultPoint::Before);
            handle(self);
        });
        let Err(panicked) = result else { return };
        tracing::error!(name, %panicked, "a handler panicked; the state is unchanged");
        let message = format!("an internal error: `{name}` had no effect; please report this");
        self.services.warn("internal", message);
        if let Err(panicked) = catch_panic(|| recover(self)) {
            tracing::error!(name, %panicked, "recovering from a panic failed");
        }
    }

    /// Handles timers: reads the meter, scans all files, or ends a wait for the index.
    fn on_timer(&mut self) {
        if self.watching.time_until_scan().is_some_and(|wait| wait.is_zero()) {
            self.watching.record_scan();
            self.perform_action(Action::Rescan);
        }
        if self.time_until_meter_reading().is_some_and(|wait| wait.is_zero()) {
            self.read_meter();
        }
        self.with_sessions(|sessions, host| sessions.start_ready_tasks(host));
    }
}
