//! Decodes server-sent events from bytes: <https://html.spec.whatwg.org/multipage/server-sent-events.html>.

use std::fmt;

/// Maximum bytes of an event. Longer events are truncated.
const MAX_EVENT_BYTES: usize = 16 * 1024 * 1024;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ServerEvent {
    /// Value of the `event` field; empty if missing.
    pub(crate) name: String,
    /// Values of the `data` fields, joined by line breaks.
    pub(crate) data: String,
}

/// Splits a stream of bytes into events.
pub trait Framing: fmt::Debug + Send {
    /// Decodes the next bytes, and returns the events that they complete.
    fn push(&mut self, bytes: &[u8]) -> Vec<ServerEvent>;

    /// Returns the event at the end of the stream, if it is incomplete.
    fn flush(&mut self) -> Option<ServerEvent> {
        None
    }
}

/// Splits server-sent events.
#[derive(Debug, Default)]
pub(crate) struct SseDecoder {
    /// Current incomplete line.
    line: Vec<u8>,
    /// Whether the last byte was a carriage return, so that a following line feed does not end another line.
    after_return: bool,
    event: ServerEvent,
    has_data: bool,
}

impl Framing for SseDecoder {
    fn push(&mut self, bytes: &[u8]) -> Vec<ServerEvent> {
        let mut events = Vec::new();
        for &byte in bytes {
            let after_return = std::mem::replace(&mut self.after_return, byte == b'\r');
            match byte {
                b'\n' if after_return => {}
                b'\n' | b'\r' => events.extend(self.end_line()),
                // Limit the size of a line that never ends.
                _ if self.line.len() + self.event.data.len() < MAX_EVENT_BYTES => self.line.push(byte),
                _ => {}
            }
        }
        events
    }

    /// Some servers omit the last empty line.
    fn flush(&mut self) -> Option<ServerEvent> {
        if !self.line.is_empty() {
            self.end_line();
        }
        self.dispatch()
    }
}

impl SseDecoder {
    fn end_line(&mut self) -> Option<ServerEvent> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            return self.dispatch();
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.strip_prefix('\u{feff}').unwrap_or(&line);
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.event.name),
            "data" => {
                if self.has_data {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(value);
                self.has_data = true;
            }
            _ => {}
        }
        None
    }

    fn dispatch(&mut self) -> Option<ServerEvent> {
        let event = std::mem::take(&mut self.event);
        std::mem::take(&mut self.has_data).then_some(event)
    }
}
