//! What a process takes of the machine, where the system tells (Linux).

use std::fs;

/// What is counted of a process.
#[derive(Clone, Copy, Debug)]
pub struct Process(u32);

impl Process {
    /// The process with this number.
    pub fn new(id: u32) -> Self {
        Self(id)
    }

    /// Memory that it has now, in KiB.
    pub fn resident(self) -> Option<u64> {
        self.status("VmRSS:")
    }

    /// The most memory that it ever had, in KiB.
    pub fn peak(self) -> Option<u64> {
        self.status("VmHWM:")
    }

    /// Files, pipes and sockets that it has open.
    pub fn descriptors(self) -> Option<usize> {
        Some(fs::read_dir(format!("/proc/{}/fd", self.0)).ok()?.count())
    }

    fn status(self, field: &str) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.0)).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix(field))?;
        line.split_whitespace().next()?.parse().ok()
    }
}
