//! Predicts what SQLite finds after a process died, from the files alone: the pages of the database, overridden by
//! those of the write-ahead log up to its last complete commit (<https://www.sqlite.org/fileformat2.html#walformat>).

use std::collections::HashSet;
use std::path::Path;

use super::disk::Change;

/// Size of the log's header, in bytes.
const OPENING: usize = 32;
/// Size of a frame's header, in bytes.
const HEAD: usize = 24;

/// A database and its log.
#[derive(Default)]
pub(super) struct Recovery {
    database: Vec<u8>,
    log: Log,
}

/// A write-ahead log, read up to its last valid frame.
#[derive(Default)]
struct Log {
    bytes: Vec<u8>,
    opening: Option<Opening>,
    frames: Vec<Frame>,
}

/// Header of a log.
struct Opening {
    /// Page size in bytes.
    page: usize,
    /// Whether the checksums use big-endian words.
    high_first: bool,
    salts: [u8; 8],
    sum: Sum,
}

/// A written page.
struct Frame {
    page: u32,
    /// Number of pages in the database if the frame ends a commit, else 0.
    size: u32,
    /// Checksum of the log up to the end of the frame.
    sum: Sum,
}

type Sum = (u32, u32);

impl Recovery {
    pub(super) fn of(database: Vec<u8>, log: Vec<u8>) -> Self {
        Self { database, log: Log::of(log) }
    }

    /// Applies a change byte by byte, and returns after how many bytes a store would find something different.
    pub(super) fn take(&mut self, change: &Change) -> Vec<usize> {
        let database = |path: &Path| path.extension().is_some_and(|extension| extension == "db");
        match change {
            Change::Write(path, at, bytes) if is_log(path) => return self.log.write(*at, bytes),
            Change::Write(path, at, bytes) if database(path) => return self.write(*at, bytes),
            Change::Write(_, _, bytes) => return (1..=bytes.len()).collect(),
            Change::Truncate(path, to) if is_log(path) => {
                self.log.bytes.resize(*to, 0);
                self.log = Log::of(std::mem::take(&mut self.log.bytes));
            }
            Change::Truncate(path, to) if database(path) => self.database.resize(*to, 0),
            Change::Delete(path) if is_log(path) => self.log = Log::default(),
            Change::Delete(path) if database(path) => self.database.clear(),
            Change::Truncate(..) | Change::Delete(_) | Change::Sync(_) | Change::Acknowledged(_) => {}
        }
        Vec::new()
    }

    /// Writes to the database file. When a store is opened, it reads the first page and the length of the file before
    /// SQLite reads the log, and it sees other pages unless the log has newer versions.
    fn write(&mut self, at: usize, bytes: &[u8]) -> Vec<usize> {
        let page = self.log.opening.as_ref().map_or(512, |opening| opening.page);
        let logged: HashSet<usize> = self.log.committed().iter().map(|frame| frame.page as usize).collect();
        if self.database.len() < at {
            self.database.resize(at, 0);
        }
        let mut told = Vec::new();
        for (nth, byte) in bytes.iter().enumerate() {
            let at = at + nth;
            let differs = match self.database.get_mut(at) {
                Some(there) => std::mem::replace(there, *byte) != *byte,
                None => {
                    self.database.push(*byte);
                    true
                }
            };
            let begins = self.database.len() == at + 1 && at.is_multiple_of(page);
            if begins || differs && (at < page || !logged.contains(&(at / page + 1))) {
                told.push(nth + 1);
            }
        }
        told
    }

    /// Returns a copy whose log is read again from its beginning.
    pub(super) fn read_again(&self) -> Self {
        Self::of(self.database.clone(), self.log.bytes.clone())
    }

    /// Returns the database that SQLite finds.
    pub(super) fn image(&self) -> Vec<u8> {
        let mut image = self.database.clone();
        let Some((opening, last)) = self.log.opening.as_ref().zip(self.log.committed().last()) else {
            return image;
        };
        image.resize(last.size as usize * opening.page, 0);
        for (nth, frame) in self.log.committed().iter().enumerate() {
            let from = OPENING + nth * (HEAD + opening.page) + HEAD;
            let to = (frame.page as usize - 1) * opening.page;
            if let Some(page) = image.get_mut(to..to + opening.page) {
                page.copy_from_slice(&self.log.bytes[from..from + opening.page]);
            }
        }
        image
    }
}

impl Log {
    fn of(bytes: Vec<u8>) -> Self {
        let mut log = Self { opening: Opening::of(&bytes), bytes, frames: Vec::new() };
        log.read_on();
        log
    }

    fn write(&mut self, at: usize, bytes: &[u8]) -> Vec<usize> {
        if self.bytes.len() < at {
            self.bytes.resize(at, 0);
        }
        let mut told = Vec::new();
        for (nth, byte) in bytes.iter().enumerate() {
            let committed = self.committed().len();
            let rewrites = self.put(at + nth, *byte).is_some_and(|frame| frame < committed);
            if rewrites || self.committed().len() != committed {
                told.push(nth + 1);
            }
        }
        told
    }

    /// Writes a byte, and returns the index of the frame that it changed.
    fn put(&mut self, at: usize, byte: u8) -> Option<usize> {
        match self.bytes.get_mut(at) {
            Some(there) if *there == byte => return None,
            Some(there) => *there = byte,
            None => self.bytes.push(byte),
        }
        let frame = match (&self.opening, at.checked_sub(OPENING)) {
            (Some(opening), Some(at)) => at / (HEAD + opening.page),
            _ => {
                self.opening = Opening::of(&self.bytes);
                0
            }
        };
        self.frames.truncate(frame);
        self.read_on();
        Some(frame)
    }

    fn read_on(&mut self) {
        while let Some(frame) = self.next() {
            self.frames.push(frame);
        }
    }

    /// Returns the next frame after those already read, if it is complete and valid.
    fn next(&self) -> Option<Frame> {
        let opening = self.opening.as_ref()?;
        let from = OPENING + self.frames.len() * (HEAD + opening.page);
        let (head, page) = self.bytes.get(from..from + HEAD + opening.page)?.split_at(HEAD);
        if head[8..16] != opening.salts || word(head, 0) == 0 {
            return None;
        }
        let before = self.frames.last().map_or(opening.sum, |frame| frame.sum);
        let sum = opening.sum(opening.sum(before, &head[..8]), page);
        (sum == (word(head, 16), word(head, 20))).then(|| Frame {
            page: word(head, 0),
            size: word(head, 4),
            sum,
        })
    }

    /// Returns the frames up to the last commit.
    fn committed(&self) -> &[Frame] {
        let end = self.frames.iter().rposition(|frame| frame.size > 0);
        &self.frames[..end.map_or(0, |end| end + 1)]
    }
}

impl Opening {
    fn of(log: &[u8]) -> Option<Self> {
        let head = log.get(..OPENING)?;
        let magic = word(head, 0);
        let page = word(head, 8) as usize;
        let mut opening =
            Self { page, high_first: magic & 1 == 1, salts: head[16..24].try_into().unwrap(), sum: (0, 0) };
        opening.sum = opening.sum((0, 0), &head[..24]);
        let whole = magic | 1 == 0x377f_0683
            && page.is_power_of_two()
            && (512..=65_536).contains(&page)
            && opening.sum == (word(head, 24), word(head, 28));
        whole.then_some(opening)
    }

    fn sum(&self, (mut even, mut odd): Sum, bytes: &[u8]) -> Sum {
        let word = if self.high_first { u32::from_be_bytes } else { u32::from_le_bytes };
        for [a, b, c, d, e, f, g, h] in bytes.as_chunks().0 {
            even = even.wrapping_add(word([*a, *b, *c, *d])).wrapping_add(odd);
            odd = odd.wrapping_add(word([*e, *f, *g, *h])).wrapping_add(even);
        }
        (even, odd)
    }
}

/// Whether a file is the log of a database.
pub(super) fn is_log(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(b"-wal")
}

/// Reads a number from a header, which is always big-endian.
fn word(head: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(head[at..at + 4].try_into().unwrap())
}
