//! When the context meter is read and sent: when something changed that it shows, at most four times a second, and one reading at
//! a time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use strata_engine::cancel::Cancel;
use strata_host::pool::Lane;

use super::MainLoop;
use crate::clock::now_ms;
use crate::faults::carried;
use crate::mail::Mail;
use crate::meter::{self, Status};
use crate::outgoing::Outgoing;

/// The meter is sent at most this often (`strata/status`, four a second).
const METER_EVERY: Duration = Duration::from_millis(250);

/// Whether the meter has to be read, and since when it may.
#[derive(Default)]
pub(super) struct Meter {
    pub(super) wanted: bool,
    reading: bool,
    last: Option<Instant>,
}

impl MainLoop {
    /// How long until the meter may be read; `None` when nobody wants it or it is being read.
    pub(super) fn time_to_meter(&self) -> Option<Duration> {
        if !self.meter.wanted || self.meter.reading {
            return None;
        }
        let since = self.meter.last.map_or(METER_EVERY, |last| last.elapsed());
        Some(METER_EVERY.saturating_sub(since))
    }

    pub(super) fn read_meter(&mut self) {
        let Some(session) = self.world.sessions.get(&self.world.current).cloned() else { return };
        (self.meter.wanted, self.meter.reading, self.meter.last) = (false, true, Some(Instant::now()));
        let snapshot = self.world.snapshot.clone();
        let mail = self.mail.clone();
        let services = Arc::clone(&self.services);
        self.pool.spawn(
            Lane::Background,
            carried("meter", move || {
                let keeping = services.keeper.keeping();
                meter::read(&snapshot, &session, keeping, now_ms(), &Cancel::new())
            }),
            move |status| {
                let _ = mail.send(Mail::Metered(status.ok().flatten()));
            },
        );
    }

    /// The meter was read; `None` when the context cannot be weighed.
    pub(super) fn metered(&mut self, status: Option<Status>) {
        self.meter.reading = false;
        if let Some(status) = status {
            self.say(Outgoing::Status(status));
        }
    }
}
