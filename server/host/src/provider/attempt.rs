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
use super::http::{Fault, Head, Piece, Request};
use super::key::KeySource;
use super::key_filter::{Decoded, EventFilter, KeyFilter};
use super::outcome::{Limits, SendEvent, Sent};
use super::retry::{Failure, Retry, Tries};

const LOOK: Duration = Duration::from_millis(20);

/// Maximum deadline. Longer deadlines are reduced to it.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// A request in progress, with its limits. Removes the key from everything that is read.
pub(super) struct Exchange<'a> {
    request: Request,
    filter: KeyFilter,
    key_source: KeySource,
    limits: Limits,
    cancel: &'a Cancel,
    until: Instant,
}

/// Reads the body of a reply into an `Output`.
pub(super) trait Reading {
    type Output;

    /// Resets the state for the next attempt. `filter` removes the key.
    fn begin(&mut self, filter: &KeyFilter);

    /// Reports that the next attempt follows after a wait.
    fn wait(&mut self, _wait: Duration, _error: &SendError) {}

    /// Reads the next bytes of the body. Returns `true` if the reply is complete.
    fn take(&mut self, bytes: &[u8]) -> bool;

    /// Finishes the reply. `cut` is the failure that ended the reply early, if any.
    fn end(&mut self, cut: Option<Failure>, filter: &KeyFilter) -> Result<Self::Output, Failure>;
}

impl<'a> Exchange<'a> {
    /// Creates an exchange and starts its deadline.
    pub(super) fn new(
        request: Request,
        filter: KeyFilter,
        key_source: KeySource,
        limits: Limits,
        cancel: &'a Cancel,
    ) -> Self {
        let until = Instant::now() + limits.deadline.min(LONGEST);
        Self { request, filter, key_source, limits, cancel, until }
    }

    /// Sends the request, and retries until there is a reply, a retry is pointless, or the next attempt would start
    /// after the deadline. In the last case, fails immediately instead of waiting.
    pub(super) fn run<R: Reading>(&self, reading: &mut R) -> Result<R::Output, SendError> {
        let mut tries = Tries::default();
        loop {
            let failure = match self.once(reading) {
                Ok(output) => return Ok(output),
                Err(failure) => failure,
            };
            let left = self.until.saturating_duration_since(Instant::now());
            match tries.wait(&failure, self.limits.retries).filter(|wait| *wait < left) {
                Some(wait) => {
                    reading.wait(wait, &failure.error);
                    self.pause(wait)?;
                }
                None => return Err(failure.error),
            }
        }
    }

    fn once<R: Reading>(&self, reading: &mut R) -> Result<R::Output, Failure> {
        reading.begin(&self.filter);
        let pending = self.request.send(self.limits.max_reply_bytes);
        let pending = pending.map_err(|reason| {
            Failure::lasting(SendError::Unreachable { reason: self.filter.text(&reason) })
        })?;
        let mut refusal: Option<(Head, Vec<u8>)> = None;
        let mut heard = Instant::now();
        let cut = loop {
            let left = self.until.saturating_duration_since(Instant::now());
            let patience = self.limits.stall.saturating_sub(heard.elapsed());
            let ended = if self.cancel.is_cancelled() {
                Some(SendError::Cancelled)
            } else if left.is_zero() {
                Some(SendError::Timeout { after: self.limits.deadline })
            } else if patience.is_zero() {
                Some(SendError::Stalled { after: self.limits.stall })
            } else {
                None
            };
            if let Some(error) = ended {
                break Some(Failure::lasting(error));
            }
            match pending.pieces.recv_timeout(left.min(patience).min(LOOK)) {
                Ok(Piece::Head(head)) if !(200..300).contains(&head.status) => {
                    refusal = Some((head, Vec::new()));
                }
                Ok(Piece::Head(_)) => {}
                Ok(Piece::Body(bytes)) => match &mut refusal {
                    Some((_, body)) => body.extend_from_slice(&bytes),
                    None if reading.take(&bytes) => break None,
                    None => {}
                },
                Ok(Piece::End) => break None,
                Ok(Piece::Fault(fault)) => break Some(self.fault(fault)),
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => {
                    let reason = "the request ended unexpectedly".to_owned();
                    break Some(Failure::lasting(SendError::Unreachable { reason }));
                }
            }
            heard = Instant::now();
        };
        match (refusal, cut) {
            (Some((head, body)), None) => Err(self.refused(&head, &body)),
            (Some(_), Some(failure)) => Err(failure),
            (None, cut) => reading.end(cut, &self.filter),
        }
    }

    /// Converts a transport fault to a failure.
    fn fault(&self, fault: Fault) -> Failure {
        let unreachable = |reason: &str| SendError::Unreachable { reason: self.filter.text(reason) };
        match fault {
            Fault::NotConnected(reason) => Failure::lasting(unreachable(&reason)),
            Fault::Cut(reason) => Failure::cut(unreachable(&reason)),
            Fault::TooLong => Failure::lasting(SendError::TooLong { limit: self.limits.max_reply_bytes }),
        }
    }

    /// Converts an error response to a failure.
    fn refused(&self, head: &Head, body: &[u8]) -> Failure {
        let error = ProviderError::of_status(head.status, body, head.retry_after).without_key(&self.filter);
        if error.kind == ProviderErrorKind::Authentication {
            self.key_source.was_refused();
        }
        let again = Retry::after_status(head.status, head.retry_advised, &error);
        Failure {
            error: SendError::Provider { status: Some(head.status), error },
            again,
            may_be_billed: false,
        }
    }

    /// Waits before the next attempt, unless the request is cancelled.
    fn pause(&self, wait: Duration) -> Result<(), SendError> {
        let end = Instant::now() + wait;
        loop {
            self.cancel.check().map_err(|_| SendError::Cancelled)?;
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            thread::sleep(left.min(LOOK));
        }
    }
}

/// Collects a complete reply and parses it at the end.
pub(super) struct WholeReading<'a, T> {
    kind: ProviderName,
    read: &'a dyn Fn(&[u8]) -> Result<T, ProviderError>,
    body: Vec<u8>,
}

impl<'a, T> WholeReading<'a, T> {
    pub(super) fn new(kind: ProviderName, read: &'a dyn Fn(&[u8]) -> Result<T, ProviderError>) -> Self {
        Self { kind, read, body: Vec::new() }
    }
}

impl<T: Decoded> Reading for WholeReading<'_, T> {
    type Output = T;

    fn begin(&mut self, _filter: &KeyFilter) {
        self.body.clear();
    }

    fn take(&mut self, bytes: &[u8]) -> bool {
        self.body.extend_from_slice(bytes);
        false
    }

    fn end(&mut self, cut: Option<Failure>, filter: &KeyFilter) -> Result<T, Failure> {
        if let Some(failure) = cut {
            return Err(failure);
        }
        match (self.read)(&self.body) {
            Ok(output) => Ok(output.without_key(filter)),
            Err(error) => Err(said_within(self.kind, error.without_key(filter))),
        }
    }
}

/// Decodes a reply and delivers its events as they arrive.
pub(super) struct StreamReading<'a> {
    kind: ProviderName,
    on_event: &'a mut dyn FnMut(SendEvent),
    decoder: ReplyDecoder,
    events: EventFilter,
    has_given: bool,
}

impl<'a> StreamReading<'a> {
    pub(super) fn new(kind: ProviderName, on_event: &'a mut dyn FnMut(SendEvent)) -> Self {
        let (decoder, events) = (ReplyDecoder::new(kind.dialect()), EventFilter::new(&KeyFilter::default()));
        Self { kind, on_event, decoder, events, has_given: false }
    }

    fn give(&mut self, events: Vec<ReplyEvent>) {
        for event in events {
            // An event that is held back is delivered at the end.
            self.has_given = true;
            if let Some(event) = self.events.push(event) {
                (self.on_event)(SendEvent::Reply(event));
            }
        }
    }
}

impl Reading for StreamReading<'_> {
    type Output = Sent;

    fn begin(&mut self, filter: &KeyFilter) {
        self.events = EventFilter::new(filter);
        self.decoder = ReplyDecoder::new(self.kind.dialect());
    }

    fn wait(&mut self, wait: Duration, error: &SendError) {
        (self.on_event)(SendEvent::Waiting { wait, reason: error.to_string() });
    }

    fn take(&mut self, bytes: &[u8]) -> bool {
        let events = self.decoder.push(bytes);
        let is_done = self.decoder.is_done();
        self.give(events);
        is_done
    }

    fn end(&mut self, cut: Option<Failure>, filter: &KeyFilter) -> Result<Sent, Failure> {
        let decoder = std::mem::replace(&mut self.decoder, ReplyDecoder::new(self.kind.dialect()));
        let (reply, events) = decoder.finish();
        self.give(events);
        self.events.finish().for_each(|event| (self.on_event)(SendEvent::Reply(event)));
        let reply = reply.without_key(filter);
        // A reached limit or a cancellation takes precedence over errors in the partial reply.
        let failure = match (cut, &reply.end) {
            (Some(failure), _) => failure,
            (None, ReplyEnd::Failed(error)) => said_within(self.kind, error.clone()),
            (None, ReplyEnd::Cut) => {
                let reason = "the connection closed in the middle of the reply".to_owned();
                Failure::cut(SendError::Unreachable { reason })
            }
            (None, ReplyEnd::Complete | ReplyEnd::ToolCalls | ReplyEnd::OutputLimit) => {
                return Ok(Sent { reply, broken: None });
            }
        };
        // A reply that the provider stopped was generated and billed.
        let stopping = [ProviderErrorKind::Content, ProviderErrorKind::Incomplete];
        let was_stopped =
            matches!(&failure.error, SendError::Provider { error, .. } if stopping.contains(&error.kind));
        if self.has_given || was_stopped {
            Ok(Sent { reply, broken: Some(failure.error) })
        } else {
            Err(failure)
        }
    }
}

/// Converts an error reported inside a successful response to a failure.
fn said_within(kind: ProviderName, error: ProviderError) -> Failure {
    let again = Retry::after_error(&error);
    let error = match error.kind {
        ProviderErrorKind::Garbage => SendError::Garbage { kind: kind.as_str(), excerpt: error.message },
        _ => SendError::Provider { status: None, error },
    };
    Failure { error, again, may_be_billed: true }
}
