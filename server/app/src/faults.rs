//! Places where a panic can be brought about, to show that none of them does harm: on the way of every event, every
//! command, every job on another thread and every write to the store. With the feature `faults`, which only
//! the tests of the language server enable, a place panics when a test says so; in every other build a place is empty. Decides nothing and keeps nothing.

#[cfg(feature = "faults")]
pub mod plan;

/// How far some work is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Point {
    Before,
    /// Something was changed, but is not visible yet.
    Changed,
    /// All is done but telling.
    After,
}

/// A place in the work of this name.
#[cfg_attr(not(feature = "faults"), expect(unused_variables, reason = "no test plans anything"))]
#[inline]
pub fn reach(what: &str, point: Point) {
    #[cfg(feature = "faults")]
    plan::reach(what, point);
}

/// Runs named work on another thread, under the plan of the thread that starts it.
#[inline]
pub fn carried<T>(what: &'static str, work: impl FnOnce() -> T) -> impl FnOnce() -> T {
    inherited(move || {
        reach(what, Point::Before);
        let done = work();
        reach(what, Point::After);
        done
    })
}

/// The same for a thread that has no end, and no place of its own.
#[inline]
pub fn inherited<T>(work: impl FnOnce() -> T) -> impl FnOnce() -> T {
    #[cfg(feature = "faults")]
    {
        plan::inherited(work)
    }
    #[cfg(not(feature = "faults"))]
    {
        work
    }
}
