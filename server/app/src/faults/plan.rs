//! A test's plan for its server, which counts the points reached and selects the one that panics. The plan applies to a
//! thread and to the work it hands to other threads, so that servers of other tests are unaffected.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::point::FaultPoint;

pub(crate) type FaultSite = (String, FaultPoint);

/// A test's fault-injection plan.
#[derive(Default)]
pub struct FaultPlan(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    reached: BTreeMap<FaultSite, usize>,
    /// Point at which to panic, and how many more times to pass it before that.
    armed: Option<(FaultSite, usize)>,
}

/// Name that code shared by several kinds of work passes to `reach`. It stands for the work that the thread began last.
const CURRENT_WORK_NAME: &str = "transition";

thread_local! {
    static BEGUN: RefCell<String> = const { RefCell::new(String::new()) };
    static PLAN: RefCell<Option<Arc<FaultPlan>>> = const { RefCell::new(None) };
}

impl FaultPlan {
    /// Applies the plan to this thread from now on.
    pub fn apply_to_thread(self: &Arc<Self>) {
        PLAN.set(Some(Arc::clone(self)));
    }

    /// Makes a point panic once, after it has been passed `passes` times.
    pub fn arm(&self, work_name: &str, point: FaultPoint, passes: usize) {
        self.inner().armed = Some(((work_name.to_owned(), point), passes));
    }

    /// Cancels the planned panic. Returns whether it was still pending.
    pub fn disarm(&self) -> bool {
        self.inner().armed.take().is_some()
    }

    /// Returns how often each point was reached.
    pub fn reach_counts(&self) -> BTreeMap<FaultSite, usize> {
        self.inner().reached.clone()
    }

    fn reach(&self, work_name: &str, point: FaultPoint) {
        let location = (work_name.to_owned(), point);
        let mut inner = self.inner();
        *inner.reached.entry(location.clone()).or_default() += 1;
        match &mut inner.armed {
            Some((armed, passes)) if *armed == location && *passes > 0 => *passes -= 1,
            Some((armed, _)) if *armed == location => {
                inner.armed = None;
                drop(inner);
                // Unwind like a panic, but print no report to standard error.
                resume_unwind(Box::new(format!("a test wants {work_name} to panic, {point:?}")));
            }
            _ => {}
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) fn reach(work_name: &str, point: FaultPoint) {
    let Some(plan) = PLAN.with_borrow(Option::clone) else { return };
    if point == FaultPoint::Before {
        BEGUN.set(work_name.to_owned());
    }
    match work_name {
        CURRENT_WORK_NAME => plan.reach(&BEGUN.with_borrow(String::clone), point),
        _ => plan.reach(work_name, point),
    }
}

/// Wraps work so that the plan of the current thread applies to it on any thread.
pub(super) fn inherit_plan<T>(work: impl FnOnce() -> T) -> impl FnOnce() -> T {
    let plan = PLAN.with_borrow(Option::clone);
    move || {
        let _left = PlanGuard(PLAN.replace(plan));
        work()
    }
}

/// The thread's previous plan, which is restored on drop.
struct PlanGuard(Option<Arc<FaultPlan>>);

impl Drop for PlanGuard {
    fn drop(&mut self) {
        PLAN.set(self.0.take());
    }
}
