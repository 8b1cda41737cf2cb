//! Notices that the client's process is gone although its end of the input is still open (LSP 3.17, `processId`).
//!
//! Owns one thread that checks every few seconds. Never signals a process and never starts one. On Linux a process is
//! distinguished from a later one with the same id, and a zombie counts as gone; elsewhere on Unix only a client that is this
//! process's parent can be watched.

use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use super::exit::{Cause, ExitSignal};

/// How often to look by default: a third of the ten seconds in which a server must follow its client.
pub(super) const EVERY: Duration = Duration::from_secs(3);

/// Raises [`Cause::ClientDied`] when the process ends. One that cannot be seen from the start (another PID
/// namespace: containers, remote editors) is not watched.
pub(super) fn watch(process: u32, every: Duration, exit: &Arc<ExitSignal>) {
    let Some(life) = Life::of(process) else {
        tracing::info!(process, "cannot watch the client's process");
        return;
    };
    let exit = Arc::downgrade(exit);
    let spawned =
        thread::Builder::new().name("strata-watchdog".to_owned()).spawn(move || look(&life, every, &exit));
    if let Err(error) = spawned {
        tracing::warn!(%error, "the client's process is not watched");
    }
}

fn look(life: &Life, every: Duration, exit: &Weak<ExitSignal>) {
    loop {
        thread::sleep(every);
        let Some(exit) = exit.upgrade().filter(|exit| !exit.is_raised()) else { return };
        if !life.goes_on() {
            exit.raise(Cause::ClientDied);
            return;
        }
    }
}

/// One process, not merely a number.
#[cfg(target_os = "linux")]
#[derive(Debug, PartialEq, Eq)]
struct Life {
    process: u32,
    /// Clock ticks after boot: field 22 of proc_pid_stat(5).
    started: String,
}

#[cfg(target_os = "linux")]
impl Life {
    fn of(process: u32) -> Option<Self> {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // The name, field 2, is in parentheses and may hold anything, parentheses included.
        let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
        let state = fields.next()?;
        let started = fields.nth(18)?.to_owned();
        (!matches!(state, "Z" | "X" | "x")).then_some(Self { process, started })
    }

    fn goes_on(&self) -> bool {
        Self::of(self.process).as_ref() == Some(self)
    }
}

#[cfg(all(unix, not(target_os = "linux")))]
#[derive(Debug)]
struct Life {
    process: u32,
}

#[cfg(all(unix, not(target_os = "linux")))]
impl Life {
    fn of(process: u32) -> Option<Self> {
        Some(Self { process }).filter(Self::goes_on)
    }

    fn goes_on(&self) -> bool {
        // A process whose parent dies gets another one.
        std::os::unix::process::parent_id() == self.process
    }
}

/// Not visible to the standard library.
#[cfg(not(unix))]
#[derive(Debug)]
struct Life;

#[cfg(not(unix))]
impl Life {
    fn of(_process: u32) -> Option<Self> {
        None
    }

    fn goes_on(&self) -> bool {
        true
    }
}
