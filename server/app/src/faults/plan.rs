//! A test's plan for its server, which counts the points reached and selects the one that panics. The plan applies to a
//! thread and to the work it hands to other threads, so that servers of other tests are unaffected.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::point::Point;

pub(crate) type Location = (String, Point);

/// A test's fault-injection plan.
#[derive(Default)]
pub struct Plan(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    reached: BTreeMap<Location, usize>,
    /// Point at which to panic, and how many more times to pass it before that.
    armed: Option<(Location, usize)>,
}

/// Name that code shared by several kinds of work passes to `reach`. It stands for the work that the thread began last.
const TRANSITION: &str = "transition";

thread_local! {
    static BEGUN: RefCell<String> = const { RefCell::new(String::new()) };
    static PLAN: RefCell<Option<Arc<Plan>>> = const { RefCell::new(None) };
}

impl Plan {
    /// Applies the plan to this thread from now on.
    pub fn enter(self: &Arc<Self>) {
        PLAN.set(Some(Arc::clone(self)));
    }

    /// Makes a point panic once, after it has been passed `passes` times.
    pub fn arm(&self, work_name: &str, point: Point, passes: usize) {
        self.inner().armed = Some(((work_name.to_owned(), point), passes));
    }

    /// Cancels the planned panic. Returns whether it was still pending.
    pub fn disarm(&self) -> bool {
        self.inner().armed.take().is_some()
    }

    /// Returns how often each point was reached.
    pub fn reached(&self) -> BTreeMap<Location, usize> {
        self.inner().reached.clone()
    }

    fn reach(&self, work_name: &str, point: Point) {
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

pub(super) fn reach(work_name: &str, point: Point) {
    let Some(plan) = PLAN.with_borrow(Option::clone) else { return };
    if point == Point::Before {
        BEGUN.set(work_name.to_owned());
    }
    match work_name {
        TRANSITION => plan.reach(&BEGUN.with_borrow(String::clone), point),
        _ => plan.reach(work_name, point),
    }
}

/// Wraps work so that the plan of the current thread applies to it on any thread.
pub(super) fn inherited<T>(work: impl FnOnce() -> T) -> impl FnOnce() -> T {
    let plan = PLAN.with_borrow(Option::clone);
    move || {
        let _left = PreviousPlan(PLAN.replace(plan));
        work()
    }
}

/// The thread's previous plan, which is restored on drop.
struct PreviousPlan(Option<Arc<Plan>>);

impl Drop for PreviousPlan {
    fn drop(&mut self) {
        PLAN.set(self.0.take());
    }
}
