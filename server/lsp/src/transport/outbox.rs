//! The output queue, and the only thread that writes the output.
//!
//! Accepted messages are never dropped. While more than the limit is unsent, the reader accepts no input and senders of
//! notifications wait, so a client that stops reading cannot make the queue grow. Two notifications describe states
//! rather than events; of these, only the latest unsent one is kept. The writer never reads input or waits for a
//! handler.

use std::collections::{HashMap, VecDeque};
use std::io::{self, ErrorKind, Write};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use tokio::sync::Notify;
use tower_lsp::jsonrpc::Request;

/// Maximum size of joined messages that are written with one call, in bytes.
const MAX_WRITE_BYTES: usize = 64 * 1024;

/// Pause before the next attempt to write to an inherited non-blocking descriptor.
const RETRY_PAUSE: Duration = Duration::from_millis(1);

#[derive(Debug)]
pub(super) struct Outbox {
    queue: Mutex<Queue>,
    /// Number of unsent bytes above which the transport accepts no input, until half of this number is reached.
    limit: usize,
    filled: Condvar,
    emptied: Condvar,
    capacity: Notify,
}

#[derive(Debug, Default)]
struct Queue {
    entries: VecDeque<QueuedMessage>,
    /// Number of the first entry in the queue. Entries are numbered from 0.
    first: u64,
    /// Sequence number of the unsent entry for each state.
    states: HashMap<CoalescingKey, u64>,
    /// Number of bytes not written yet, including those being written.
    unsent: usize,
    pressure: Backpressure,
    state: QueueState,
}

#[derive(Debug)]
struct QueuedMessage {
    bytes: Vec<u8>,
    state: Option<CoalescingKey>,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum Backpressure {
    #[default]
    Off,
    On,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum QueueState {
    #[default]
    Open,
    /// Queued messages are still written, but no further message is accepted.
    Closing,
    /// No more messages are written.
    Shut,
}

/// Identifies a state of the server that a notification describes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct CoalescingKey {
    method: &'static str,
    scope: String,
}

/// How a notification relates to earlier ones.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Coalescing {
    Event,
    /// Replaces an unsent notification with the same key.
    Replaces(CoalescingKey),
    /// Stays in the queue. Later notifications with this key cannot replace those that were queued before it.
    Seals(CoalescingKey),
}

impl Coalescing {
    /// Classifies a notification. `$/progress` reports of one token, and `strata/status` notifications of one session,
    /// describe a state (`docs/commands.md`).
    pub(super) fn for_message(request: &Request) -> Self {
        let field = |name| request.params().and_then(|params| params.get(name));
        match (request.method(), request.id()) {
            ("$/progress", None) => {
                let scope = field("token").map(Value::to_string).unwrap_or_default();
                let key = CoalescingKey { method: "$/progress", scope };
                let kind = field("value").and_then(|value| value.get("kind"));
                if kind.is_some_and(|kind| kind == "report") { Self::Replaces(key) } else { Self::Seals(key) }
            }
            ("strata/status", None) => {
                let scope = field("session").map(Value::to_string).unwrap_or_default();
                Self::Replaces(CoalescingKey { method: "strata/status", scope })
            }
            _ => Self::Event,
        }
    }
}

impl Outbox {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            queue: Mutex::default(),
            limit,
            filled: Condvar::new(),
            emptied: Condvar::new(),
            capacity: Notify::new(),
        }
    }

    /// Queues a message. Drops it if the queue is closed.
    pub(super) fn push(&self, message: &impl Serialize, relation: Coalescing) {
        let Ok(body) = serde_json::to_vec(message) else {
            // A `Value` inside an envelope of strings and numbers can always be serialized.
            tracing::error!("a message could not be serialized");
            return;
        };
        let mut bytes = Vec::with_capacity(body.len() + 32);
        bytes.extend_from_slice(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes());
        bytes.extend_from_slice(&body);
        let mut queue = self.lock();
        if queue.state != QueueState::Open {
            return;
        }
        queue.add(bytes, relation);
        if queue.unsent > self.limit {
            queue.pressure = Backpressure::On;
        }
        drop(queue);
        self.filled.notify_one();
    }

    /// Blocks the calling thread while too much output is unsent. Used by the reader.
    pub(super) fn block_until_capacity(&self) {
        let mut queue = self.lock();
        while queue.pressure == Backpressure::On {
            queue = self.emptied.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits asynchronously while too much output is unsent. Used by tasks.
    pub(super) async fn wait_for_capacity(&self) {
        loop {
            let capacity = self.capacity.notified();
            if !self.is_under_pressure() {
                return;
            }
            capacity.await;
        }
    }

    pub(super) fn is_under_pressure(&self) -> bool {
        self.lock().pressure == Backpressure::On
    }

    /// Closes the queue for further messages. [`Outbox::write_to`] returns once all queued messages are written.
    pub(super) fn close(&self) {
        let mut queue = self.lock();
        if queue.state == QueueState::Open {
            queue.state = QueueState::Closing;
        }
        drop(queue);
        self.filled.notify_one();
    }

    /// Writes queued messages until [`Outbox::close`] is called or writing fails.
    pub(super) fn write_to(&self, mut output: impl Write) -> io::Result<()> {
        loop {
            let Some(batch) = self.next_batch() else { return Ok(()) };
            let written = write_all(&mut output, &batch);
            self.finish_write(batch.len(), &written);
            written?;
        }
    }

    /// Waits for messages, and returns as many as fit in a batch. Returns `None` after the last message.
    fn next_batch(&self) -> Option<Vec<u8>> {
        let mut queue = self.lock();
        loop {
            if let Some(mut batch) = queue.pop() {
                while queue
                    .entries
                    .front()
                    .is_some_and(|next| batch.len() + next.bytes.len() <= MAX_WRITE_BYTES)
                {
                    batch.extend(queue.pop().unwrap_or_default());
                }
                return Some(batch);
            }
            if queue.state != QueueState::Open {
                return None;
            }
            queue = self.filled.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Subtracts `size` bytes from the unsent output after a write. Wakes the reader and tasks if there is room again.
    fn finish_write(&self, size: usize, written: &io::Result<()>) {
        let mut queue = self.lock();
        queue.unsent -= size;
        if written.is_err() {
            *queue = Queue { state: QueueState::Shut, ..Queue::default() };
        } else if queue.unsent > self.limit / 2 {
            return;
        }
        let before = std::mem::take(&mut queue.pressure);
        drop(queue);
        if before == Backpressure::On || written.is_err() {
            self.emptied.notify_all();
            self.capacity.notify_waiters();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    fn add(&mut self, bytes: Vec<u8>, relation: Coalescing) {
        let state = match relation {
            Coalescing::Event => None,
            Coalescing::Seals(key) => {
                self.states.remove(&key);
                None
            }
            Coalescing::Replaces(key) => Some(key),
        };
        self.unsent += bytes.len();
        if let Some(key) = &state {
            if let Some(entry) = self.unsent_message(key) {
                let replaced = std::mem::replace(&mut entry.bytes, bytes);
                self.unsent -= replaced.len();
                return;
            }
            self.states.insert(key.clone(), self.first + self.entries.len() as u64);
        }
        self.entries.push_back(QueuedMessage { bytes, state });
    }

    fn unsent_message(&mut self, key: &CoalescingKey) -> Option<&mut QueuedMessage> {
        let number = *self.states.get(key)?;
        let index = usize::try_from(number.checked_sub(self.first)?).ok()?;
        self.entries.get_mut(index)
    }

    fn pop(&mut self) -> Option<Vec<u8>> {
        let entry = self.entries.pop_front()?;
        if let Some(key) = &entry.state
            && self.states.get(key) == Some(&self.first)
        {
            self.states.remove(key);
        }
        self.first += 1;
        Some(entry.bytes)
    }
}

/// Like [`Write::write_all`] followed by a flush, but waits if the descriptor is non-blocking and full.
fn write_all(output: &mut impl Write, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match output.write(bytes) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => std::thread::sleep(RETRY_PAUSE),
            Err(error) => return Err(error),
        }
    }
    output.flush()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn progress(token: u32, kind: &str, count: u32) -> Request {
        let params = json!({ "token": token, "value": { "kind": kind, "count": count } });
        Request::build("$/progress").params(params).finish()
    }

    fn written(outbox: &Outbox) -> Vec<String> {
        outbox.close();
        let mut output = Vec::new();
        outbox.write_to(&mut output).unwrap();
        let text = String::from_utf8(output).unwrap();
        let calls =
            text.split("Content-Length: ").skip(1).map(|frame| frame.split_once("\r\n\r\n").unwrap().1);
        calls
            .map(|call| {
                let call: Value = serde_json::from_str(call).unwrap();
                let value = &call["params"]["value"];
                format!("{} {} {}", call["params"]["token"], value["kind"], value["count"]).replace('"', "")
            })
            .collect()
    }

    #[test]
    fn a_report_never_moves_past_the_end_of_its_progress() {
        let outbox = Outbox::new(1000);
        for (token, kind, count) in [
            (1, "begin", 0),
            (1, "report", 1),
            (2, "report", 1),
            (1, "report", 2),
            (1, "end", 3),
            (1, "begin", 4),
            (1, "report", 5),
            (2, "report", 2),
            (1, "report", 6),
        ] {
            let call = progress(token, kind, count);
            outbox.push(&call, Coalescing::for_message(&call));
        }
        let expected = ["1 begin 0", "1 report 2", "2 report 2", "1 end 3", "1 begin 4", "1 report 6"];
        assert_eq!(written(&outbox), expected);
        let queue = outbox.lock();
        assert_eq!((queue.unsent, queue.states.len()), (0, 0), "the queue is empty");
    }

    #[test]
    fn pressure_ends_at_half_the_limit_and_when_writing_fails() {
        let outbox = Outbox::new(100);
        let message = "x".repeat(40);
        (0..2).for_each(|_| outbox.push(&message, Coalescing::Event));
        assert!(outbox.is_under_pressure());
        let first = outbox.next_batch().unwrap();
        assert!(outbox.is_under_pressure(), "bytes being written count as unsent");
        outbox.finish_write(first.len(), &Ok(()));
        assert!(!outbox.is_under_pressure());

        (0..3).for_each(|_| outbox.push(&message, Coalescing::Event));
        assert!(outbox.is_under_pressure());
        outbox.next_batch();
        outbox.finish_write(0, &Err(ErrorKind::BrokenPipe.into()));
        outbox.block_until_capacity();
        (0..3).for_each(|_| outbox.push(&message, Coalescing::Event));
        assert!(!outbox.is_under_pressure(), "nothing is queued after a failed write");
    }

    /// An output that rejects the first writes, and then accepts a few bytes at a time.
    struct SlowWriter {
        written: Vec<u8>,
        refusals: Vec<ErrorKind>,
    }

    impl Write for SlowWriter {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if let Some(refusal) = self.refusals.pop() {
                return Err(refusal.into());
            }
            let written = &bytes[..bytes.len().min(3)];
            self.written.extend_from_slice(written);
            Ok(written.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_non_blocking_output_gets_everything() {
        let refusals = vec![ErrorKind::Interrupted, ErrorKind::WouldBlock];
        let mut output = SlowWriter { written: Vec::new(), refusals };
        write_all(&mut output, b"all of it").unwrap();
        assert_eq!(output.written, b"all of it");
    }
}
