//! Assembles the server and runs it on standard input and output, or on any other pair of pipes.

use std::io::{self, Read, Write};
use std::num::NonZeroUsize;
use std::sync::mpsc;
use std::thread;

use strata_host::pool::{Pool, Urgency};
use tower_lsp::LspService;

use crate::backend::Backend;
use crate::event::Event;
use crate::inbound::InboundMiddleware;
use crate::invalid_notification::InvalidNotification;
use crate::main_loop::MainLoop;
use crate::outbound;
use crate::transport::{Exit, TransportOptions, serve, stdio};
use strata_app::faults::inherit_plan;

/// Serves one client on standard input and output. Returns the cause and the exit code when serving ends.
///
/// # Errors
/// Returns an error if the system cannot start threads, or if standard input or output is closed.
pub fn run() -> io::Result<Exit> {
    let (reader, writer) = stdio()?;
    run_with(reader, writer, MainLoop::with_endpoint)
}

/// Serves one client on the given pipes. Returns the cause and the exit code when serving ends.
///
/// # Errors
/// Returns an error if the system cannot start threads.
pub fn run_on<I, O>(reader: I, writer: O) -> io::Result<Exit>
where
    I: Read + Send + 'static,
    O: Write + Send + 'static,
{
    run_with(reader, writer, |main_loop| main_loop)
}

/// Like [`run_on`], but lets `prepare` modify the main loop before it starts.
pub(crate) fn run_with<I, O>(
    reader: I,
    writer: O,
    prepare: impl FnOnce(MainLoop) -> MainLoop,
) -> io::Result<Exit>
where
    I: Read + Send + 'static,
    O: Write + Send + 'static,
{
    // I/O is not enabled, since dedicated threads serve the pipes, and tokio's I/O driver would open sockets.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build()?;
    runtime.block_on(async {
        let (events, inbox) = mpsc::channel();
        let threads = thread::available_parallelism().map_or(2, NonZeroUsize::get).clamp(2, 8);
        let pool = Pool::new(NonZeroUsize::new(threads).unwrap_or(NonZeroUsize::MIN), Urgency::Awaited)?;
        let mut sender = None;
        let (service, socket) = LspService::build(|client| {
            sender = Some(outbound::start_sender_task(client, events.clone()));
            Backend::new(events.clone())
        })
        .custom_method("window/workDoneProgress/cancel", Backend::progress_cancelled)
        .finish();
        let Some(sender) = sender else { return Err(io::Error::other("the service was not started")) };
        let main_loop = prepare(MainLoop::new(pool, events.clone(), sender)?);
        let main_thread = inherit_plan(move || main_loop.run(&inbox));
        let main_thread = thread::Builder::new().name("strata-main".to_owned()).spawn(main_thread)?;
        let service = InboundMiddleware::new(service, events.clone());
        let loss_events = events.clone();
        let on_loss = move |message| {
            // The main loop has ended if the server is shutting down, so the event no longer matters.
            let _ = loss_events.send(Event::InvalidNotification(InvalidNotification::from_lost(message)));
        };
        let exit = serve(service, socket, reader, writer, TransportOptions::default(), on_loss).await?;
        let _ = events.send(Event::Shutdown);
        // The main loop logs its own failures.
        let _ = main_thread.join();
        Ok(exit)
    })
}
