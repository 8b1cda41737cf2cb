//! The wire: drives `LspService` without the library's stdio `Server`.
//!
//! Owns framing, the order of calls, exactly one answer per request, and the end of the process. Never knows what a method means,
//! and never touches the state of the world.
//!
//! - A thread reads ([`FrameDecoder`]); each call is made immediately, in wire order, and polled once before the next message is
//!   examined. So a handler that posts its event before its first `.await` makes wire order state order (`ARCHITECTURE.md`, "Events
//!   first"). Pending calls continue as tasks.
//! - A thread writes, and is the only owner of the output.
//! - The client's answers pass everything that waits; notifications are never capped; at most
//!   [`Options::pending_requests`] requests are pending, one more is answered with [`SERVER_BUSY`].
//! - A handler must not compute before its first `.await`: nothing is read meanwhile.
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
mod message;
mod outbox;
mod reader;
mod refusal;
mod stdio;
mod watchdog;

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::timeout;
use tower_lsp::Loopback as Socket;

pub(crate) use dispatch::CallService;
pub use exit::{Cause, Exit};
pub use frame::{DecodedFrame, Fault, FrameDecoder, Limits};
pub use refusal::{NOT_INITIALIZED, SERVER_BUSY};
pub(crate) use stdio::stdio;

use dispatch::Dispatcher;
use exit::ExitSignal;
use loopback::Loopback;
use outbox::Outbox;
use reader::Reader;

#[derive(Clone, Copy, Debug)]
pub struct Options {
    pub limits: Limits,
    /// Requests that may be pending at once.
    pub pending_requests: usize,
    /// Bytes of unsent output above which no input is taken and server-to-client calls wait, until half of it is
    /// sent. Answers of requests that are pending by then are still queued.
    pub unsent: usize,
    /// How long the end of the input waits for pending requests, and any end for unsent output.
    pub drain: Duration,
    /// How often to look whether the client's process (`processId` in `initialize`) still runs.
    pub watch_every: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            pending_requests: 512,
            unsent: 16 << 20,
            drain: Duration::from_secs(1),
            watch_every: watchdog::EVERY,
        }
    }
}

/// Serves one client until it sends `exit`, closes a pipe or dies.
///
/// Runs on the caller's runtime, which must have more than one thread if a handler may compute: the caller also runs
/// other work there, and knows how many threads that needs. Reading and writing have threads of their own (the runtime's
/// own standard input doubles the latency of a request). The reading thread may still be blocked in `reader` when this
/// returns, and tasks may still run: the caller should end the process.
///
/// # Errors
///
/// When a thread cannot be started. Everything that goes wrong later is an [`Exit`].
pub async fn serve<T, L, I, O>(
    service: T,
    socket: L,
    reader: I,
    writer: O,
    options: Options,
) -> io::Result<Exit>
where
    T: CallService,
    L: Socket<RequestStream: Send + 'static, ResponseSink: Send + 'static>,
    I: Read + Send + 'static,
    O: Write + Send + 'static,
{
    let (calls, answers) = socket.split();
    let (exit, ended) = ExitSignal::new();
    let exit = Arc::new(exit);
    let outbox = Arc::new(Outbox::new(options.unsent));
    let loopback = Arc::new(Loopback::new(calls, Arc::clone(&outbox)));
    let dispatcher =
        Dispatcher::new(service, Arc::clone(&loopback), Arc::clone(&outbox), Arc::clone(&exit), options);
    let dispatcher = Arc::new(dispatcher);

    let written = start_writer(writer, Arc::clone(&outbox), Arc::clone(&exit))?;
    let mut read = Reader {
        dispatcher: Arc::clone(&dispatcher),
        answers,
        outbox: Arc::clone(&outbox),
        exit: Arc::clone(&exit),
    };
    let runtime = tokio::runtime::Handle::current();
    thread::Builder::new().name("strata-reader".to_owned()).spawn(move || {
        // A handler's first poll may use the runtime's timers and tasks.
        let _inside = runtime.enter();
        read.run(reader, options.limits);
    })?;
    let forwarding = tokio::spawn(async move { loopback.run().await });

    // The signal lives as long as this function.
    let cause = ended.await.unwrap_or(Cause::EndOfInput);
    if cause == Cause::EndOfInput {
        // `printf ... | strata serve`: the end of the questions is not the end of the answers.
        let _ = timeout(options.drain, dispatcher.pending().idle()).await;
    }
    outbox.close();
    if matches!(cause, Cause::ExitNotification | Cause::EndOfInput) {
        let _ = timeout(options.drain, written).await;
    }
    forwarding.abort();
    let code = if dispatcher.is_shut_down() { 0 } else { 1 };
    Ok(Exit { code, cause })
}

/// Starts the thread that writes; the receiver resolves when it is done.
fn start_writer<O: Write + Send + 'static>(
    writer: O,
    outbox: Arc<Outbox>,
    exit: Arc<ExitSignal>,
) -> io::Result<oneshot::Receiver<()>> {
    let (done, written) = oneshot::channel();
    thread::Builder::new().name("strata-writer".to_owned()).spawn(move || {
        if let Err(error) = outbox.write_to(writer) {
            tracing::error!(%error, "writing failed");
            exit.raise(Cause::OutputClosed);
        }
        let _ = done.send(());
    })?;
    Ok(written)
}
