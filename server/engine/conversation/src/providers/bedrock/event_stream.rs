//! Decodes the frames of AWS event streams from bytes:
//! <https://docs.aws.amazon.com/transcribe/latest/dg/streaming-setting-up.html>. Checksums are not verified, because the
//! connection is encrypted.

use crate::providers::reply::{Framing, ServerEvent};

/// Bytes before the headers of a frame: its length, the length of its headers, and a checksum.
const PRELUDE_BYTES: usize = 12;

/// Bytes of the checksum at the end of a frame.
const CHECKSUM_BYTES: usize = 4;

/// Maximum bytes of a frame. A longer one ends the stream.
const MAX_FRAME_BYTES: usize = 16 * 1024 * 1024;

/// Type of a header whose value is a string.
const STRING_HEADER_TYPE: u8 = 7;

/// Splits a stream of bytes into events. The name of an event is its type, or that of its exception.
#[derive(Debug, Default)]
pub(super) struct FrameDecoder {
    buffer: Vec<u8>,
    is_broken: bool,
}

impl Framing for FrameDecoder {
    fn push(&mut self, bytes: &[u8]) -> Vec<ServerEvent> {
        if !self.is_broken {
            self.buffer.extend_from_slice(bytes);
        }
        let mut events = Vec::new();
        while let Some(length) = read_u32(&self.buffer, 0) {
            if !(PRELUDE_BYTES + CHECKSUM_BYTES..=MAX_FRAME_BYTES).contains(&length) {
                self.is_broken = true;
                self.buffer.clear();
            } else if self.buffer.len() < length {
                break;
            } else {
                let frame: Vec<u8> = self.buffer.drain(..length).collect();
                events.extend(parse_frame(&frame));
            }
        }
        events
    }
}

/// Parses a complete frame; `None` if its headers are invalid.
fn parse_frame(frame: &[u8]) -> Option<ServerEvent> {
    let headers_end = PRELUDE_BYTES + read_u32(frame, 4)?;
    let payload = frame.get(headers_end..frame.len().checked_sub(CHECKSUM_BYTES)?)?;
    let mut headers = frame.get(PRELUDE_BYTES..headers_end)?;
    let mut name = String::new();
    while let Some((&length, rest)) = headers.split_first() {
        let (key, rest) = rest.split_at_checked(length.into())?;
        let (&kind, rest) = rest.split_first()?;
        // The headers that matter are strings and come before any other.
        if kind != STRING_HEADER_TYPE {
            break;
        }
        let (length, rest) = rest.split_at_checked(2)?;
        let length = u16::from_be_bytes(length.try_into().ok()?);
        let (value, rest) = rest.split_at_checked(length.into())?;
        if key == b":event-type" || key == b":exception-type" {
            name = String::from_utf8_lossy(value).into_owned();
        }
        headers = rest;
    }
    Some(ServerEvent { name, data: String::from_utf8_lossy(payload).into_owned() })
}

/// Returns the number at a position, in four bytes.
fn read_u32(bytes: &[u8], at: usize) -> Option<usize> {
    let four: [u8; 4] = bytes.get(at..at + 4)?.try_into().ok()?;
    usize::try_from(u32::from_be_bytes(four)).ok()
}
