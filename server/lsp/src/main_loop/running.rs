//! Takes events in order, and keeps a panic from doing harm.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use strata_app::faults::{self, Point};
use strata_host::pool::catch_panic;

use super::MainLoop;
use super::handling::Handling;
use crate::event::Event;
use crate::world::Action;

impl MainLoop {
    /// Handles events until [`Event::Goodbye`].
    pub(crate) fn run(mut self, events: &Receiver<Event>) {
        loop {
            let next = match self.time_to_wake() {
                Some(wait) => events.recv_timeout(wait),
                None => events.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match next {
                Ok(Event::Goodbye) | Err(RecvTimeoutError::Disconnected) => return,
                Ok(event) => self.take(event),
                Err(RecvTimeoutError::Timeout) => {
                    self.handle(Handling::new("time", Self::on_time).or_reset_meter());
                }
            }
        }
    }

    /// Returns the time until the next timer is due. `None` if no timer is active.
    fn time_to_wake(&self) -> Option<Duration> {
        let times = [self.time_to_meter(), self.watching.time_to_look(), self.time_to_release_any()];
        times.into_iter().flatten().min()
    }

    pub(super) fn take(&mut self, event: Event) {
        self.handle(Handling::of(event));
    }

    /// Handles an event. After a panic, leaves the world unchanged, notifies the user, and runs the recovery.
    pub(super) fn handle(&mut self, Handling { name, handle, recover }: Handling) {
        let done = catch_panic(|| {
            faults::reach(name, Point::Before);
            handle(self);
        });
        let Err(panicked) = done else { return };
        tracing::error!(name, %panicked, "a handler panicked; the state is unchanged");
        let message = format!("an internal error: `{name}` had no effect; please report this");
        self.services.warn("internal", message);
        if let Err(panicked) = catch_panic(|| recover(self)) {
            tracing::error!(name, %panicked, "recovering from a panic failed");
        }
    }

    /// Handles timers: reads the meter, scans all files, or ends a wait for the index.
    fn on_time(&mut self) {
        if self.watching.time_to_look().is_some_and(|wait| wait.is_zero()) {
            self.watching.looked();
            self.act(Action::Rescan);
        }
        if self.time_to_meter().is_some_and(|wait| wait.is_zero()) {
            self.read_meter();
        }
        self.release();
    }
}
