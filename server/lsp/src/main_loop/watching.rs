//! Who watches the files on disk: the client, we ourselves, or, where the system lets nobody watch, a look at everything
//! now and then. What is seen comes as mail.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use strata_host::pool::{Lane, Pool};
use strata_host::watch::{WatchError, Watcher};

use crate::faults::carried;
use crate::mail::Mail;

/// Without a watcher everything is looked at this often. A look at a thousand files takes milliseconds.
const LOOK_EVERY: Duration = Duration::from_secs(60);

/// Who watches.
#[derive(Default)]
pub(super) enum Watching {
    /// The client, or nobody yet.
    #[default]
    Others,
    /// We do.
    Ours {
        watcher: Arc<Mutex<Watcher>>,
        /// Whether any folder was watched before.
        begun: bool,
    },
    /// Nobody: everything is looked at now and then.
    NowAndThen { last: Instant },
}

impl Watching {
    /// We watch from now on; the folders are still to be said.
    pub(super) fn ourselves(mail: &Sender<Mail>) -> Result<Self, WatchError> {
        let mail = mail.clone();
        // The loop may have ended; then nobody needs to know.
        let watcher = Watcher::new(move |sight| drop(mail.send(Mail::Seen(sight))))?;
        Ok(Self::Ours { watcher: Arc::new(Mutex::new(watcher)), begun: false })
    }

    /// Everything is looked at now and then from now on.
    pub(super) fn now_and_then() -> Self {
        Self::NowAndThen { last: Instant::now() }
    }

    /// These are the folders that a walk went through.
    pub(super) fn adjust(&self, folders: &Arc<BTreeSet<PathBuf>>, pool: &Pool, mail: &Sender<Mail>) {
        let Self::Ours { watcher, .. } = self else { return };
        let (watcher, folders, mail) = (Arc::clone(watcher), Arc::clone(folders), mail.clone());
        pool.spawn(
            Lane::Background,
            carried("watch", move || watcher.lock().unwrap_or_else(PoisonError::into_inner).watch(&folders)),
            move |watched| {
                let watched = match watched {
                    Ok(Ok(new)) => Ok(new),
                    Ok(Err(error)) => Err(error.to_string()),
                    Err(panicked) => Err(panicked.to_string()),
                };
                let _ = mail.send(Mail::Watched(watched));
            },
        );
    }

    /// Some folders are watched; whether they are the first. What happened before that was not seen.
    pub(super) fn are_first(&mut self) -> bool {
        match self {
            Self::Ours { begun, .. } => !std::mem::replace(begun, true),
            _ => false,
        }
    }

    /// How long until everything is to be looked at; `None` when somebody watches.
    pub(super) fn time_to_look(&self) -> Option<Duration> {
        match self {
            Self::NowAndThen { last } => Some(LOOK_EVERY.saturating_sub(last.elapsed())),
            _ => None,
        }
    }
}
