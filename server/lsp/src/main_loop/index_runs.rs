//! Runs at most one index run at a time. Changes on disk during a run are collected and indexed together afterwards.
//! Results of outdated runs are dropped.

use std::collections::BTreeSet;
use std::sync::mpsc::Sender;

use strata_base::cancel::Cancel;
use strata_base::key::FileKey;
use strata_host::pool::Pool;
use tokio::sync::mpsc::UnboundedSender;
use tower_lsp::ls_types::NumberOrString;

use crate::client::ClientInfo;
use crate::event::{Event, IndexEnd};
use crate::outbound::{Outbound, Work};
use strata_app::faults::carried;
use strata_app::model::index::{Efforts, Index, OutlineUpdates, Progress, Step};
use strata_app::model::snapshot::Snapshot;

/// Minimum number of files between two progress reports.
const REPORT_EVERY: usize = 256;

/// The files that an index run examines.
#[derive(Default, Debug)]
enum IndexScope {
    #[default]
    Nothing,
    Files(BTreeSet<FileKey>),
    /// All files whose stamps have changed, plus these files regardless of their stamps.
    Changes(BTreeSet<FileKey>),
    All,
}

struct RunningJob {
    run: u64,
    cancel: Cancel,
}

/// The current index run, and the scope of the next one.
#[derive(Default)]
pub(super) struct IndexRuns {
    last_run: u64,
    running: Option<RunningJob>,
    wanted: IndexScope,
}

impl IndexRuns {
    /// Requests an update of these files.
    pub(super) fn want_files(&mut self, keys: BTreeSet<FileKey>) {
        match &mut self.wanted {
            IndexScope::Nothing => self.wanted = IndexScope::Files(keys),
            IndexScope::Files(files) | IndexScope::Changes(files) => files.extend(keys),
            IndexScope::All => {}
        }
    }

    /// Requests an update of all files that have changed on disk.
    pub(super) fn want_changes(&mut self) {
        match std::mem::take(&mut self.wanted) {
            IndexScope::Nothing => self.wanted = IndexScope::Changes(BTreeSet::new()),
            IndexScope::Files(files) | IndexScope::Changes(files) => self.wanted = IndexScope::Changes(files),
            IndexScope::All => self.wanted = IndexScope::All,
        }
    }

    /// Requests a complete index run.
    pub(super) fn want_all(&mut self) {
        self.wanted = IndexScope::All;
    }

    /// Cancels the current run, whose result is no longer needed.
    pub(super) fn leave(&self) {
        if let Some(running) = &self.running {
            running.cancel.cancel();
        }
    }

    /// Cancels the run whose progress has this token.
    pub(super) fn cancel(&self, token: &NumberOrString) {
        if let Some(running) =
            self.running.as_ref().filter(|running| Work::Indexing(running.run).token() == *token)
        {
            tracing::info!(run = running.run, "indexing was cancelled");
            running.cancel.cancel();
        }
    }

    /// Whether a run is active or requested.
    pub(super) fn is_pending(&self) -> bool {
        self.running.is_some() || !matches!(self.wanted, IndexScope::Nothing)
    }

    /// Whether the run with this number is active.
    pub(super) fn is_on(&self, run: u64) -> bool {
        self.running.as_ref().is_some_and(|running| running.run == run)
    }

    /// Records the end of a run. Returns whether it was the active run, whose result must be used.
    pub(super) fn ended(
        &mut self,
        run: u64,
        outcome: &'static str,
        outbound: &UnboundedSender<Outbound>,
    ) -> bool {
        let current = self.is_on(run);
        if current {
            self.running = None;
            // Sending fails only if the connection is closed.
            let _ = outbound.send(Outbound::End(Work::Indexing(run), outcome.to_owned()));
        }
        current
    }

    /// Starts a requested run, unless a run is active.
    pub(super) fn start(
        &mut self,
        snapshot: &Snapshot,
        pool: &Pool,
        events: &Sender<Event>,
        outbound: &UnboundedSender<Outbound>,
        client: &ClientInfo,
    ) {
        if self.running.is_some() {
            return;
        }
        let wanted = std::mem::take(&mut self.wanted);
        if matches!(wanted, IndexScope::Nothing) {
            return;
        }
        self.last_run += 1;
        let run = self.last_run;
        let cancel = Cancel::new();
        self.running = Some(RunningJob { run, cancel: cancel.clone() });
        let report = Report::new(run, outbound, client, &wanted);
        let snapshot = snapshot.clone();
        let events = events.clone();
        let failed = events.clone();
        pool.spawn(
            carried("index", move || {
                let (index, updates) = look(&snapshot, run, wanted, &cancel, report, &events).unzip();
                let end = match index {
                    Some(index) => IndexEnd::Done(Box::new(up_to_date(index, run, &events))),
                    None => IndexEnd::Stopped,
                };
                // Sending fails only if the connection is closed.
                let _ = events.send(Event::Indexed(run, end));
                // Store the outlines last, since no request waits for it.
                if let Some(updates) = updates {
                    updates.keep(&snapshot.outlines);
                }
            }),
            move |ended| {
                if let Err(panicked) = &ended {
                    tracing::error!(run, %panicked, "indexing failed");
                    let _ = failed.send(Event::Indexed(run, IndexEnd::Failed));
                }
            },
        );
    }
}

/// Recomputes the references of a stale index. Publishes the outlines first, so that they can be used in the meantime.
fn up_to_date(index: Index, run: u64, events: &Sender<Event>) -> Index {
    if !index.is_stale {
        return index;
    }
    let _ = events.send(Event::IndexSoFar(run, index.clone()));
    index.linked()
}

fn look(
    snapshot: &Snapshot,
    run: u64,
    wanted: IndexScope,
    cancel: &Cancel,
    mut report: Report,
    events: &Sender<Event>,
) -> Option<(Index, OutlineUpdates)> {
    let means = snapshot.index_inputs(cancel);
    let looked = match wanted {
        IndexScope::Nothing => return None,
        IndexScope::Files(keys) => snapshot.index.refreshed(&keys, &means),
        IndexScope::Changes(keys) => match snapshot.index.rescanned(&means) {
            Ok(None) if keys.is_empty() => return None,
            Ok(None) => snapshot.index.refreshed(&keys, &means),
            Ok(Some(found)) if keys.is_empty() => Ok(found),
            Ok(Some((index, updates))) => {
                updates.keep(&snapshot.outlines);
                index.refreshed(&keys, &means)
            }
            Err(cancelled) => Err(cancelled),
        },
        IndexScope::All => Index::build(&means, |step| match step {
            Step::Listed(index) => {
                let _ = events.send(Event::IndexSoFar(run, *index));
            }
            Step::Outlined(progress) => report.progress(progress),
        }),
    };
    if let Ok((index, _)) = &looked {
        let Efforts { read, parsed } = index.efforts;
        tracing::info!(run, files = index.files.len(), read, parsed, "indexed");
    }
    looked.ok()
}

/// Progress of an index run, which is reported to the client at intervals.
struct Report {
    run: u64,
    to: Option<UnboundedSender<Outbound>>,
    last: usize,
}

impl Report {
    fn new(run: u64, outbound: &UnboundedSender<Outbound>, client: &ClientInfo, wanted: &IndexScope) -> Self {
        let shown = client.shows_progress && matches!(wanted, IndexScope::All);
        let to = shown.then(|| outbound.clone());
        if let Some(to) = &to {
            let _ = to.send(Outbound::Begin(Work::Indexing(run)));
        }
        Self { run, to, last: 0 }
    }

    fn progress(&mut self, progress: Progress) {
        if progress.done < self.last + REPORT_EVERY {
            return;
        }
        self.last = progress.done;
        if let Some(to) = &self.to {
            let _ = to.send(Outbound::Report(Work::Indexing(self.run), progress.done, progress.total));
        }
    }
}
