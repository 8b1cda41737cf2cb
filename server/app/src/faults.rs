//! Places where a panic can be brought about, to show that none of them does harm: on the way of every event, every
//! command, every job on another thread and every write to the store. With the feature `faults`, which only
//! the tests of the language server enable, a place panics when a test says so; in every other build a place is empty. Decides nothing and keeps nothing.

#[cfg(feature = "faults")]
pub mod plan;

/// How far some work is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Point {
    Before,
    /// Something was changed, and nobody has seen it.
    Changed,
    /// All is done but telling.
    After,
}

/// A place in the work of this name.
#[cfg(not(feature = "faults"))]
#[inline(always)]
pub fn reach(_what: &str, _point: Point) {}

/// Work of this name that goes on on another thread.
#[cfg(not(feature = "faults"))]
#[inline(always)]
pub fn carried<T, W: FnOnce() -> T>(_what: &'static str, work: W) -> W {
    work
}

/// The same for a thread that has no end.
#[cfg(not(feature = "faults"))]
#[inline(always)]
pub fn inherited<T, W: FnOnce() -> T>(work: W) -> W {
    work
}

#[cfg(feature = "faults")]
pub use plan::{carried, inherited, reach};
