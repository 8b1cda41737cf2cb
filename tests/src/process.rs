//! What a process takes of the machine, where the system tells (Linux).

use std::fs;
use std::time::Duration;

/// What is counted of a process.
#[derive(Clone, Copy, Debug)]
pub struct Process(u32);

impl Process {
    /// The process with this number.
    pub fn new(id: u32) -> Self {
        Self(id)
    }

    /// This process.
    pub fn own() -> Self {
        Self(std::process::id())
    }

    /// Memory that it has now, in KiB.
    pub fn resident(self) -> Option<u64> {
        self.status("VmRSS:")
    }

    /// The same without pages of files, such as its own program, which the system takes away and gives back as it likes.
    pub fn own_memory(self) -> Option<u64> {
        self.status("RssAnon:")
    }

    /// The most memory that it ever had, in KiB.
    pub fn peak(self) -> Option<u64> {
        self.status("VmHWM:")
    }

    /// Files, pipes and sockets that it has open.
    pub fn descriptors(self) -> Option<usize> {
        Some(fs::read_dir(format!("/proc/{}/fd", self.0)).ok()?.count())
    }

    /// What all its threads have used of the processor, in steps of a hundredth of a second. On a busy machine it says more than
    /// the wall.
    pub fn processor(self) -> Option<Duration> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.0)).ok()?;
        // After the name of the program, which may hold anything: `utime` and `stime` (proc_pid_stat(5)).
        let fields = stat.rsplit(')').next()?.split_whitespace();
        let ticks = fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum::<u64>();
        Some(Duration::from_millis(ticks * 10))
    }

    fn status(self, field: &str) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.0)).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix(field))?;
        line.split_whitespace().next()?.parse().ok()
    }
}
