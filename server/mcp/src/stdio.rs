//! The protocol on standard input and output, from the first byte to the end. Nothing else may write to standard output.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use rmcp::ServiceExt;
use rmcp::service::{QuitReason, ServerInitializeError};
use strata_lsp::commands::CommandError;
use strata_lsp::workbench::{Cancel, Trust, Workbench};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;

use crate::desk::Desk;
use crate::server::Server;
use crate::tools::{Effect, Index};
use crate::view::{Needs, Subject, View};

/// What is being done at the end gets this long to notice that nobody waits any more.
const LAST_CHANCE: Duration = Duration::from_millis(200);

/// Why serving ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// The client closed its end of the input.
    EndOfInput,
    /// The client closed its end of the output.
    OutputClosed,
}

/// Why serving did not begin, or broke off.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// No thread, no pipes.
    #[error(transparent)]
    System(#[from] io::Error),
    /// The session cannot be looked at.
    #[error(transparent)]
    Session(CommandError),
    /// What came first was no beginning.
    #[error(
        "the client began neither with `initialize` nor with a request that says which version it speaks"
    )]
    Handshake,
    /// The service broke off.
    #[error("the connection broke off")]
    Broken,
}

/// Serves the client at the other end of standard input and output, until that closes one of them.
///
/// # Errors
/// [`ServeError`].
pub fn serve(workbench: Workbench, subject: Subject) -> Result<Ended, ServeError> {
    let mut view = View::new(workbench, subject).map_err(ServeError::Session)?;
    // A misspelt name should be noticed when the server starts, not when the agent calls.
    let nothing = Needs { effect: Effect::Nothing, index: Index::NotNeeded };
    view.look(nothing, &Cancel::new(), |_| (), |_| Ok(())).map_err(ServeError::Session)?;
    let instructions = instructions(&view);
    let (desk, thread) = Desk::new(view)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_time().build()?;
    let ended = runtime.block_on(converse(Server::new(desk, instructions)));
    // The thread that reads standard input may stand in a read that never ends.
    runtime.shutdown_timeout(LAST_CHANCE);
    // All ways to the desk are gone now, so its thread ends; what it keeps for the next run is on disk then.
    if thread.join().is_err() {
        tracing::error!("the desk's thread panicked");
    }
    ended
}

async fn converse(server: Server) -> Result<Ended, ServeError> {
    let closed = Arc::new(Notify::new());
    let flow = Arc::new(Flow::default());
    let input = Input { inner: tokio::io::stdin(), flow: Arc::clone(&flow) };
    let output = Output { inner: tokio::io::stdout(), closed: Arc::clone(&closed), flow };
    let conversation = async {
        let service = match server.serve((input, output)).await {
            Ok(service) => service,
            // Nothing was asked, as when somebody only looks whether the server starts.
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(Ended::EndOfInput),
            // What the error says holds the message itself, which is nobody's but the client's.
            Err(_) => return Err(ServeError::Handshake),
        };
        match service.waiting().await {
            Ok(QuitReason::Closed) => Ok(Ended::EndOfInput),
            Ok(_) | Err(_) => Err(ServeError::Broken),
        }
    };
    tokio::select! {
        ended = conversation => ended,
        () = closed.notified() => Ok(Ended::OutputClosed),
    }
}

/// Whether the client takes what it is answered. While it does not, nothing more is read: the service begins every request at once and
/// keeps its answer until it is written, however many there are.
#[derive(Default)]
struct Flow(Mutex<FlowState>);

#[derive(Default)]
struct FlowState {
    is_stuck: bool,
    /// Who would read on.
    reader: Option<Waker>,
}

impl Flow {
    fn state(&self) -> MutexGuard<'_, FlowState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_stuck(&self, is_stuck: bool) {
        let mut state = self.state();
        state.is_stuck = is_stuck;
        if !is_stuck && let Some(reader) = state.reader.take() {
            reader.wake();
        }
    }

    /// Whether the reader has to wait, and is woken when it need not any more.
    fn holds_back(&self, reader: &Waker) -> bool {
        let mut state = self.state();
        if state.is_stuck {
            state.reader = Some(reader.clone());
        }
        state.is_stuck
    }
}

/// Standard input, as far as its answers are taken.
struct Input {
    inner: tokio::io::Stdin,
    flow: Arc<Flow>,
}

impl AsyncRead for Input {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.flow.holds_back(context.waker()) {
            return Poll::Pending;
        }
        Pin::new(&mut self.inner).poll_read(context, buffer)
    }
}

/// Standard output, which says when the client does not read any more: the service would go on.
struct Output {
    inner: tokio::io::Stdout,
    closed: Arc<Notify>,
    flow: Arc<Flow>,
}

impl Output {
    fn noticed<T>(&self, poll: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        self.flow.set_stuck(poll.is_pending());
        if let Poll::Ready(Err(_)) = &poll {
            self.closed.notify_one();
        }
        poll
    }
}

impl AsyncWrite for Output {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.inner).poll_write(context, bytes);
        self.noticed(poll)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let poll = Pin::new(&mut self.inner).poll_flush(context);
        self.noticed(poll)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let poll = Pin::new(&mut self.inner).poll_shutdown(context);
        self.noticed(poll)
    }
}

/// What a model is told of the server as a whole.
fn instructions(view: &View) -> String {
    let folder = view.workbench().folder().display();
    let session = match view.subject() {
        Subject::Own => "Selections are your own and end with this server.".to_owned(),
        Subject::Newest => {
            "Selections are those of the session that the person used last; while an editor has it open, only that changes \
             them."
                .to_owned()
        }
        Subject::Stored(id) => {
            format!("Selections are those of session `{id}`; while an editor has it open, only that changes them.")
        }
    };
    let trust = match view.workbench().snapshot().trust {
        Trust::Trusted => "",
        Trust::Untrusted => {
            " The person has not said that they trust this workspace: its rules are not part of the prompt."
        }
    };
    format!(
        "Strata knows the repository in {folder} as it is on disk now: what is defined where, who mentions it, what a task is \
         about. Begin a task with `context`, or with `map` in a repository that you do not know, and read only what they lead \
         to. Paths count from that folder. Results keep to `max_tokens`; a long one says how to get the rest. Secrets are \
         replaced by placeholders. {session}{trust}"
    )
}
