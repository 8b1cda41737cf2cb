//! Metadata that tells whether a file has changed. Opens nothing.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// Metadata of a file at one point in time. If it differs between two reads, the content may have changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stamp {
    /// Modification time, in nanoseconds since 1970 (negative for earlier times).
    pub mtime_ns: i64,
    /// Size in bytes.
    pub size: u64,
    /// Distinguishes a file from a replacement with the same modification time. Derived from the inode and the change
    /// time on Unix, 0 elsewhere.
    pub identity: u64,
}

/// Coarsest timestamp resolution of common file systems, in nanoseconds: 2 s on FAT; Linux before 6.13 has up to 10 ms.
/// A file that is read within this time of its last change could change again and keep its stamp (Git calls this
/// "racily clean").
const FILE_TIME_RESOLUTION_NS: i64 = 2_000_000_000;

impl Stamp {
    /// Whether the last change is old enough that any later change must alter the stamp.
    pub fn is_reliable(self) -> bool {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now_ns = i64::try_from(since.as_nanos()).unwrap_or(0);
        self.mtime_ns.checked_add(FILE_TIME_RESOLUTION_NS).is_some_and(|settled_at| settled_at < now_ns)
    }
}
