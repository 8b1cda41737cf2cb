//! How far work has progressed at a point. Does not know the work.

/// How far work has progressed when it reaches a point where a test can inject a panic.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum FaultPoint {
    Before,
    /// The work has made changes that are not visible yet.
    Changed,
    /// All work is done except reporting the result.
    After,
}
