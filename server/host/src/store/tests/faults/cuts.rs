//! Simulates the death of a process at any point. The next process finds exactly what SQLite had written, with the last
//! write cut at any byte. After a power cut, any part that the disk had not confirmed may be missing.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::super::Home;
use super::disk::{self, Change};
use super::long;
use super::script::{Contents, STEPS, expected, run};
use crate::store::{NewNote, Store};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Death {
    /// `kill -9`: everything written is preserved.
    Kill,
    /// What the disk had confirmed is preserved; the rest may be lost.
    PowerCut,
}

/// Where a process dies: the change, and the number of its bytes that are written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    within: usize,
    bytes: usize,
    death: Death,
}

/// The content of a disk.
#[derive(Default)]
struct Platter {
    /// The files as processes see them.
    visible: Files,
    /// The files as confirmed by the disk.
    confirmed: Files,
    /// Changes that are not confirmed yet, in order.
    pending: Vec<Change>,
}

type Files = BTreeMap<PathBuf, Vec<u8>>;

#[test]
#[expect(clippy::print_stdout, reason = "prints the results of the run")]
fn a_step_that_is_interrupted_is_stored_completely_or_not_at_all() {
    let home = Home::new();
    let mut states = vec![Contents::default()];
    states.extend(expected(&home));
    drop(home);
    let home = Home::new();
    disk::start_recording();
    let mut store = None;
    for (at, step) in STEPS.into_iter().enumerate() {
        run(&home, &mut store, step).unwrap();
        disk::acknowledged(at + 1);
    }
    drop(store);
    let changes = disk::take_recorded();
    let cuts = cuts(&changes, if long() { 6 } else { 1 }, if long() { usize::MAX } else { 60 });
    for_each(&home, &changes, &cuts, |acknowledged, store| {
        let contents = Contents::read_from(store).unwrap();
        let next = states.get(acknowledged + 1).unwrap_or(&contents);
        assert!(
            contents == states[acknowledged] || contents == *next,
            "after {acknowledged} steps: {contents:#?}"
        );
    });
    println!("{} changes of files, interrupted at {} points: 0 steps lost", changes.len(), cuts.len());
}

/// Opens the store after each cut, and passes it to `check` with the number of acknowledgements. Then checks that the
/// store can be written to.
pub(super) fn for_each(home: &Home, changes: &[Change], cuts: &[Cut], check: impl Fn(usize, &Store)) {
    for_each_restored(home, &[], changes, cuts, |acknowledged, cut| {
        let opened = Store::open(&home.state(), &home.key());
        let mut opened = opened.unwrap_or_else(|error| panic!("{cut:?}: {error}"));
        assert_eq!(opened.set_aside, None, "{cut:?}");
        opened.store.verify().unwrap_or_else(|error| panic!("{cut:?}: {error}"));
        check(acknowledged, &opened.store);
        let note = NewNote { text: "on".into(), tags: Vec::new(), session: None, created_ms: 0 };
        opened.store.add_note(&note).unwrap_or_else(|error| panic!("{cut:?}: {error}"));
    });
}

/// Restores the files after each cut, starting from the files in `initial_files`, and calls `check` with the number of
/// acknowledgements.
pub(super) fn for_each_restored(
    home: &Home,
    initial_files: &[(PathBuf, Vec<u8>)],
    changes: &[Change],
    cuts: &[Cut],
    check: impl Fn(usize, Cut),
) {
    let folder = home.paths().database().parent().unwrap().to_owned();
    let mut cuts = cuts.to_vec();
    cuts.sort_by_key(|cut| cut.within);
    let mut cuts = cuts.into_iter().peekable();
    let initial_files: Files = initial_files.iter().cloned().collect();
    let mut platter =
        Platter { visible: initial_files.clone(), confirmed: initial_files, pending: Vec::new() };
    let mut acknowledged = 0;
    let mut rng = Rng(7);
    for (at, change) in changes.iter().enumerate() {
        while let Some(cut) = cuts.next_if(|cut| cut.within == at) {
            restore_files(&folder, &platter.after(change, cut, &mut rng));
            check(acknowledged, cut);
        }
        platter.record(change);
        if let Change::Acknowledged(count) = change {
            acknowledged = *count;
        }
    }
}

impl Platter {
    /// Returns the files that the next process finds after a death within `change`.
    fn after(&self, change: &Change, cut: Cut, rng: &mut Rng) -> Files {
        let mut last = change.clone();
        let mut pending = Vec::new();
        let mut files = match cut.death {
            Death::Kill => self.visible.clone(),
            Death::PowerCut => {
                pending.extend(self.pending.iter().filter(|_| rng.below(2) == 0));
                self.confirmed.clone()
            }
        };
        pending.into_iter().for_each(|change| apply(&mut files, change));
        if let Change::Write(_, _, bytes) = &mut last {
            bytes.truncate(cut.bytes);
            apply(&mut files, &last);
        }
        files
    }

    fn record(&mut self, change: &Change) {
        apply(&mut self.visible, change);
        match change {
            Change::Write(..) | Change::Truncate(..) => self.pending.push(change.clone()),
            Change::Sync(path) => {
                let (synced, pending) = std::mem::take(&mut self.pending)
                    .into_iter()
                    .partition(|change| change.path() == Some(path));
                self.pending = pending;
                let synced: Vec<Change> = synced;
                synced.iter().for_each(|change| apply(&mut self.confirmed, change));
            }
            Change::Delete(path) => {
                self.pending.retain(|change| change.path() != Some(path));
                apply(&mut self.confirmed, change);
            }
            Change::Acknowledged(_) => {}
        }
    }
}

impl Cut {
    /// `kill -9` after `bytes` bytes of a change.
    pub(super) fn kill(within: usize, bytes: usize) -> Self {
        Self { within, bytes, death: Death::Kill }
    }
}

impl Change {
    fn path(&self) -> Option<&PathBuf> {
        match self {
            Self::Write(path, ..) | Self::Truncate(path, _) | Self::Delete(path) | Self::Sync(path) => {
                Some(path)
            }
            Self::Acknowledged(_) => None,
        }
    }

    /// Returns the number of bytes written.
    pub(super) fn bytes(&self) -> usize {
        if let Self::Write(_, _, bytes) = self { bytes.len() } else { 0 }
    }
}

fn apply(files: &mut Files, change: &Change) {
    match change {
        Change::Write(path, at, bytes) => {
            let file = files.entry(path.clone()).or_default();
            let end = at + bytes.len();
            if file.len() < end {
                file.resize(end, 0);
            }
            file[*at..end].copy_from_slice(bytes);
        }
        Change::Truncate(path, to) => files.entry(path.clone()).or_default().resize(*to, 0),
        Change::Delete(path) => drop(files.remove(path)),
        Change::Sync(_) | Change::Acknowledged(_) => {}
    }
}

/// Replaces the files of the database in a directory with these.
fn restore_files(folder: &Path, files: &Files) {
    for name in ["sessions.db", "sessions.db-wal", "sessions.db-shm", "sessions.db-journal"] {
        let path = folder.join(name);
        // Most of these files usually do not exist.
        let _ = fs::remove_file(&path);
        if let Some(bytes) = files.get(&path) {
            fs::write(&path, bytes).unwrap();
        }
    }
}

/// Returns `per_change` cuts per change, or `limit` of all these, spread evenly.
pub(super) fn cuts(changes: &[Change], per_change: usize, limit: usize) -> Vec<Cut> {
    let mut rng = Rng(1);
    let mut cuts = Vec::new();
    for (within, change) in changes.iter().enumerate() {
        let bytes = change.bytes();
        for index in 0..per_change {
            let bytes = match index {
                1 => 0,
                2 => bytes.min(1),
                3 => bytes.saturating_sub(1),
                _ => rng.below(bytes + 1),
            };
            let death = if rng.below(2) == 0 { Death::Kill } else { Death::PowerCut };
            cuts.push(Cut { within, bytes, death });
        }
    }
    let stride = cuts.len().div_ceil(limit);
    cuts.into_iter().step_by(stride).collect()
}

/// A pseudorandom generator that gives the same numbers in every run.
pub(super) struct Rng(pub(super) u64);

impl Rng {
    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }
}
