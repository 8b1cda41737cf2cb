//! Decodes the base protocol of LSP as a state machine over bytes: `Content-Length: n`, a blank line, and `n` bytes.
//!
//! Handles framing, its limits, and resynchronization after invalid bytes. Does not read input, parse JSON or fail.
//! Invalid bytes produce a [`Fault`] between the frames. The result does not depend on how the stream is divided into
//! chunks.

/// Start of the next frame, searched for when resynchronizing. Compared without regard to case (LSP 3.17).
const LENGTH_HEADER: &[u8] = b"content-length:";

/// Maximum bytes to keep of a message that is too large. Usually includes the `id`, so that the request can be
/// answered.
const MAX_OVERSIZED_PREFIX_BYTES: usize = 4 * 1024;

/// First allocation for a body, in bytes. The buffer grows only as bytes arrive, whatever length the header claims.
const INITIAL_BODY_CAPACITY: usize = 64 * 1024;

/// Maximum sizes to accept from a client, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameLimits {
    /// Maximum size of a message. Larger messages are skipped and rejected. 64 MiB by default (`ARCHITECTURE.md`,
    /// "Bounded").
    pub message: usize,
    /// Maximum size of a header section, including its terminator. A longer section counts as garbage.
    pub header: usize,
    /// Maximum length of a message to skip. For a longer message, the decoder searches for the next header instead.
    pub skip: u64,
}

impl Default for FrameLimits {
    fn default() -> Self {
        Self { message: 64 << 20, header: 8 << 10, skip: 1 << 30 }
    }
}

/// A decoded part of the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DecodedFrame {
    /// The body of one message, not parsed yet.
    Frame(Vec<u8>),
    /// Bytes that are not a message. The decoder has already recovered.
    Fault(Fault),
}

/// Why bytes were skipped. Consecutive faults that lose the frame boundary are reported once, as the first of them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A line in the header section is not a header.
    #[error("invalid header bytes")]
    Garbage,
    /// There is no blank line within [`FrameLimits::header`].
    #[error("the header section is too long")]
    HeaderTooLong,
    #[error("the header section has no Content-Length")]
    MissingLength,
    #[error("the Content-Length is not a number")]
    BrokenLength,
    /// Two `Content-Length` headers disagree.
    #[error("two Content-Length headers disagree")]
    ConflictingLengths,
    /// The length exceeds [`FrameLimits::skip`].
    #[error("Content-Length is out of range")]
    AbsurdLength,
    /// The `Content-Type` has a charset other than UTF-8. The message is skipped.
    #[error("only UTF-8 is supported")]
    UnsupportedCharset,
    /// The message exceeds [`FrameLimits::message`] and is skipped.
    #[error("a message of {length} bytes exceeds the limit")]
    TooLarge {
        /// Length in bytes, as claimed by the header.
        length: u64,
        /// The first bytes of the body, at most 4 KiB.
        opening: Vec<u8>,
    },
}

/// Splits a byte stream into message bodies. Needs memory for one message within the limits, the last pushed chunk, and
/// one header section.
#[derive(Debug)]
pub struct FrameDecoder {
    limits: FrameLimits,
    buffer: Vec<u8>,
    /// Number of bytes at the start of the buffer that have been consumed.
    consumed: usize,
    state: DecoderState,
    boundary: FrameBoundary,
}

#[derive(Debug)]
enum DecoderState {
    Header(HeaderSection),
    /// Searching for the next `Content-Length:`.
    Resync,
    Body {
        remaining: usize,
        body: Vec<u8>,
    },
    /// Collecting the first bytes of a message that is too large.
    Opening {
        length: u64,
    },
    Skip {
        remaining: u64,
    },
}

/// Whether the decoder knows where the next message begins.
#[derive(Debug, PartialEq, Eq)]
enum FrameBoundary {
    Known,
    Lost,
}

/// An incomplete header section. Offsets are relative to [`FrameDecoder::consumed`].
#[derive(Debug, Default)]
struct HeaderSection {
    /// Start of the current line.
    line: usize,
    /// End of the part that has been searched for a line end.
    searched: usize,
    length: Option<u64>,
    charset: Charset,
    fault: Option<Fault>,
}

#[derive(Debug, Default)]
enum Charset {
    #[default]
    Utf8,
    Other,
}

/// Outcome of one step of the state machine.
enum DecodeStep {
    Again,
    Out(DecodedFrame),
    NeedsInput,
}

impl FrameDecoder {
    #[must_use]
    pub fn new(limits: FrameLimits) -> Self {
        Self {
            limits,
            buffer: Vec::new(),
            consumed: 0,
            state: DecoderState::Header(HeaderSection::default()),
            boundary: FrameBoundary::Known,
        }
    }

    /// Appends the next bytes of the stream. The iterator returns the frames and faults that they complete. If it is
    /// dropped early, the next iterator returns the remaining ones.
    #[must_use = "nothing is decoded until the iterator runs"]
    pub fn push(&mut self, bytes: &[u8]) -> impl Iterator<Item = DecodedFrame> {
        self.buffer.drain(..self.consumed);
        self.consumed = 0;
        self.buffer.extend_from_slice(bytes);
        std::iter::from_fn(|| self.next_frame())
    }

    /// Returns the allocated memory in bytes.
    #[must_use]
    pub fn allocated_bytes(&self) -> usize {
        let body = if let DecoderState::Body { body, .. } = &self.state { body.capacity() } else { 0 };
        self.buffer.capacity() + body
    }

    fn next_frame(&mut self) -> Option<DecodedFrame> {
        loop {
            match self.step() {
                DecodeStep::Again => {}
                DecodeStep::Out(decoded) => return Some(decoded),
                DecodeStep::NeedsInput => return None,
            }
        }
    }

    fn step(&mut self) -> DecodeStep {
        match &self.state {
            DecoderState::Header(_) => self.decode_header_line(),
            DecoderState::Resync => self.resync(),
            DecoderState::Body { .. } => self.decode_body(),
            DecoderState::Opening { length } => self.reject_oversized_message(*length),
            DecoderState::Skip { remaining } => self.skip(*remaining),
        }
    }

    /// Reads one line of the header section.
    fn decode_header_line(&mut self) -> DecodeStep {
        let DecoderState::Header(section) = &mut self.state else { return DecodeStep::Again };
        let pending = &self.buffer[self.consumed..];
        let window = &pending[..pending.len().min(self.limits.header)];
        let Some(end) = window[section.searched..].iter().position(|byte| *byte == b'\n') else {
            section.searched = window.len();
            return if pending.len() < self.limits.header {
                DecodeStep::NeedsInput
            } else {
                self.start_resync(Fault::HeaderTooLong, 1)
            };
        };
        let end = section.searched + end;
        let start = section.line;
        let line = &window[start..end];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        section.line = end + 1;
        section.searched = end + 1;
        if line.is_empty() {
            // Blank lines before a header section are harmless.
            return if start == 0 { self.start_section(end + 1) } else { self.finish_section(end + 1) };
        }
        if section.read(line).is_some() {
            DecodeStep::Again
        } else {
            self.start_resync(Fault::Garbage, start)
        }
    }

    /// Starts a new header section after consuming `consumed` bytes.
    fn start_section(&mut self, consumed: usize) -> DecodeStep {
        self.consumed += consumed;
        self.state = DecoderState::Header(HeaderSection::default());
        DecodeStep::Again
    }

    /// Handles a complete header section of `size` bytes.
    fn finish_section(&mut self, size: usize) -> DecodeStep {
        let DecoderState::Header(section) = std::mem::replace(&mut self.state, DecoderState::Resync) else {
            return DecodeStep::Again;
        };
        if let Some(fault) = section.fault {
            return self.start_resync(fault, size);
        }
        let Some(length) = section.length else {
            // A header may follow garbage on the same line, so search the section too.
            return self.start_resync(Fault::MissingLength, 1);
        };
        if length > self.limits.skip {
            return self.start_resync(Fault::AbsurdLength, size);
        }
        self.consumed += size;
        self.boundary = FrameBoundary::Known;
        if matches!(section.charset, Charset::Other) {
            self.state = DecoderState::Skip { remaining: length };
            return DecodeStep::Out(DecodedFrame::Fault(Fault::UnsupportedCharset));
        }
        self.state = match usize::try_from(length) {
            Ok(remaining) if remaining <= self.limits.message => DecoderState::Body {
                remaining,
                body: Vec::with_capacity(remaining.min(INITIAL_BODY_CAPACITY)),
            },
            _ => DecoderState::Opening { length },
        };
        DecodeStep::Again
    }

    /// Abandons the current frame, and resynchronizes after consuming `consumed` bytes. Reports one fault per run of
    /// garbage.
    fn start_resync(&mut self, fault: Fault, consumed: usize) -> DecodeStep {
        self.consumed += consumed;
        self.state = DecoderState::Resync;
        match std::mem::replace(&mut self.boundary, FrameBoundary::Lost) {
            FrameBoundary::Known => DecodeStep::Out(DecodedFrame::Fault(fault)),
            FrameBoundary::Lost => DecodeStep::Again,
        }
    }

    fn resync(&mut self) -> DecodeStep {
        let pending = &self.buffer[self.consumed..];
        let colons = pending.iter().enumerate().filter(|(_, byte)| **byte == b':');
        let header_start =
            colons.filter_map(|(colon, _)| (colon + 1).checked_sub(LENGTH_HEADER.len())).find(|start| {
                pending[*start..]
                    .get(..LENGTH_HEADER.len())
                    .is_some_and(|name| name.eq_ignore_ascii_case(LENGTH_HEADER))
            });
        if let Some(start) = header_start {
            return self.start_section(start);
        }
        // Keep the end of the buffer, which may be the beginning of a header.
        self.consumed = self.buffer.len() - pending.len().min(LENGTH_HEADER.len() - 1);
        DecodeStep::NeedsInput
    }

    fn decode_body(&mut self) -> DecodeStep {
        let DecoderState::Body { remaining, body } = &mut self.state else { return DecodeStep::Again };
        let pending = &self.buffer[self.consumed..];
        let count = pending.len().min(*remaining);
        if body.capacity() - body.len() < count {
            // Double the capacity like a vector, but not beyond the length of the message.
            body.reserve_exact((*remaining).min(count.max(body.len())));
        }
        body.extend_from_slice(&pending[..count]);
        *remaining -= count;
        self.consumed += count;
        if *remaining > 0 {
            return DecodeStep::NeedsInput;
        }
        let body = std::mem::take(body);
        self.state = DecoderState::Header(HeaderSection::default());
        DecodeStep::Out(DecodedFrame::Frame(body))
    }

    fn reject_oversized_message(&mut self, length: u64) -> DecodeStep {
        let size =
            usize::try_from(length).unwrap_or(MAX_OVERSIZED_PREFIX_BYTES).min(MAX_OVERSIZED_PREFIX_BYTES);
        let Some(opening) = self.buffer[self.consumed..].get(..size) else { return DecodeStep::NeedsInput };
        let opening = opening.to_vec();
        self.state = DecoderState::Skip { remaining: length };
        DecodeStep::Out(DecodedFrame::Fault(Fault::TooLarge { length, opening }))
    }

    fn skip(&mut self, remaining: u64) -> DecodeStep {
        let pending = self.buffer.len() - self.consumed;
        let skipped = usize::try_from(remaining).map_or(pending, |remaining| remaining.min(pending));
        self.consumed += skipped;
        let remaining = remaining - skipped as u64;
        if remaining > 0 {
            self.state = DecoderState::Skip { remaining };
            return DecodeStep::NeedsInput;
        }
        self.start_section(0)
    }
}

impl Default for FrameDecoder {
    fn default() -> Self {
        Self::new(FrameLimits::default())
    }
}

impl HeaderSection {
    /// Reads one header line. Returns `None` if the line is not a header.
    fn read(&mut self, line: &[u8]) -> Option<()> {
        let colon = line.iter().position(|byte| *byte == b':')?;
        let (name, value) = (line[..colon].trim_ascii_end(), line[colon + 1..].trim_ascii());
        if name.is_empty() || !name.iter().all(|byte| is_header_name_byte(*byte)) {
            return None;
        }
        if name.eq_ignore_ascii_case(&LENGTH_HEADER[..LENGTH_HEADER.len() - 1]) {
            match (parse_length(value), self.length) {
                (Ok(length), None) => self.length = Some(length),
                (Ok(length), Some(before)) if length == before => {}
                (Ok(_), Some(_)) => self.record_fault(Fault::ConflictingLengths),
                (Err(fault), _) => self.record_fault(fault),
            }
        } else if name.eq_ignore_ascii_case(b"content-type") && !is_utf8(value) {
            self.charset = Charset::Other;
        }
        Some(())
    }

    fn record_fault(&mut self, fault: Fault) {
        self.fault.get_or_insert(fault);
    }
}

/// Whether a byte is allowed in a header name (RFC 9110, section 5.6.2).
fn is_header_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

fn parse_length(value: &[u8]) -> Result<u64, Fault> {
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return Err(Fault::BrokenLength);
    }
    let digits = std::str::from_utf8(value).map_err(|_| Fault::BrokenLength)?;
    digits.parse().map_err(|_| Fault::AbsurdLength)
}

/// Whether a `Content-Type` has no charset or names UTF-8. LSP asks servers to accept the old spelling `utf8`.
fn is_utf8(content_type: &[u8]) -> bool {
    let Ok(content_type) = std::str::from_utf8(content_type) else { return false };
    let mut parameters = content_type.split(';').skip(1).filter_map(|parameter| parameter.split_once('='));
    parameters.all(|(name, value)| {
        !name.trim().eq_ignore_ascii_case("charset")
            || ["utf-8", "utf8"]
                .iter()
                .any(|charset| value.trim().trim_matches('"').eq_ignore_ascii_case(charset))
    })
}
