//! Serves the protocol on standard input and output. Nothing else may write to standard output.

use std::collections::HashSet;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use rmcp::ServiceExt;
use rmcp::model::{ClientNotification, JsonRpcMessage, JsonRpcNotification, RequestId};
use rmcp::service::{QuitReason, RoleServer, RxJsonRpcMessage, ServerInitializeError, TxJsonRpcMessage};
use rmcp::transport::Transport;
use strata_app::commands::{Access, CommandError};
use strata_app::runtime::headless::{Cancel, HeadlessWorkspace, Trust};
use tokio::io::AsyncWrite;
use tokio::sync::{Notify, watch};

use crate::lines::{LineTransport, answered_request};
use crate::server::Server;
use crate::view::{CallNeeds, RequiredIndex, SessionChoice, WorkspaceView};
use crate::worker::Worker;

/// Maximum time to wait for unfinished work when the server shuts down.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(200);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ServeOutcome {
    /// The client closed the server's standard input.
    EndOfInput,
    /// The client closed the server's standard output.
    OutputClosed,
}

/// Why the server could not start, or why the connection failed.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error(transparent)]
    System(#[from] io::Error),
    /// The session cannot be opened.
    #[error(transparent)]
    Session(CommandError),
    /// The first message was invalid.
    #[error("the client did not begin with `initialize` or with a request that names its version")]
    Handshake,
    /// The connection failed.
    #[error("the connection was closed")]
    Broken,
}

/// Serves a client on standard input and output until the client closes one of them.
pub fn serve(headless: HeadlessWorkspace, session_choice: SessionChoice) -> Result<(), ServeError> {
    let mut view = WorkspaceView::new(headless, session_choice).map_err(ServeError::Session)?;
    // A misspelled session name should be noticed when the server starts, not at the agent's first call.
    let needs = CallNeeds { access: Access::Reads, index: RequiredIndex::Nothing };
    view.prepare_and_run(needs, &Cancel::new(), |_| (), |_| Ok(())).map_err(ServeError::Session)?;
    let instructions = instructions(&mut view);
    let (worker, thread) = Worker::new(view)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_time().build()?;
    let outcome = runtime.block_on(serve_client(Server::new(worker, instructions)));
    // The thread that reads standard input may be in a read that never ends.
    runtime.shutdown_timeout(SHUTDOWN_TIMEOUT);
    // No handle to the worker is left, so its thread ends. By then, all state that it keeps for the next run is on
    // disk.
    if thread.join().is_err() {
        tracing::error!("the worker's thread panicked");
    }
    let cause = outcome?;
    tracing::info!(?cause, "ended");
    Ok(())
}

async fn serve_client(server: Server) -> Result<ServeOutcome, ServeError> {
    let closed = Arc::new(Notify::new());
    let output = WatchedStdout { inner: tokio::io::stdout(), closed: Arc::clone(&closed) };
    let conversation = async {
        let pipes = LineTransport::new(tokio::io::stdin(), output);
        let service =
            match server.serve(BoundedTransport { pipes, unanswered: watch::Sender::default() }).await {
                Ok(service) => service,
                // The client requested nothing, as when someone only checks whether the server starts.
                Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(ServeOutcome::EndOfInput),
                // The error is dropped, because it contains the client's message.
                Err(_) => return Err(ServeError::Handshake),
            };
        match service.waiting().await {
            Ok(QuitReason::Closed) => Ok(ServeOutcome::EndOfInput),
            Ok(_) | Err(_) => Err(ServeError::Broken),
        }
    };
    tokio::select! {
        ended = conversation => ended,
        () = closed.notified() => Ok(ServeOutcome::OutputClosed),
    }
}

/// A transport that stops reading while too many requests are unanswered. Without it, the service would start every
/// request immediately and keep all replies until they are written.
struct BoundedTransport {
    pipes: LineTransport<WatchedStdout>,
    /// Requests whose reply has not been written yet. A cancelled request gets no reply and is removed.
    unanswered: watch::Sender<HashSet<RequestId>>,
}

/// Maximum number of unanswered requests. It exceeds the length of the worker's queue, so that a client is told when
/// the queue is full.
const MAX_UNANSWERED_REQUESTS: usize = 320;

impl Transport<RoleServer> for BoundedTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let answered = answered_request(&message).cloned();
        let unanswered = self.unanswered.clone();
        let send = self.pipes.send(message);
        async move {
            let sent = send.await;
            if let Some(id) = answered {
                unanswered.send_modify(|ids| _ = ids.remove(&id));
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        // `self` owns the sender, so waiting cannot fail.
        self.unanswered.subscribe().wait_for(|ids| ids.len() < MAX_UNANSWERED_REQUESTS).await.ok()?;
        let message = self.pipes.receive().await?;
        match &message {
            JsonRpcMessage::Request(request) => {
                self.unanswered.send_modify(|ids| _ = ids.insert(request.id.clone()));
            }
            JsonRpcMessage::Notification(JsonRpcNotification {
                notification: ClientNotification::CancelledNotification(cancelled),
                ..
            }) => {
                if let Some(id) = &cancelled.params.request_id {
                    self.unanswered.send_modify(|ids| _ = ids.remove(id));
                }
            }
            _ => {}
        }
        Some(message)
    }

    async fn close(&mut self) -> io::Result<()> {
        // A message that the client does not read is still being written, and closing would wait for it.
        tokio::time::timeout(SHUTDOWN_TIMEOUT, self.pipes.close()).await?
    }
}

/// Wraps standard output to report a failed write, which means that the client has stopped reading. The service itself
/// would keep running after such an error.
struct WatchedStdout {
    inner: tokio::io::Stdout,
    closed: Arc<Notify>,
}

impl WatchedStdout {
    fn notify_if_failed<T>(&self, poll: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if let Poll::Ready(Err(_)) = &poll {
            self.closed.notify_one();
        }
        poll
    }
}

impl AsyncWrite for WatchedStdout {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.inner).poll_write(context, bytes);
        self.notify_if_failed(poll)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let poll = Pin::new(&mut self.inner).poll_flush(context);
        self.notify_if_failed(poll)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let poll = Pin::new(&mut self.inner).poll_shutdown(context);
        self.notify_if_failed(poll)
    }
}

/// Returns the server's instructions for models.
fn instructions(view: &mut WorkspaceView) -> String {
    let state = view.headless_mut().attach_editors_at_start().to_string();
    let folder = view.headless().folder().display();
    let session = match view.session_choice() {
        SessionChoice::Own => "File selections are private to this server and end with it.".to_owned(),
        SessionChoice::Newest => {
            "File selections are shared with the user's most recent session. While an editor has it open, only the editor can \
             change them."
                .to_owned()
        }
        SessionChoice::Editor => {
            "File selections are those that the user sees in the editor, and only the editor can change them.".to_owned()
        }
        SessionChoice::Stored(id) => {
            format!("File selections are shared with session `{id}`. While an editor has it open, only the editor can change \
                     them.")
        }
    };
    let trust = match view.headless().snapshot().trust {
        Trust::Trusted => "",
        Trust::Untrusted => " This workspace is not trusted, so its rules are not part of the prompt.",
    };
    format!(
        "Strata knows the repository in {folder} as it is now: definitions, references, and code relevant to a task. The unsaved text \
         of an editor that runs Strata counts (view: {state}). Start a \
         task with `context`, or with `map` in a repository you do not know, and read only what they point to. Paths are \
         relative to that folder. Results stay within `max_tokens`; a truncated result explains how to get more. Secrets are \
         replaced by placeholders. {session}{trust}"
    )
}
