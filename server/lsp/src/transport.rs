//! The transport: drives `LspService` without the library's stdio `Server`.
//!
//! Handles framing, the order of calls, exactly one answer per request, and the end of the process. Does not interpret
//! methods or access the world.
//!
//! - One thread reads (see [`FrameDecoder`]). Each call is made immediately, in wire order, and polled once before the
//!   next message is handled. A handler that posts its event before its first `.await` therefore makes wire order the
//!   order of state changes (`ARCHITECTURE.md`, "Events first"). Pending calls continue as tasks.
//! - One thread writes. No other thread accesses the output.
//! - The client's answers bypass waiting calls. Notifications are always accepted. At most
//!   [`TransportOptions::pending_requests`] requests are pending; further requests are answered with `ServerBusy`.
//! - A handler must not compute before its first `.await`, since no input is read in the meantime.
//!
//! ```text
//! input ─> reader: frames ─> messages ─┬─> service (call, poll once) ─> task ─┐
//!                                      └─> the client's answers               ├─> outbox ─> writer ─> output
//!                     server-to-client calls ─> loopback ─────────────────────┘
//! ```

mod dispatch;
mod exit;
mod frame;
mod loopback;
mod lost;
mod message;
mod options;
mod outbox;
mod reader;
mod refusal;
mod stdio;
mod watchdog;

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::thread;

use tokio::sync::oneshot;
use tokio::time::timeout;
use tower_lsp::Loopback as Socket;

pub(crate) use dispatch::CallService;
pub use exit::{Exit, ExitCause};
pub use frame::{DecodedFrame, Fault, FrameDecoder, FrameLimits};
pub use lost::LostClientMessage;
pub use options::TransportOptions;
pub(crate) use stdio::stdio;

use dispatch::Dispatcher;
use exit::ExitSignal;
use loopback::OutgoingCallForwarder;
use outbox::Outbox;
use reader::Reader;

/// Serves one client until it sends `exit`, closes a pipe or dies.
///
/// Runs on the caller's runtime, which must have more than one thread if a handler computes. Reading and writing use
/// dedicated threads, since tokio's standard input doubles the latency of a request. When this function returns, the
/// reading thread may still be blocked in `reader`, and tasks may still be running, so the caller should end the
/// process.
///
/// Calls `on_loss` for each message that could not be read, in wire order with the calls of the service.
///
/// # Errors
///
/// Returns an error if a thread cannot be started. Any later failure is part of the [`Exit`].
pub async fn serve<T, L, I, O>(
    service: T,
    socket: L,
    reader: I,
    writer: O,
    options: TransportOptions,
    on_loss: impl FnMut(LostClientMessage) + Send + 'static,
) -> io::Result<Exit>
where
    T: CallService,
    L: Socket<RequestStream: Send + 'static, ResponseSink: Send + 'static>,
    I: Read + Send + 'static,
    O: Write + Send + 'static,
{
    let (calls, answers) = socket.split();
    let (exit, cause_receiver) = ExitSignal::new();
    let exit = Arc::new(exit);
    let outbox = Arc::new(Outbox::new(options.unsent));
    let loopback = Arc::new(OutgoingCallForwarder::new(calls, Arc::clone(&outbox)));
    let dispatcher = Dispatcher::new(
        service,
        Box::new(on_loss),
        Arc::clone(&loopback),
        Arc::clone(&outbox),
        Arc::clone(&exit),
        options,
    );
    let dispatcher = Arc::new(dispatcher);

    let written = start_writer(writer, Arc::clone(&outbox), Arc::clone(&exit))?;
    let mut input_reader = Reader {
        dispatcher: Arc::clone(&dispatcher),
        answers,
        outbox: Arc::clone(&outbox),
        exit: Arc::clone(&exit),
    };
    let runtime = tokio::runtime::Handle::current();
    thread::Builder::new().name("strata-reader".to_owned()).spawn(move || {
        // The first poll of a handler may need the runtime's timers and tasks.
        let _inside = runtime.enter();
        input_reader.run(reader, options.limits);
    })?;
    let forwarding = tokio::spawn(async move { loopback.run().await });

    // The signal is not dropped before this function returns, so the fallback is never used.
    let cause = cause_receiver.await.unwrap_or(ExitCause::EndOfInput);
    if cause == ExitCause::EndOfInput {
        // Input such as `printf ... | strata serve` ends before the answers are complete.
        let _ = timeout(options.drain, dispatcher.call_counter().wait_until_idle()).await;
    }
    outbox.close();
    if matches!(cause, ExitCause::ExitNotification | ExitCause::EndOfInput) {
        let _ = timeout(options.drain, written).await;
    }
    forwarding.abort();
    let code = if dispatcher.is_shut_down() { 0 } else { 1 };
    Ok(Exit { code, cause })
}

/// Starts the writing thread. The receiver resolves when the thread has finished.
fn start_writer<O: Write + Send + 'static>(
    writer: O,
    outbox: Arc<Outbox>,
    exit: Arc<ExitSignal>,
) -> io::Result<oneshot::Receiver<()>> {
    let (sender, written) = oneshot::channel();
    thread::Builder::new().name("strata-writer".to_owned()).spawn(move || {
        if let Err(error) = outbox.write_to(writer) {
            tracing::error!(%error, "writing failed");
            exit.raise(ExitCause::OutputClosed);
        }
        let _ = sender.send(());
    })?;
    Ok(written)
}
