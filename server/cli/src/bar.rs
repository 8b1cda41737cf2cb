//! A progress bar on standard error for work that takes longer than half a second, shown only on a terminal. The bar is
//! removed when the work is done. Ctrl-C ends the process as usual, with no terminal state to restore.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use strata_app::model::index::OutlineProgress;

/// Duration of work before the bar appears.
const PROGRESS_BAR_DELAY: Duration = Duration::from_millis(500);
/// Interval at which the bar is redrawn even without progress.
const REDRAW_INTERVAL: Duration = Duration::from_millis(120);

/// A progress bar, shown until it is dropped.
pub(crate) struct ProgressDisplay {
    bar: ProgressBar,
    /// Wakes the waiting thread when dropped, so that the thread can be joined without delay.
    done: Option<Sender<()>>,
    waiting: Option<JoinHandle<()>>,
}

impl ProgressDisplay {
    /// Creates a bar for an activity, such as "indexing", that counts items, such as "files".
    pub(crate) fn new(activity: &'static str, unit: &'static str) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        bar.set_message(activity);
        bar.set_prefix(unit);
        let (done, wait) = mpsc::channel();
        let shown_bar = bar.clone();
        let show = move || {
            if wait.recv_timeout(PROGRESS_BAR_DELAY) == Err(RecvTimeoutError::Timeout) {
                shown_bar.set_draw_target(ProgressDrawTarget::stderr());
                shown_bar.enable_steady_tick(REDRAW_INTERVAL);
            }
        };
        // If the thread cannot be started, no bar appears, but the work continues.
        let waiting = thread::Builder::new().name("strata-bar".to_owned()).spawn(show).ok();
        Self { bar, done: Some(done), waiting }
    }

    pub(crate) fn show_progress(&self, progress: OutlineProgress) {
        if self.bar.length().is_none()
            && let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {wide_bar} {pos}/{len} {prefix}")
        {
            self.bar.set_style(style);
        }
        self.bar.set_length(progress.total as u64);
        self.bar.set_position(progress.done as u64);
    }
}

impl Drop for ProgressDisplay {
    fn drop(&mut self) {
        drop(self.done.take());
        if let Some(waiting) = self.waiting.take() {
            // A panic in the thread does not matter, since the bar is being removed.
            let _ = waiting.join();
        }
        self.bar.finish_and_clear();
    }
}
