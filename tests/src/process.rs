//! Resource usage of a process, on systems that report it (Linux).

use std::fs;
use std::time::Duration;

/// A process whose resource usage is measured.
#[derive(Clone, Copy, Debug)]
pub struct Process(u32);

impl Process {
    /// Refers to the process with this id.
    pub fn new(id: u32) -> Self {
        Self(id)
    }

    /// Refers to the current process.
    pub fn own() -> Self {
        Self(std::process::id())
    }

    /// Returns the resident memory, in KiB.
    pub fn resident(self) -> Option<u64> {
        self.status("VmRSS:")
    }

    /// Returns the resident memory in KiB without file-backed pages, such as those of the program, which the
    /// system can drop at any time.
    pub fn own_memory(self) -> Option<u64> {
        self.status("RssAnon:")
    }

    /// Returns the peak resident memory, in KiB.
    pub fn peak(self) -> Option<u64> {
        self.status("VmHWM:")
    }

    /// Returns the number of open files, pipes and sockets.
    pub fn descriptors(self) -> Option<usize> {
        Some(fs::read_dir(format!("/proc/{}/fd", self.0)).ok()?.count())
    }

    /// Returns the CPU time of all threads, with a resolution of 10 ms. On a busy machine, it is more
    /// meaningful than wall-clock time.
    pub fn processor(self) -> Option<Duration> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.0)).ok()?;
        // The fields `utime` and `stime` follow the name of the program, which may contain any characters
        // (proc_pid_stat(5)).
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
