//! A problem during a scan.

/// A problem during a scan.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ScanProblem {
    /// Key of the file or directory, or its path if it has no key.
    pub place: String,
    pub problem: String,
}
