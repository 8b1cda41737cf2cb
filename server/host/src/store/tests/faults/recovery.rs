//! Predicts what SQLite finds after a process died, from the files alone: the pages of the database, overridden by
//! those of the write-ahead log up to its last complete commit (<https://www.sqlite.org/fileformat2.html#walformat>).

use std::collections::HashSet;
use std::path::Path;

use super::disk::Change;

/// Size of the log's header, in bytes.
const LOG_HEADER_SIZE: usize = 32;
/// Size of a frame's header, in bytes.
const FRAME_HEADER_SIZE: usize = 24;

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
    header: Option<LogHeader>,
    frames: Vec<Frame>,
}

struct LogHeader {
    /// In bytes.
    page_size: usize,
    /// Whether the checksums use big-endian words.
    is_big_endian: bool,
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
    pub(super) fn new(database: Vec<u8>, log: Vec<u8>) -> Self {
        Self { database, log: Log::parse(log) }
    }

    /// Applies a change byte by byte, and returns after how many bytes a store would find something different.
    pub(super) fn apply(&mut self, change: &Change) -> Vec<usize> {
        let is_database = |path: &Path| path.extension().is_some_and(|extension| extension == "db");
        match change {
            Change::Write(path, at, bytes) if is_log(path) => return self.log.write(*at, bytes),
            Change::Write(path, at, bytes) if is_database(path) => return self.write(*at, bytes),
            Change::Write(_, _, bytes) => return (1..=bytes.len()).collect(),
            Change::Truncate(path, to) if is_log(path) => {
                self.log.bytes.resize(*to, 0);
                self.log = Log::parse(std::mem::take(&mut self.log.bytes));
            }
            Change::Truncate(path, to) if is_database(path) => self.database.resize(*to, 0),
            Change::Delete(path) if is_log(path) => self.log = Log::default(),
            Change::Delete(path) if is_database(path) => self.database.clear(),
            Change::Truncate(..) | Change::Delete(_) | Change::Sync(_) | Change::Acknowledged(_) => {}
        }
        Vec::new()
    }

    /// Writes to the database file. When a store is opened, it reads the first page and the length of the file before
    /// SQLite reads the log, and it sees other pages unless the log has newer versions.
    fn write(&mut self, at: usize, bytes: &[u8]) -> Vec<usize> {
        let page = self.log.header.as_ref().map_or(512, |header| header.page_size);
        let logged: HashSet<usize> = self.log.committed().iter().map(|frame| frame.page as usize).collect();
        if self.database.len() < at {
            self.database.resize(at, 0);
        }
        let mut effective_bytes = Vec::new();
        for (index, byte) in bytes.iter().enumerate() {
            let at = at + index;
            let differs = match self.database.get_mut(at) {
                Some(old_byte) => std::mem::replace(old_byte, *byte) != *byte,
                None => {
                    self.database.push(*byte);
                    true
                }
            };
            let begins_page = self.database.len() == at + 1 && at.is_multiple_of(page);
            if begins_page || differs && (at < page || !logged.contains(&(at / page + 1))) {
                effective_bytes.push(index + 1);
            }
        }
        effective_bytes
    }

    /// Returns a copy whose log is read again from its beginning.
    pub(super) fn with_reread_log(&self) -> Self {
        Self::new(self.database.clone(), self.log.bytes.clone())
    }

    /// Returns the database that SQLite finds.
    pub(super) fn image(&self) -> Vec<u8> {
        let mut image = self.database.clone();
        let Some((header, last)) = self.log.header.as_ref().zip(self.log.committed().last()) else {
            return image;
        };
        image.resize(last.size as usize * header.page_size, 0);
        for (index, frame) in self.log.committed().iter().enumerate() {
            let from = LOG_HEADER_SIZE + index * (FRAME_HEADER_SIZE + header.page_size) + FRAME_HEADER_SIZE;
            let to = (frame.page as usize - 1) * header.page_size;
            if let Some(page) = image.get_mut(to..to + header.page_size) {
                page.copy_from_slice(&self.log.bytes[from..from + header.page_size]);
            }
        }
        image
    }
}

impl Log {
    fn parse(bytes: Vec<u8>) -> Self {
        let mut log = Self { header: LogHeader::parse(&bytes), bytes, frames: Vec::new() };
        log.read_frames();
        log
    }

    fn write(&mut self, at: usize, bytes: &[u8]) -> Vec<usize> {
        if self.bytes.len() < at {
            self.bytes.resize(at, 0);
        }
        let mut effective_bytes = Vec::new();
        for (index, byte) in bytes.iter().enumerate() {
            let committed = self.committed().len();
            let rewrites = self.write_byte(at + index, *byte).is_some_and(|frame| frame < committed);
            if rewrites || self.committed().len() != committed {
                effective_bytes.push(index + 1);
            }
        }
        effective_bytes
    }

    /// Writes a byte, and returns the index of the frame that it changed.
    fn write_byte(&mut self, at: usize, byte: u8) -> Option<usize> {
        match self.bytes.get_mut(at) {
            Some(old_byte) if *old_byte == byte => return None,
            Some(old_byte) => *old_byte = byte,
            None => self.bytes.push(byte),
        }
        let frame = match (&self.header, at.checked_sub(LOG_HEADER_SIZE)) {
            (Some(header), Some(at)) => at / (FRAME_HEADER_SIZE + header.page_size),
            _ => {
                self.header = LogHeader::parse(&self.bytes);
                0
            }
        };
        self.frames.truncate(frame);
        self.read_frames();
        Some(frame)
    }

    fn read_frames(&mut self) {
        while let Some(frame) = self.next_frame() {
            self.frames.push(frame);
        }
    }

    /// Returns the next frame after those already read, if it is complete and valid.
    fn next_frame(&self) -> Option<Frame> {
        let header = self.header.as_ref()?;
        let from = LOG_HEADER_SIZE + self.frames.len() * (FRAME_HEADER_SIZE + header.page_size);
        let (header_bytes, page) =
            self.bytes.get(from..from + FRAME_HEADER_SIZE + header.page_size)?.split_at(FRAME_HEADER_SIZE);
        if header_bytes[8..16] != header.salts || word(header_bytes, 0) == 0 {
            return None;
        }
        let before = self.frames.last().map_or(header.sum, |frame| frame.sum);
        let sum = header.sum(header.sum(before, &header_bytes[..8]), page);
        (sum == (word(header_bytes, 16), word(header_bytes, 20))).then(|| Frame {
            page: word(header_bytes, 0),
            size: word(header_bytes, 4),
            sum,
        })
    }

    /// Returns the frames up to the last commit.
    fn committed(&self) -> &[Frame] {
        let end = self.frames.iter().rposition(|frame| frame.size > 0);
        &self.frames[..end.map_or(0, |end| end + 1)]
    }
}

impl LogHeader {
    fn parse(log: &[u8]) -> Option<Self> {
        let header_bytes = log.get(..LOG_HEADER_SIZE)?;
        let magic = word(header_bytes, 0);
        let page_size = word(header_bytes, 8) as usize;
        let mut header = Self {
            page_size,
            is_big_endian: magic & 1 == 1,
            salts: header_bytes[16..24].try_into().unwrap(),
            sum: (0, 0),
        };
        header.sum = header.sum((0, 0), &header_bytes[..24]);
        let is_valid = magic | 1 == 0x377f_0683
            && page_size.is_power_of_two()
            && (512..=65_536).contains(&page_size)
            && header.sum == (word(header_bytes, 24), word(header_bytes, 28));
        is_valid.then_some(header)
    }

    fn sum(&self, (mut even, mut odd): Sum, bytes: &[u8]) -> Sum {
        let word = if self.is_big_endian { u32::from_be_bytes } else { u32::from_le_bytes };
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
fn word(header_bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(header_bytes[at..at + 4].try_into().unwrap())
}
