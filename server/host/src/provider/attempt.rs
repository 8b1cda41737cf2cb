//! Makes attempts at a request until one has a reply or the deadline passes, and reads the responses. Blocks the
//! calling thread.

use std::sync::mpsc::RecvTimeoutError;
use std::thread;
use std::time::{Duration, Instant};

use strata_base::cancel::Cancel;
use strata_conversation::providers::ProviderName;
use strata_conversation::providers::reply::{
    ProviderError, ProviderErrorKind, ReplyDecoder, ReplyEnd, ReplyEvent,
};

use super::error::SendError;
use super::http::{HttpRequest, ResponseHead, ResponsePiece, TransportFault};
use super::key::KeySource;
use super::key_filter::{EventRedactor, KeyRedactor, RedactKey};
use super::outcome::{RequestLimits, StreamEvent, StreamOutcome};
use super::retry::{AttemptCounter, AttemptFailure, RetryDecision};

const CANCEL_CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// Maximum deadline. Longer deadlines are reduced to it.
const MAX_DEADLINE: Duration = Duration::from_secs(24 * 60 * 60);

/// A request in progress, with its limits. Removes the key from everything that is read.
pub(super) struct RetryingRequest<'a> {
    request: HttpRequest,
    filter: KeyRedactor,
    key_source: KeySource,
    limits: RequestLimits,
    cancel: &'a Cancel,
    deadline: Instant,
}

/// Reads the body of a reply into an `Output`.
pub(super) trait ReplyReader {
    type Output;

    /// Resets the state for the next attempt. `filter` removes the key.
    fn begin_attempt(&mut self, filter: &KeyRedactor);

    /// Reports that the next attempt follows after a wait.
    fn report_wait(&mut self, _wait: Duration, _error: &SendError) {}

    /// Reads the next bytes of the body. Returns `true` if the reply is complete.
    fn push_bytes(&mut self, bytes: &[u8]) -> bool;

    /// Finishes the reply. `cut` is the failure that ended the reply early, if any.
    fn finish_reply(
        &mut self,
        cut: Option<AttemptFailure>,
        filter: &KeyRedactor,
    ) -> Result<Self::Output, AttemptFailure>;
}

impl<'a> RetryingRequest<'a> {
    /// Creates an exchange and starts its deadline.
    pub(super) fn new(
        request: HttpRequest,
        filter: KeyRedactor,
        key_source: KeySource,
        limits: RequestLimits,
        cancel: &'a Cancel,
    ) -> Self {
        let deadline = Instant::now() + limits.deadline.min(MAX_DEADLINE);
        Self { request, filter, key_source, limits, cancel, deadline }
    }

    /// Sends the request, and retries until there is a reply, a retry is pointless, or the next attempt would start
    /// after the deadline. In the last case, fails immediately instead of waiting.
    pub(super) fn run<R: ReplyReader>(&self, reader: &mut R) -> Result<R::Output, SendError> {
        let mut attempts = AttemptCounter::default();
        loop {
            let failure = match self.try_once(reader) {
                Ok(output) => return Ok(output),
                Err(failure) => failure,
            };
            let time_left = self.deadline.saturating_duration_since(Instant::now());
            match attempts.record_failure(&failure, self.limits.retries).filter(|wait| *wait < time_left) {
                Some(wait) => {
                    reader.report_wait(wait, &failure.error);
                    self.pause(wait)?;
                }
                None => return Err(failure.error),
            }
        }
    }

    fn try_once<R: ReplyReader>(&self, reader: &mut R) -> Result<R::Output, AttemptFailure> {
        reader.begin_attempt(&self.filter);
        let pending = self.request.send(self.limits.max_reply_bytes);
        let pending = pending.map_err(|reason| {
            AttemptFailure::permanent(SendError::Unreachable { reason: self.filter.redact_text(&reason) })
        })?;
        let mut rejection: Option<(ResponseHead, Vec<u8>)> = None;
        let mut last_received = Instant::now();
        let cut = loop {
            let time_left = self.deadline.saturating_duration_since(Instant::now());
            let stall_left = self.limits.stall.saturating_sub(last_received.elapsed());
            let limit_error = if self.cancel.is_cancelled() {
                Some(SendError::Cancelled)
            } else if time_left.is_zero() {
                Some(SendError::Timeout { after: self.limits.deadline })
            } else if stall_left.is_zero() {
                Some(SendError::Stalled { after: self.limits.stall })
            } else {
                None
            };
            if let Some(error) = limit_error {
                break Some(AttemptFailure::permanent(error));
            }
            match pending.pieces.recv_timeout(time_left.min(stall_left).min(CANCEL_CHECK_INTERVAL)) {
                Ok(ResponsePiece::Head(head)) if !(200..300).contains(&head.status) => {
                    rejection = Some((head, Vec::new()));
                }
                Ok(ResponsePiece::Head(_)) => {}
                Ok(ResponsePiece::Body(bytes)) => match &mut rejection {
                    Some((_, body)) => body.extend_from_slice(&bytes),
                    None if reader.push_bytes(&bytes) => break None,
                    None => {}
                },
                Ok(ResponsePiece::End) => break None,
                Ok(ResponsePiece::Fault(fault)) => break Some(self.transport_failure(fault)),
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => {
                    let reason = "the request ended unexpectedly".to_owned();
                    break Some(AttemptFailure::permanent(SendError::Unreachable { reason }));
                }
            }
            last_received = Instant::now();
        };
        match (rejection, cut) {
            (Some((head, body)), None) => Err(self.rejection_failure(&head, &body)),
            (Some(_), Some(failure)) => Err(failure),
            (None, cut) => reader.finish_reply(cut, &self.filter),
        }
    }

    /// Converts a transport fault to a failure.
    fn transport_failure(&self, fault: TransportFault) -> AttemptFailure {
        let unreachable = |reason: &str| SendError::Unreachable { reason: self.filter.redact_text(reason) };
        match fault {
            TransportFault::NotConnected(reason) => AttemptFailure::permanent(unreachable(&reason)),
            TransportFault::Cut(reason) => AttemptFailure::lost_reply(unreachable(&reason)),
            TransportFault::TooLong => {
                AttemptFailure::permanent(SendError::TooLong { limit: self.limits.max_reply_bytes })
            }
        }
    }

    /// Converts an error response to a failure.
    fn rejection_failure(&self, head: &ResponseHead, body: &[u8]) -> AttemptFailure {
        let error = ProviderError::from_status(head.status, body, head.retry_after).without_key(&self.filter);
        if error.kind == ProviderErrorKind::Authentication {
            self.key_source.handle_rejection();
        }
        let retry = RetryDecision::after_status(head.status, head.retry_advised, &error);
        AttemptFailure {
            error: SendError::Provider { status: Some(head.status), error },
            retry,
            may_be_billed: false,
        }
    }

    /// Waits before the next attempt, unless the request is cancelled.
    fn pause(&self, wait: Duration) -> Result<(), SendError> {
        let end = Instant::now() + wait;
        loop {
            self.cancel.check().map_err(|_| SendError::Cancelled)?;
            let time_left = end.saturating_duration_since(Instant::now());
            if time_left.is_zero() {
                return Ok(());
            }
            thread::sleep(time_left.min(CANCEL_CHECK_INTERVAL));
        }
    }
}

/// Collects a complete reply and parses it at the end.
pub(super) struct CompleteReader<'a, T> {
    kind: ProviderName,
    read: &'a dyn Fn(&[u8]) -> Result<T, ProviderError>,
    body: Vec<u8>,
}

impl<'a, T> CompleteReader<'a, T> {
    pub(super) fn new(kind: ProviderName, read: &'a dyn Fn(&[u8]) -> Result<T, ProviderError>) -> Self {
        Self { kind, read, body: Vec::new() }
    }
}

impl<T: RedactKey> ReplyReader for CompleteReader<'_, T> {
    type Output = T;

    fn begin_attempt(&mut self, _filter: &KeyRedactor) {
        self.body.clear();
    }

    fn push_bytes(&mut self, bytes: &[u8]) -> bool {
        self.body.extend_from_slice(bytes);
        false
    }

    fn finish_reply(
        &mut self,
        cut: Option<AttemptFailure>,
        filter: &KeyRedactor,
    ) -> Result<T, AttemptFailure> {
        if let Some(failure) = cut {
            return Err(failure);
        }
        match (self.read)(&self.body) {
            Ok(output) => Ok(output.without_key(filter)),
            Err(error) => Err(failure_in_reply(self.kind, error.without_key(filter))),
        }
    }
}

/// Decodes a reply and delivers its events as they arrive.
pub(super) struct StreamReader<'a> {
    kind: ProviderName,
    on_event: &'a mut dyn FnMut(StreamEvent),
    decoder: ReplyDecoder,
    events: EventRedactor,
    has_delivered: bool,
}

impl<'a> StreamReader<'a> {
    pub(super) fn new(kind: ProviderName, on_event: &'a mut dyn FnMut(StreamEvent)) -> Self {
        let (decoder, events) =
            (ReplyDecoder::new(kind.dialect()), EventRedactor::new(&KeyRedactor::default()));
        Self { kind, on_event, decoder, events, has_delivered: false }
    }

    fn deliver(&mut self, events: Vec<ReplyEvent>) {
        for event in events {
            // An event that is held back is delivered at the end.
            self.has_delivered = true;
            if let Some(event) = self.events.push(event) {
                (self.on_event)(StreamEvent::Reply(event));
            }
        }
    }
}

impl ReplyReader for StreamReader<'_> {
    type Output = StreamOutcome;

    fn begin_attempt(&mut self, filter: &KeyRedactor) {
        self.events = EventRedactor::new(filter);
        self.decoder = ReplyDecoder::new(self.kind.dialect());
    }

    fn report_wait(&mut self, wait: Duration, error: &SendError) {
        (self.on_event)(StreamEvent::Waiting { wait, reason: error.to_string() });
    }

    fn push_bytes(&mut self, bytes: &[u8]) -> bool {
        let events = self.decoder.push(bytes);
        let is_done = self.decoder.is_done();
        self.deliver(events);
        is_done
    }

    fn finish_reply(
        &mut self,
        cut: Option<AttemptFailure>,
        filter: &KeyRedactor,
    ) -> Result<StreamOutcome, AttemptFailure> {
        let decoder = std::mem::replace(&mut self.decoder, ReplyDecoder::new(self.kind.dialect()));
        let (reply, events) = decoder.finish();
        self.deliver(events);
        self.events.finish().for_each(|event| (self.on_event)(StreamEvent::Reply(event)));
        let reply = reply.without_key(filter);
        // A reached limit or a cancellation takes precedence over errors in the partial reply.
        let failure = match (cut, &reply.end) {
            (Some(failure), _) => failure,
            (None, ReplyEnd::Failed(error)) => failure_in_reply(self.kind, error.clone()),
            (None, ReplyEnd::Cut) => {
                let reason = "the connection closed in the middle of the reply".to_owned();
                AttemptFailure::lost_reply(SendError::Unreachable { reason })
            }
            (None, ReplyEnd::Complete | ReplyEnd::ToolCalls | ReplyEnd::OutputLimit) => {
                return Ok(StreamOutcome { reply, broken: None });
            }
        };
        // A reply that the provider stopped was generated and billed.
        let stopping = [ProviderErrorKind::Content, ProviderErrorKind::Incomplete];
        let was_stopped =
            matches!(&failure.error, SendError::Provider { error, .. } if stopping.contains(&error.kind));
        if self.has_delivered || was_stopped {
            Ok(StreamOutcome { reply, broken: Some(failure.error) })
        } else {
            Err(failure)
        }
    }
}

/// Converts an error reported inside a successful response to a failure.
fn failure_in_reply(kind: ProviderName, error: ProviderError) -> AttemptFailure {
    let retry = RetryDecision::after_error(&error);
    let error = match error.kind {
        ProviderErrorKind::Garbage => SendError::Garbage { kind: kind.as_str(), excerpt: error.message },
        _ => SendError::Provider { status: None, error },
    };
    AttemptFailure { error, retry, may_be_billed: true }
}
