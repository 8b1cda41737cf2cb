//! Cancels an answer when Ctrl-C is pressed.

use std::io;
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use strata_app::runtime::headless::Cancel;

use crate::output;

/// Exit code that shells use for a program stopped with Ctrl-C.
pub(crate) const INTERRUPTED_EXIT_CODE: u8 = 130;

/// What Ctrl-C does after the answer was cancelled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SecondInterrupt {
    Cancels,
    Exits,
}

/// Cancels the answer that is being written when Ctrl-C is pressed.
#[derive(Clone, Default)]
pub(crate) struct InterruptHandler(Arc<Mutex<Option<Cancel>>>);

impl InterruptHandler {
    /// Starts to listen. Afterwards, Ctrl-C no longer ends the program. Call it before the line editor is created, which
    /// restores the handler that it found.
    pub(crate) fn listen(second: SecondInterrupt) -> Self {
        let interrupts = Self::default();
        let listener = interrupts.clone();
        let (ready, is_listening) = mpsc::channel();
        let listening = thread::Builder::new().name("strata-interrupt".to_owned()).spawn(move || {
            if let Err(error) = listener.cancel_at_interrupts(second, ready) {
                output::print_message(&format!("warning: Ctrl-C will end the program: {error}"));
            }
        });
        match listening {
            // If the thread cannot listen, it says so.
            Ok(_) => drop(is_listening.recv()),
            Err(error) => output::print_message(&format!("warning: Ctrl-C will end the program: {error}")),
        }
        interrupts
    }

    /// Cancels the current answer at each interrupt. Drops `ready` when it has begun to listen.
    fn cancel_at_interrupts(&self, second: SecondInterrupt, ready: Sender<()>) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
        runtime.block_on(async {
            #[cfg(unix)]
            let mut interrupts = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt())?;
            #[cfg(windows)]
            let mut interrupts = tokio::signal::windows::ctrl_c()?;
            drop(ready);
            while interrupts.recv().await.is_some() {
                if let Some(cancel) = &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
                    if second == SecondInterrupt::Exits && cancel.is_cancelled() {
                        std::process::exit(i32::from(INTERRUPTED_EXIT_CODE));
                    }
                    cancel.cancel();
                }
            }
            Ok(())
        })
    }

    pub(crate) fn set_cancel(&self, cancel: Option<&Cancel>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = cancel.cloned();
    }
}
