//! Points at which tests can inject a panic, to show that a panic does no harm: in the handling of every event and
//! command, in every job on another thread, and in every write to the store. A point panics only with the feature
//! `faults`, which the language server's tests enable, and only if the test's plan says so.

#[cfg(feature = "faults")]
pub mod plan;
mod point;

pub use point::FaultPoint;

/// Marks a point in the work called `work_name`, at which a test may inject a panic.
#[cfg_attr(not(feature = "faults"), expect(unused_variables, reason = "no test plans anything"))]
#[inline]
pub fn reach(work_name: &str, point: FaultPoint) {
    #[cfg(feature = "faults")]
    plan::reach(work_name, point);
}

/// Wraps work for another thread, so that the fault-injection plan of the current thread applies to it. Marks a point
/// before and after the work.
#[inline]
pub fn with_fault_points<T>(work_name: &'static str, work: impl FnOnce() -> T) -> impl FnOnce() -> T {
    inherit_plan(move || {
        reach(work_name, FaultPoint::Before);
        let result = work();
        reach(work_name, FaultPoint::After);
        result
    })
}

/// Like `carried`, but without points of its own, for threads that never end.
#[inline]
pub fn inherit_plan<T>(work: impl FnOnce() -> T) -> impl FnOnce() -> T {
    #[cfg(feature = "faults")]
    {
        plan::inherit_plan(work)
    }
    #[cfg(not(feature = "faults"))]
    {
        work
    }
}
