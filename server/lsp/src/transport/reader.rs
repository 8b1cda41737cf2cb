//! Reads the input on a dedicated thread.
//!
//! Passes calls to the dispatcher in wire order, and the client's answers directly to the waiting callers. Never
//! writes. Waits only for input, and for a client that does not read the output.

use std::io::{ErrorKind, Read};
use std::pin::Pin;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use futures::{Sink, Stream};
use tower_lsp::jsonrpc::{Id, Request, Response};

use super::dispatch::{CallService, Dispatcher};
use super::exit::{ExitCause, ExitSignal};
use super::frame::{DecodedFrame, Fault, FrameDecoder, FrameLimits};
use super::lost::{LostClientMessage, PartialMessage};
use super::message::{self, IncomingMessage};
use super::outbox::Outbox;
use super::refusal;

/// Maximum number of bytes per read, equal to the capacity of a pipe on Linux.
const CHUNK_SIZE: usize = 64 * 1024;

/// Pause before the next attempt to read from an inherited non-blocking descriptor.
const RETRY_PAUSE: Duration = Duration::from_millis(1);

pub(super) struct Reader<T, R, A> {
    pub(super) dispatcher: Arc<Dispatcher<T, R>>,
    pub(super) answers: A,
    pub(super) outbox: Arc<Outbox>,
    pub(super) exit: Arc<ExitSignal>,
}

impl<T, R, A> Reader<T, R, A>
where
    T: CallService,
    R: Stream<Item = Request> + Unpin + Send + 'static,
    A: Sink<Response> + Unpin,
{
    /// Reads until the input ends or serving ends.
    pub(super) fn run(&mut self, mut input: impl Read, limits: FrameLimits) {
        let mut decoder = FrameDecoder::new(limits);
        let mut chunk = vec![0; CHUNK_SIZE];
        while !self.exit.is_raised() {
            match input.read(&mut chunk) {
                Ok(0) => break,
                Ok(size) => self.handle_frames(decoder.push(chunk.get(..size).unwrap_or_default())),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => thread::sleep(RETRY_PAUSE),
                Err(error) => {
                    tracing::error!(%error, "reading failed");
                    break;
                }
            }
        }
        self.exit.raise(ExitCause::EndOfInput);
    }

    fn handle_frames(&mut self, frames: impl Iterator<Item = DecodedFrame>) {
        for frame in frames {
            if self.exit.is_raised() {
                return;
            }
            self.outbox.block_until_capacity();
            match frame {
                DecodedFrame::Frame(body) => self.deliver(&body),
                DecodedFrame::Fault(fault) => {
                    tracing::warn!(%fault, "skipped input");
                    let opening = match &fault {
                        Fault::TooLarge { opening, .. } => PartialMessage::read(opening),
                        _ => PartialMessage::default(),
                    };
                    let id = opening.request_id().unwrap_or(Id::Null);
                    self.report_lost(opening.into_lost(fault.to_string()));
                    self.dispatcher.send_response(&refusal::fault_error(id, &fault));
                }
            }
        }
    }

    fn deliver(&mut self, body: &[u8]) {
        match message::read(body) {
            IncomingMessage::Call(request) => self.dispatcher.accept(request, body.len()),
            IncomingMessage::Answer(answer) => self.route(answer),
            IncomingMessage::Invalid(reply, lost) => {
                self.report_lost(lost);
                self.dispatcher.send_response(&reply);
            }
            IncomingMessage::EmptyAnswer { answer, reply } => {
                self.route(answer);
                self.dispatcher.send_response(&reply);
            }
        }
    }

    fn report_lost(&self, lost: Option<LostClientMessage>) {
        if let Some(lost) = lost {
            self.dispatcher.report_lost(lost);
        }
    }

    fn route(&mut self, answer: Response) {
        // Sending fails only after `exit`, when the answer is no longer needed.
        let _ = Pin::new(&mut self.answers).start_send(answer);
    }
}
