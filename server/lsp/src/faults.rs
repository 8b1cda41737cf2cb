//! Places where a panic can be brought about, to show that none of them does harm: on the way of every piece of mail, every
//! command, every job on another thread and every write to the store. In the unit tests of this crate a place panics when the
//! test says so; in every other build a place is empty. Decides nothing and keeps nothing.

#[cfg(test)]
pub(crate) mod plan;
#[cfg(test)]
mod tests;

/// How far some work is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Point {
    /// Nothing was done yet.
    Before,
    /// Something was changed, and nobody has seen it.
    Changed,
    /// All is done but telling.
    After,
}

/// A place in the work of this name.
#[cfg(not(test))]
#[inline(always)]
pub(crate) fn reach(_what: &str, _point: Point) {}

/// Work of this name that goes on on another thread.
#[cfg(not(test))]
#[inline(always)]
pub(crate) fn carried<T, W: FnOnce() -> T>(_what: &'static str, work: W) -> W {
    work
}

/// The same for a thread that has no end.
#[cfg(not(test))]
#[inline(always)]
pub(crate) fn inherited<T, W: FnOnce() -> T>(work: W) -> W {
    work
}

#[cfg(test)]
pub(crate) use plan::{carried, inherited, reach};
