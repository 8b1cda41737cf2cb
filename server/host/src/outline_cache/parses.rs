//! Records which texts are being parsed, so that a text during whose parse a process ended, or whose parse took too long,
//! is not parsed again at every start.
//!
//! Each process has a file in the directory `parsing`. It holds the file's lock for as long as it runs, and writes the key
//! of a text into a slot of the file while it parses the text. A file whose lock is free belongs to a process that has
//! ended, and the keys in it to texts that may have ended it. For each text, `given-up` has a file that says why it is
//! not parsed. Nothing is synced to disk, because writes survive the end of a process anyway.

use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::entry::OutlineKey;
use super::table::{create_directory, lock};
use crate::store::paths::{create_private_file, ensure_private_directory, open_own_file};

/// Why a text is not parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GiveUpReason {
    /// Several processes ended while they were parsing the text.
    ProcessEnded,
    /// Parsing the text took too long.
    TimedOut,
}

/// The parses of this process, and the texts given up by all processes of the user.
#[derive(Debug)]
pub(super) struct ParseRecords {
    /// The file of this process, whose lock it holds.
    file: File,
    given_up: PathBuf,
    reasons: Mutex<HashMap<[u8; KEY_LENGTH], GiveUpReason>>,
    /// The slots in use, one bit each.
    slots: AtomicU64,
}

/// A running parse. Its slot is free again when it is dropped.
pub(super) struct RunningParse<'a> {
    records: &'a ParseRecords,
    slot: u32,
}

const RUNNING_PARSES_DIRECTORY: &str = "parsing";
const GIVEN_UP_DIRECTORY: &str = "given-up";
/// Bytes of a key.
const KEY_LENGTH: usize = 16;
/// Maximum number of recorded parses at the same time. More threads than that do not parse.
const MAX_RECORDED_PARSES: u32 = u64::BITS;
/// Number of ended processes after which a text is given up. One may have ended for another reason: a user may kill an
/// editor while it indexes a repository.
const MAX_INTERRUPTED_PARSES: u32 = 2;
/// Maximum number of texts given up. Further ones are not remembered.
const MAX_GIVEN_UP_TEXTS: usize = 10_000;

/// What a file in [`GIVEN_UP_DIRECTORY`] contains: this, or the number of processes that ended.
const TIMED_OUT_FILE_CONTENT: &str = "slow";

/// Files of this process, for [`delete_parse_records`].
static OWN_PARSE_RECORDS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Deletes the records of running parses of this process. Call it when the process ends in an orderly way, so that the
/// texts it was parsing at that moment are not given up.
pub fn delete_parse_records() {
    for path in std::mem::take(&mut *OWN_PARSE_RECORDS.lock().unwrap_or_else(PoisonError::into_inner)) {
        let _ = fs::remove_file(path);
    }
}

impl ParseRecords {
    /// Starts the records of this process in a cache directory, and gives up the texts that ended other processes.
    pub(super) fn open(cache: &Path) -> io::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let directory = create_directory(cache).map_err(io::Error::other)?;
        let [running, given_up] =
            [RUNNING_PARSES_DIRECTORY, GIVEN_UP_DIRECTORY].map(|name| directory.join(name));
        for path in [&running, &given_up] {
            ensure_private_directory(path).map_err(io::Error::other)?;
        }
        // No other process may find this one's file before it is locked.
        let _lock = lock(&directory).map_err(io::Error::other)?;
        for path in files_in(&running)? {
            record_parses_of_ended_process(&path, &given_up);
        }
        let name = format!("{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = running.join(name);
        let file = create_private_file(&path)?;
        file.try_lock().map_err(io::Error::other)?;
        OWN_PARSE_RECORDS.lock().unwrap_or_else(PoisonError::into_inner).push(path);
        let reasons = files_in(&given_up)?.into_iter().filter_map(|path| read_reason(&path)).collect();
        Ok(Self { file, given_up, reasons: Mutex::new(reasons), slots: AtomicU64::new(0) })
    }

    pub(super) fn give_up_reason(&self, key: OutlineKey) -> Option<GiveUpReason> {
        self.lock_reasons().get(&key.to_bytes()).copied()
    }

    /// Gives up a text because parsing it took too long.
    pub(super) fn give_up_parsing(&self, key: OutlineKey) {
        let mut reasons = self.lock_reasons();
        if reasons.len() < MAX_GIVEN_UP_TEXTS
            && reasons.insert(key.to_bytes(), GiveUpReason::TimedOut).is_none()
        {
            write(&self.given_up.join(hex(&key.to_bytes())), TIMED_OUT_FILE_CONTENT);
        }
    }

    /// Forgets all texts that were given up.
    pub(super) fn forget_given_up_texts(&self) {
        let mut reasons = self.lock_reasons();
        reasons.clear();
        for path in files_in(&self.given_up).unwrap_or_default() {
            let _ = fs::remove_file(path);
        }
    }

    /// Records that a text is being parsed. Returns `None` if all slots are in use or the record cannot be written.
    pub(super) fn record_parse_start(&self, key: OutlineKey) -> Option<RunningParse<'_>> {
        let take_slot = |slots: u64| (slots != u64::MAX).then(|| slots | (1 << slots.trailing_ones()));
        let before = self.slots.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take_slot).ok()?;
        let parse = RunningParse { records: self, slot: before.trailing_ones() };
        parse.write(&key.to_bytes()).ok()?;
        Some(parse)
    }

    fn lock_reasons(&self) -> MutexGuard<'_, HashMap<[u8; KEY_LENGTH], GiveUpReason>> {
        self.reasons.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RunningParse<'_> {
    fn write(&self, key: &[u8; KEY_LENGTH]) -> io::Result<()> {
        let offset = u64::from(self.slot) * KEY_LENGTH as u64;
        #[cfg(unix)]
        return std::os::unix::fs::FileExt::write_all_at(&self.records.file, key, offset);
        #[cfg(windows)]
        return std::os::windows::fs::FileExt::seek_write(&self.records.file, key, offset).map(|_| ());
    }
}

impl Drop for RunningParse<'_> {
    fn drop(&mut self) {
        let _ = self.write(&[0; KEY_LENGTH]);
        self.records.slots.fetch_and(!(1 << self.slot), Ordering::Relaxed);
    }
}

/// Gives up the texts in the file of a process that has ended, and deletes the file. Does nothing if the process runs.
fn record_parses_of_ended_process(path: &Path, given_up: &Path) {
    let mut keys = Vec::new();
    let Ok(file) = open_own_file(path) else { return };
    if file.try_lock().is_err()
        || file.take(u64::from(MAX_RECORDED_PARSES) * KEY_LENGTH as u64).read_to_end(&mut keys).is_err()
    {
        return;
    }
    let _ = fs::remove_file(path);
    // Two threads may have been parsing the same text, which is still one end.
    let keys: BTreeSet<[u8; KEY_LENGTH]> = keys.as_chunks::<KEY_LENGTH>().0.iter().copied().collect();
    for key in keys.iter().filter(|key| **key != [0; KEY_LENGTH]) {
        let path = given_up.join(hex(key));
        let ended_processes = read_parse_record(&path)
            .and_then(|ended_processes| ended_processes.parse::<u32>().ok())
            .unwrap_or(0);
        tracing::warn!(file = %path.display(), "a process ended while it was parsing a text");
        write(&path, &ended_processes.saturating_add(1).to_string());
    }
}

/// Reads why a text was given up. Returns `None` if the text should be parsed again.
fn read_reason(path: &Path) -> Option<([u8; KEY_LENGTH], GiveUpReason)> {
    let name = path.file_name()?.to_str()?;
    let key = u128::from_str_radix(name, 16).ok()?.to_be_bytes();
    let text = read_parse_record(path)?;
    if text == TIMED_OUT_FILE_CONTENT {
        return Some((key, GiveUpReason::TimedOut));
    }
    (text.parse::<u32>().ok()? >= MAX_INTERRUPTED_PARSES).then_some((key, GiveUpReason::ProcessEnded))
}

fn read_parse_record(path: &Path) -> Option<String> {
    let mut text = String::new();
    open_own_file(path).ok()?.take(16).read_to_string(&mut text).ok()?;
    Some(text)
}

/// Replaces a file. If that fails, the text is parsed again.
fn write(path: &Path, text: &str) {
    let _ = fs::remove_file(path);
    let result =
        create_private_file(path).and_then(|mut file| io::Write::write_all(&mut file, text.as_bytes()));
    if let Err(error) = result {
        tracing::debug!(%error, path = %path.display(), "cannot record a text that was given up");
    }
}

fn files_in(directory: &Path) -> io::Result<Vec<PathBuf>> {
    Ok(fs::read_dir(directory)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .take(MAX_GIVEN_UP_TEXTS)
        .collect())
}

fn hex(key: &[u8; KEY_LENGTH]) -> String {
    format!("{:032x}", u128::from_be_bytes(*key))
}

#[cfg(test)]
mod tests {
    use strata_base::hash::ContentHash;

    use super::*;

    fn key(text: &str) -> OutlineKey {
        OutlineKey::new(ContentHash::from_text(text), ContentHash::from_text("edition"))
    }

    /// Makes records as a process leaves them that ends now: without its lock, with the slots as they are.
    fn end(records: ParseRecords) {
        drop(records);
    }

    #[test]
    fn a_text_is_given_up_after_two_processes_ended_while_parsing_it() {
        let cache = tempfile::tempdir().unwrap();
        for ended_processes in 1..=MAX_INTERRUPTED_PARSES {
            let process = ParseRecords::open(cache.path()).unwrap();
            drop(process.record_parse_start(key("done")).unwrap());
            std::mem::forget(process.record_parse_start(key("deadly")).unwrap());
            let beside = ParseRecords::open(cache.path()).unwrap();
            assert_eq!(beside.give_up_reason(key("deadly")), None, "the process is still running");
            end(process);
            let next = ParseRecords::open(cache.path()).unwrap();
            assert_eq!(
                next.give_up_reason(key("deadly")),
                (ended_processes == MAX_INTERRUPTED_PARSES).then_some(GiveUpReason::ProcessEnded)
            );
            assert_eq!(next.give_up_reason(key("done")), None);
        }
        let next = ParseRecords::open(cache.path()).unwrap();
        next.forget_given_up_texts();
        assert_eq!(next.give_up_reason(key("deadly")), None);
        assert_eq!(ParseRecords::open(cache.path()).unwrap().give_up_reason(key("deadly")), None);
    }

    #[test]
    fn a_slow_text_stays_given_up() {
        let cache = tempfile::tempdir().unwrap();
        ParseRecords::open(cache.path()).unwrap().give_up_parsing(key("slow"));
        assert_eq!(
            ParseRecords::open(cache.path()).unwrap().give_up_reason(key("slow")),
            Some(GiveUpReason::TimedOut)
        );
    }

    #[test]
    fn parses_without_a_free_slot_are_not_recorded() {
        let cache = tempfile::tempdir().unwrap();
        let records = ParseRecords::open(cache.path()).unwrap();
        let all: Vec<_> = (0..MAX_RECORDED_PARSES)
            .map(|n| records.record_parse_start(key(&n.to_string())).unwrap())
            .collect();
        assert!(records.record_parse_start(key("one more")).is_none());
        drop(all);
        assert!(records.record_parse_start(key("one more")).is_some());
    }

    /// Whatever the files contain, the records work.
    #[test]
    fn damaged_records_are_ignored() {
        let cache = tempfile::tempdir().unwrap();
        let records = ParseRecords::open(cache.path()).unwrap();
        for (name, content) in [("x", "1"), ("00ff", "none"), ("11", "\u{fffd}"), ("22", "")] {
            fs::write(records.given_up.join(name), content).unwrap();
        }
        fs::write(cache.path().join("outlines").join(RUNNING_PARSES_DIRECTORY).join("1-1"), [7; 45]).unwrap();
        let next = ParseRecords::open(cache.path()).unwrap();
        assert_eq!(next.lock_reasons().len(), 0, "no text ended several processes");
        let path = next.given_up.join(hex(&[7; KEY_LENGTH]));
        assert_eq!(fs::read_to_string(path).unwrap(), "1", "one process ended");
    }
}
