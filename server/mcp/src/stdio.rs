//! The protocol on standard input and output, from the first byte to the end. Nothing else may write to standard output.

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
use rmcp::transport::async_rw::AsyncRwTransport;
use strata_app::commands::{Access, CommandError};
use strata_app::headless::{Cancel, HeadlessWorkspace, Trust};
use tokio::io::AsyncWrite;
use tokio::sync::{Notify, watch};

use crate::server::Server;
use crate::view::{Needs, Subject, View};
use crate::worker::Worker;

/// Grace period for running work at the end.
const LAST_CHANCE: Duration = Duration::from_millis(200);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ServeOutcome {
    /// The client closed its end of the input.
    EndOfInput,
    /// The client closed its end of the output.
    OutputClosed,
}

/// Why serving did not begin, or broke off.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error(transparent)]
    System(#[from] io::Error),
    /// The session cannot be looked at.
    #[error(transparent)]
    Session(CommandError),
    /// The first message was invalid.
    #[error("the client did not begin with `initialize` or with a request that names its version")]
    Handshake,
    /// The service broke off.
    #[error("the connection was closed")]
    Broken,
}

/// Serves the client at the other end of standard input and output, until that closes one of them.
pub fn serve(headless: HeadlessWorkspace, subject: Subject) -> Result<(), ServeError> {
    let mut view = View::new(headless, subject).map_err(ServeError::Session)?;
    // A misspelt name should be noticed when the server starts, not when the agent calls.
    let nothing = Needs { access: Access::Reads, index: false };
    view.look(nothing, &Cancel::new(), |_| (), |_| Ok(())).map_err(ServeError::Session)?;
    let instructions = instructions(&view);
    let (worker, thread) = Worker::new(view)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_time().build()?;
    let ended = runtime.block_on(converse(Server::new(worker, instructions)));
    // The thread that reads standard input may appear in a read that never ends.
    runtime.shutdown_timeout(LAST_CHANCE);
    // All ways to the worker are gone now, so its thread ends; what it keeps for the next run is on disk then.
    if thread.join().is_err() {
        tracing::error!("the worker's thread panicked");
    }
    let cause = ended?;
    tracing::info!(?cause, "ended");
    Ok(())
}

async fn converse(server: Server) -> Result<ServeOutcome, ServeError> {
    let closed = Arc::new(Notify::new());
    let output = Output { inner: tokio::io::stdout(), closed: Arc::clone(&closed) };
    let conversation = async {
        let pipes = AsyncRwTransport::new_server(tokio::io::stdin(), output);
        let service =
            match server.serve(BoundedTransport { pipes, unanswered: watch::Sender::default() }).await {
                Ok(service) => service,
                // Nothing was asked, as when someone only looks whether the server starts.
                Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(ServeOutcome::EndOfInput),
                // What the error says holds the message itself, which is no one's but the client's.
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

/// Stops reading while too many requests are unanswered. The service starts every request at once and keeps each reply until it is
/// written, however many there are.
struct BoundedTransport {
    pipes: AsyncRwTransport<RoleServer, tokio::io::Stdin, Output>,
    /// Requests whose reply is not written yet. A cancelled request gets no reply.
    unanswered: watch::Sender<HashSet<RequestId>>,
}

/// Maximum unanswered requests. More than the worker queues, so that a client learns that too much is waiting.
const MAX_UNANSWERED: usize = 320;

impl Transport<RoleServer> for BoundedTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let answered = match &message {
            JsonRpcMessage::Response(reply) => Some(reply.id.clone()),
            JsonRpcMessage::Error(error) => error.id.clone(),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
        };
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
        // The sender is ours, so there is one.
        self.unanswered.subscribe().wait_for(|ids| ids.len() < MAX_UNANSWERED).await.ok()?;
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
        // A message that no one takes is still being written, and would be waited for.
        tokio::time::timeout(LAST_CHANCE, self.pipes.close()).await?
    }
}

/// Standard output, which reports when the client stops reading, because the service would continue.
struct Output {
    inner: tokio::io::Stdout,
    closed: Arc<Notify>,
}

impl Output {
    fn noticed<T>(&self, poll: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
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

/// The server's instructions for models.
fn instructions(view: &View) -> String {
    let folder = view.headless().folder().display();
    let session = match view.subject() {
        Subject::Own => "File selections are private to this server and end with it.".to_owned(),
        Subject::Newest => {
            "File selections are shared with the user's most recent session. While an editor has it open, only the editor can \
             change them."
                .to_owned()
        }
        Subject::Stored(id) => {
            format!("File selections are shared with session `{id}`. While an editor has it open, only the editor can change \
                     them.")
        }
    };
    let trust = match view.headless().snapshot().trust {
        Trust::Trusted => "",
        Trust::Untrusted => " This workspace is not trusted, so its rules are not part of the prompt.",
    };
    format!(
        "Strata knows the repository in {folder} as it is on disk now: definitions, references, and code relevant to a task. Start a \
         task with `context`, or with `map` in a repository you do not know, and read only what they point to. Paths are \
         relative to that folder. Results stay within `max_tokens`; a truncated result explains how to get more. Secrets are \
         replaced by placeholders. {session}{trust}"
    )
}
