//! A progress bar on standard error, for what takes longer than half a second at a terminal. Gone without a trace when
//! the work is done; Ctrl-C ends the process as it always does, and there is nothing to restore.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use strata_app::index::Progress;

/// Work that is done sooner shows no bar.
const SHOW_AFTER: Duration = Duration::from_millis(500);
/// How often the bar moves although nothing was reported.
const TICK: Duration = Duration::from_millis(120);

/// Shown until it is dropped.
pub(crate) struct Bar {
    bar: ProgressBar,
    /// Dropped first: that ends the wait.
    done: Option<Sender<()>>,
    waiting: Option<JoinHandle<()>>,
}

impl Bar {
    /// A bar for an activity ("indexing") and its objects ("files").
    pub(crate) fn new(doing: &'static str, what: &'static str) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        bar.set_message(doing);
        bar.set_prefix(what);
        let (done, wait) = mpsc::channel();
        let shown = bar.clone();
        let show = move || {
            if wait.recv_timeout(SHOW_AFTER) == Err(RecvTimeoutError::Timeout) {
                shown.set_draw_target(ProgressDrawTarget::stderr());
                shown.enable_steady_tick(TICK);
            }
        };
        // Without a thread there is no bar; the work does not depend on it.
        let waiting = thread::Builder::new().name("strata-bar".to_owned()).spawn(show).ok();
        Self { bar, done: Some(done), waiting }
    }

    pub(crate) fn progress(&self, progress: Progress) {
        if self.bar.length().is_none()
            && let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {wide_bar} {pos}/{len} {prefix}")
        {
            self.bar.set_style(style);
        }
        self.bar.set_length(progress.total as u64);
        self.bar.set_position(progress.done as u64);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        drop(self.done.take());
        if let Some(waiting) = self.waiting.take() {
            // It cannot fail in a way that matters: the bar is going away.
            let _ = waiting.join();
        }
        self.bar.finish_and_clear();
    }
}
