//! Runs at most one index run at a time. Changes on disk during a run are collected and indexed together afterwards.
//! Results of outdated runs are dropped.

use std::collections::BTreeSet;
use std::sync::mpsc::Sender;

use strata_base::cancel::Cancel;
use strata_base::key::FileKey;
use strata_host::pool::Pool;
use tokio::sync::mpsc::UnboundedSender;

use crate::client::ClientInfo;
use crate::event::{Event, IndexEnd};
use crate::outbound::OutboundMessage;
use strata_app::faults::with_fault_points;
use strata_app::model::index::{BuildProgress, Index, OutlineEffortCounts, OutlineProgress, OutlineUpdates};
use strata_app::model::snapshot::Snapshot;
use strata_app::runtime::session_runtime::{ProgressToken, TrackedWork};

/// Minimum number of files between two progress reports.
const FILES_PER_REPORT: usize = 256;

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

struct ActiveRun {
    run: u64,
    cancel: Cancel,
}

/// The current index run, and the scope of the next one.
#[derive(Default)]
pub(super) struct IndexRuns {
    last_run: u64,
    running: Option<ActiveRun>,
    requested: IndexScope,
}

impl IndexRuns {
    pub(super) fn request_refresh(&mut self, keys: BTreeSet<FileKey>) {
        match &mut self.requested {
            IndexScope::Nothing => self.requested = IndexScope::Files(keys),
            IndexScope::Files(files) | IndexScope::Changes(files) => files.extend(keys),
            IndexScope::All => {}
        }
    }

    /// Requests an update of all files that have changed on disk.
    pub(super) fn request_rescan(&mut self) {
        match std::mem::take(&mut self.requested) {
            IndexScope::Nothing => self.requested = IndexScope::Changes(BTreeSet::new()),
            IndexScope::Files(files) | IndexScope::Changes(files) => {
                self.requested = IndexScope::Changes(files);
            }
            IndexScope::All => self.requested = IndexScope::All,
        }
    }

    pub(super) fn request_reindex(&mut self) {
        self.requested = IndexScope::All;
    }

    /// Like `request_reindex`, but also cancels the current run, whose result is no longer needed.
    pub(super) fn cancel_and_reindex(&mut self) {
        self.request_reindex();
        if let Some(running) = &self.running {
            running.cancel.cancel();
        }
    }

    /// Cancels the run whose progress has this token.
    pub(super) fn cancel(&self, token: &ProgressToken) {
        if let Some(running) =
            self.running.as_ref().filter(|running| TrackedWork::Indexing(running.run).token() == *token)
        {
            tracing::info!(run = running.run, "indexing was cancelled");
            running.cancel.cancel();
        }
    }

    /// Whether a run is active or requested.
    pub(super) fn is_run_pending(&self) -> bool {
        self.running.is_some() || !matches!(self.requested, IndexScope::Nothing)
    }

    pub(super) fn is_active(&self, run: u64) -> bool {
        self.running.as_ref().is_some_and(|running| running.run == run)
    }

    /// Records the end of a run. Returns whether it was the active run, whose result must be used.
    pub(super) fn end(
        &mut self,
        run: u64,
        outcome: &'static str,
        outbound: &UnboundedSender<OutboundMessage>,
    ) -> bool {
        let current = self.is_active(run);
        if current {
            self.running = None;
            // Sending fails only if the connection is closed.
            let _ = outbound.send(OutboundMessage::End(TrackedWork::Indexing(run), outcome.to_owned()));
        }
        current
    }

    /// Starts a requested run, unless a run is active.
    pub(super) fn start(
        &mut self,
        snapshot: &Snapshot,
        pool: &Pool,
        events: &Sender<Event>,
        outbound: &UnboundedSender<OutboundMessage>,
        client: &ClientInfo,
    ) {
        if self.running.is_some() {
            return;
        }
        let requested = std::mem::take(&mut self.requested);
        if matches!(requested, IndexScope::Nothing) {
            return;
        }
        self.last_run += 1;
        let run = self.last_run;
        let cancel = Cancel::new();
        self.running = Some(ActiveRun { run, cancel: cancel.clone() });
        let reporter = ProgressReporter::new(run, outbound, client, &requested);
        let snapshot = snapshot.clone();
        let events = events.clone();
        let failed = events.clone();
        pool.spawn(
            with_fault_points("index", move || {
                let (index, updates) =
                    run_index(&snapshot, run, requested, &cancel, reporter, &events).unzip();
                let index = index.map(|index| refresh_references(index, run, &events));
                let end = match &index {
                    Some(index) => IndexEnd::Done(Box::new(index.clone())),
                    None => IndexEnd::Stopped,
                };
                // Sending fails only if the connection is closed.
                let _ = events.send(Event::IndexRunEnded(run, end));
                // No request has to wait for the rest.
                if let Some(updates) = updates {
                    updates.save(&snapshot.outlines);
                }
                if let Some(index) = index {
                    index.prepare_for_questions();
                }
            }),
            move |end| {
                if let Err(panicked) = &end {
                    tracing::error!(run, %panicked, "indexing failed");
                    let _ = failed.send(Event::IndexRunEnded(run, IndexEnd::Failed));
                }
            },
        );
    }
}

/// Recomputes the references of a stale index. Publishes the outlines first, so that they can be used in the meantime.
fn refresh_references(index: Index, run: u64, events: &Sender<Event>) -> Index {
    if !index.is_stale {
        return index;
    }
    let _ = events.send(Event::PartialIndex(run, index.clone()));
    index.with_fresh_references()
}

fn run_index(
    snapshot: &Snapshot,
    run: u64,
    requested: IndexScope,
    cancel: &Cancel,
    mut reporter: ProgressReporter,
    events: &Sender<Event>,
) -> Option<(Index, OutlineUpdates)> {
    let inputs = snapshot.index_inputs(cancel);
    let result = match requested {
        IndexScope::Nothing => return None,
        IndexScope::Files(keys) => snapshot.index.refresh(&keys, &inputs),
        IndexScope::Changes(keys) => match snapshot.index.rescan(&inputs) {
            Ok(None) if keys.is_empty() => return None,
            Ok(None) => snapshot.index.refresh(&keys, &inputs),
            Ok(Some(found)) if keys.is_empty() => Ok(found),
            Ok(Some((index, updates))) => {
                updates.save(&snapshot.outlines);
                index.refresh(&keys, &inputs)
            }
            Err(cancelled) => Err(cancelled),
        },
        IndexScope::All => Index::build(&inputs, |step| match step {
            BuildProgress::Listed(index) => {
                let _ = events.send(Event::PartialIndex(run, *index));
            }
            BuildProgress::Outlined(progress) => reporter.report(progress),
        }),
    };
    if let Ok((index, _)) = &result {
        let OutlineEffortCounts { read, parsed } = index.efforts;
        tracing::info!(run, files = index.files.len(), read, parsed, "indexed");
    }
    result.ok()
}

/// Progress of an index run, which is reported to the client at intervals.
struct ProgressReporter {
    run: u64,
    outbound: Option<UnboundedSender<OutboundMessage>>,
    last_reported: usize,
}

impl ProgressReporter {
    fn new(
        run: u64,
        outbound: &UnboundedSender<OutboundMessage>,
        client: &ClientInfo,
        requested: &IndexScope,
    ) -> Self {
        let shown = client.shows_progress && matches!(requested, IndexScope::All);
        let outbound = shown.then(|| outbound.clone());
        if let Some(outbound) = &outbound {
            let _ = outbound.send(OutboundMessage::Begin(TrackedWork::Indexing(run)));
        }
        Self { run, outbound, last_reported: 0 }
    }

    fn report(&mut self, progress: OutlineProgress) {
        if progress.done < self.last_reported + FILES_PER_REPORT {
            return;
        }
        self.last_reported = progress.done;
        if let Some(outbound) = &self.outbound {
            let _ = outbound.send(OutboundMessage::Report(
                TrackedWork::Indexing(self.run),
                progress.done,
                progress.total,
            ));
        }
    }
}
