//! Points at which tests can inject a panic, to show that none does any harm: in the handling of every event and
//! command, in every job on another thread, and in every write to the store. With the feature `faults`, which only
//! the language server's tests enable, a point panics if the test's plan says so. In all other builds, the points do
//! nothing.

#[cfg(feature = "faults")]
pub mod plan;

/// How far the work at a point has progressed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Point {
    Before,
    /// Something has changed, but is not visible yet.
    Changed,
    /// Everything is done except reporting it.
    After,
}

/// Marks a point in the work with this name.
#[cfg_attr(not(feature = "faults"), expect(unused_variables, reason = "no test plans anything"))]
#[inline]
pub fn reach(what: &str, point: Point) {
    #[cfg(feature = "faults")]
    plan::reach(what, point);
}

/// Wraps named work for another thread, so that it runs under the plan of the thread that starts it.
#[inline]
pub fn carried<T>(what: &'static str, work: impl FnOnce() -> T) -> impl FnOnce() -> T {
    inherited(move || {
        reach(what, Point::Before);
        let done = work();
        reach(what, Point::After);
        done
    })
}

/// Like `carried`, for a thread that never ends, and without a point of its own.
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
