//! Detects that the client's process has ended although the input is still open (LSP 3.17, `processId`).
//!
//! Uses one thread that checks every few seconds, and sends no signals. On Linux, a process is distinguished from a
//! later one with the same id, and a zombie counts as ended. On other Unix systems, only the parent process can be
//! watched.

use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use super::exit::{ExitCause, ExitSignal};

/// Default interval between checks: a third of the ten seconds within which a server must exit after its client.
pub(super) const DEFAULT_INTERVAL: Duration = Duration::from_secs(3);

/// Raises [`ExitCause::ClientDied`] when the process ends. Does not watch a process that is not visible at the start, for
/// example because it is in another PID namespace (containers, remote editors).
pub(super) fn watch(process: u32, interval: Duration, exit: &Arc<ExitSignal>) {
    let Some(identity) = ProcessIdentity::new(process) else {
        tracing::info!(process, "cannot watch the client's process");
        return;
    };
    let exit = Arc::downgrade(exit);
    let spawned = thread::Builder::new()
        .name("strata-watchdog".to_owned())
        .spawn(move || poll_process(&identity, interval, &exit));
    if let Err(error) = spawned {
        tracing::warn!(%error, "the client's process is not watched");
    }
}

fn poll_process(identity: &ProcessIdentity, interval: Duration, exit: &Weak<ExitSignal>) {
    loop {
        thread::sleep(interval);
        let Some(exit) = exit.upgrade().filter(|exit| !exit.is_raised()) else { return };
        if !identity.is_alive() {
            exit.raise(ExitCause::ClientDied);
            return;
        }
    }
}

/// Identifies a process even if its id is reused.
#[cfg(target_os = "linux")]
#[derive(Debug, PartialEq, Eq)]
struct ProcessIdentity {
    process: u32,
    /// Start time in clock ticks after boot (field 22 in proc_pid_stat(5)).
    started: String,
}

#[cfg(target_os = "linux")]
impl ProcessIdentity {
    fn new(process: u32) -> Option<Self> {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // Field 2, the name, is in parentheses and may itself contain parentheses.
        let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
        let state = fields.next()?;
        let started = fields.nth(18)?.to_owned();
        (!matches!(state, "Z" | "X" | "x")).then_some(Self { process, started })
    }

    fn is_alive(&self) -> bool {
        Self::new(self.process).as_ref() == Some(self)
    }
}

#[cfg(all(unix, not(target_os = "linux")))]
#[derive(Debug)]
struct ProcessIdentity {
    process: u32,
}

#[cfg(all(unix, not(target_os = "linux")))]
impl ProcessIdentity {
    fn new(process: u32) -> Option<Self> {
        Some(Self { process }).filter(Self::is_alive)
    }

    fn is_alive(&self) -> bool {
        // A process whose parent ends gets another parent.
        std::os::unix::process::parent_id() == self.process
    }
}

/// Empty, because the standard library cannot observe other processes on this system.
#[cfg(not(unix))]
#[derive(Debug)]
struct ProcessIdentity;

#[cfg(not(unix))]
impl ProcessIdentity {
    fn new(_process: u32) -> Option<Self> {
        None
    }

    fn is_alive(&self) -> bool {
        true
    }
}
