//! The base protocol of LSP as a state machine over bytes: `Content-Length: n`, blank line, `n` bytes.
//!
//! Owns framing, its limits, and resynchronization after invalid bytes. Never reads from anything, never looks at JSON, and never
//! fails: invalid bytes become a [`Fault`] between the frames, and the division of the stream into chunks does not matter.

/// What follows a header section without a length: the next place where a frame may begin (case-insensitive, LSP 3.17).
const LENGTH_HEADER: &[u8] = b"content-length:";

/// How much of a message that is too large is kept, so that its `id` can be answered.
const OPENING: usize = 4 * 1024;

/// First allocation for a body: a claimed length is only believed as far as bytes arrive.
const FIRST_RESERVE: usize = 64 * 1024;

/// Sizes beyond which a client is not believed. All in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// A larger message is skipped by its length and refused. 64 MiB (`ARCHITECTURE.md`, "Bounded").
    pub message: usize,
    /// A header section that is longer, terminator included, is garbage.
    pub header: usize,
    /// A larger length is not even skipped: the decoder looks for the next header instead.
    pub skip: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { message: 64 << 20, header: 8 << 10, skip: 1 << 30 }
    }
}

/// The decoded form of a part of the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DecodedFrame {
    /// The body of one message, not yet looked at.
    Frame(Vec<u8>),
    /// Bytes that were no message. The decoder has already found its way on.
    Fault(Fault),
}

/// Why bytes were skipped. A run of faults that lose the frame boundary is reported once, by the first of them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A line where a header should be is none.
    #[error("invalid header bytes")]
    Garbage,
    /// No blank line within [`Limits::header`].
    #[error("the header section is too long")]
    HeaderTooLong,
    /// A header section without `Content-Length`.
    #[error("the header section has no Content-Length")]
    MissingLength,
    /// A `Content-Length` that is not a number.
    #[error("the Content-Length is not a number")]
    BrokenLength,
    /// Two `Content-Length` headers that disagree.
    #[error("two Content-Length headers disagree")]
    ConflictingLengths,
    /// A length over [`Limits::skip`].
    #[error("Content-Length is out of range")]
    AbsurdLength,
    /// A `Content-Type` with a charset other than UTF-8. The message is skipped by its length.
    #[error("only UTF-8 is supported")]
    UnsupportedCharset,
    /// A message over [`Limits::message`]. It is skipped by its length.
    #[error("a message of {length} bytes exceeds the limit")]
    TooLarge {
        /// The length the header claims.
        length: u64,
        /// The first bytes of the body, at most 4 KiB.
        opening: Vec<u8>,
    },
}

/// Cuts a byte stream into message bodies. Memory: one message within the limits, the last piece pushed, and one
/// header section.
#[derive(Debug)]
pub struct FrameDecoder {
    limits: Limits,
    buffer: Vec<u8>,
    /// Everything before it has been dealt with.
    at: usize,
    state: State,
    boundary: Boundary,
}

#[derive(Debug)]
enum State {
    Header(Section),
    /// Looking for the next `Content-Length:`.
    Resync,
    Body {
        left: usize,
        body: Vec<u8>,
    },
    /// Collecting the opening of a message that is too large.
    Opening {
        length: u64,
    },
    Skip {
        left: u64,
    },
}

/// Whether the decoder knows where the next message begins.
#[derive(Debug, PartialEq, Eq)]
enum Boundary {
    Known,
    Lost,
}

/// A header section that is being read. Offsets count from [`FrameDecoder::at`].
#[derive(Debug, Default)]
struct Section {
    /// Where the current line begins.
    line: usize,
    /// How far the current line has been searched for its end.
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

/// The outcome of one step of the machine.
enum Step {
    Again,
    Out(DecodedFrame),
    Hungry,
}

impl FrameDecoder {
    /// A decoder at the beginning of a stream.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            buffer: Vec::new(),
            at: 0,
            state: State::Header(Section::default()),
            boundary: Boundary::Known,
        }
    }

    /// Takes the next bytes of the stream; the iterator returns what they complete. The rest of an iterator that is dropped early
    /// comes out of the next one.
    #[must_use = "nothing is decoded until the iterator runs"]
    pub fn push(&mut self, bytes: &[u8]) -> impl Iterator<Item = DecodedFrame> {
        self.buffer.drain(..self.at);
        self.at = 0;
        self.buffer.extend_from_slice(bytes);
        std::iter::from_fn(|| self.advance())
    }

    /// Bytes of memory held now.
    #[must_use]
    pub fn memory(&self) -> usize {
        let body = if let State::Body { body, .. } = &self.state { body.capacity() } else { 0 };
        self.buffer.capacity() + body
    }

    fn advance(&mut self) -> Option<DecodedFrame> {
        loop {
            match self.step() {
                Step::Again => {}
                Step::Out(decoded) => return Some(decoded),
                Step::Hungry => return None,
            }
        }
    }

    fn step(&mut self) -> Step {
        match &self.state {
            State::Header(_) => self.header(),
            State::Resync => self.resync(),
            State::Body { .. } => self.body(),
            State::Opening { length } => self.opening(*length),
            State::Skip { left } => self.skip(*left),
        }
    }

    /// Reads one line of the header section.
    fn header(&mut self) -> Step {
        let State::Header(section) = &mut self.state else { return Step::Again };
        let pending = &self.buffer[self.at..];
        let window = &pending[..pending.len().min(self.limits.header)];
        let Some(end) = window[section.searched..].iter().position(|byte| *byte == b'\n') else {
            section.searched = window.len();
            return if pending.len() < self.limits.header {
                Step::Hungry
            } else {
                self.lose(Fault::HeaderTooLong, 1)
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
            return if start == 0 { self.begin(end + 1) } else { self.close(end + 1) };
        }
        if section.read(line).is_some() { Step::Again } else { self.lose(Fault::Garbage, start) }
    }

    /// Starts over with an empty header section, `consumed` bytes on.
    fn begin(&mut self, consumed: usize) -> Step {
        self.at += consumed;
        self.state = State::Header(Section::default());
        Step::Again
    }

    /// Acts on a complete header section of `size` bytes.
    fn close(&mut self, size: usize) -> Step {
        let State::Header(section) = std::mem::replace(&mut self.state, State::Resync) else {
            return Step::Again;
        };
        if let Some(fault) = section.fault {
            return self.lose(fault, size);
        }
        let Some(length) = section.length else {
            // A header may be glued to the garbage before it, so the section is searched too.
            return self.lose(Fault::MissingLength, 1);
        };
        if length > self.limits.skip {
            return self.lose(Fault::AbsurdLength, size);
        }
        self.at += size;
        self.boundary = Boundary::Known;
        if matches!(section.charset, Charset::Other) {
            self.state = State::Skip { left: length };
            return Step::Out(DecodedFrame::Fault(Fault::UnsupportedCharset));
        }
        self.state = match usize::try_from(length) {
            Ok(left) if left <= self.limits.message => {
                State::Body { left, body: Vec::with_capacity(left.min(FIRST_RESERVE)) }
            }
            _ => State::Opening { length },
        };
        Step::Again
    }

    /// Abandons the current frame and searches from `consumed` bytes on. Reports once per run of garbage.
    fn lose(&mut self, fault: Fault, consumed: usize) -> Step {
        self.at += consumed;
        self.state = State::Resync;
        match std::mem::replace(&mut self.boundary, Boundary::Lost) {
            Boundary::Known => Step::Out(DecodedFrame::Fault(fault)),
            Boundary::Lost => Step::Again,
        }
    }

    fn resync(&mut self) -> Step {
        let pending = &self.buffer[self.at..];
        let colons = pending.iter().enumerate().filter(|(_, byte)| **byte == b':');
        let found =
            colons.filter_map(|(colon, _)| (colon + 1).checked_sub(LENGTH_HEADER.len())).find(|start| {
                pending[*start..]
                    .get(..LENGTH_HEADER.len())
                    .is_some_and(|name| name.eq_ignore_ascii_case(LENGTH_HEADER))
            });
        if let Some(start) = found {
            return self.begin(start);
        }
        // The rest may be the beginning of the header.
        self.at = self.buffer.len() - pending.len().min(LENGTH_HEADER.len() - 1);
        Step::Hungry
    }

    fn body(&mut self) -> Step {
        let State::Body { left, body } = &mut self.state else { return Step::Again };
        let pending = &self.buffer[self.at..];
        let taken = pending.len().min(*left);
        if body.capacity() - body.len() < taken {
            // Double as a vector does, but never beyond the length of the message.
            body.reserve_exact((*left).min(taken.max(body.len())));
        }
        body.extend_from_slice(&pending[..taken]);
        *left -= taken;
        self.at += taken;
        if *left > 0 {
            return Step::Hungry;
        }
        let body = std::mem::take(body);
        self.state = State::Header(Section::default());
        Step::Out(DecodedFrame::Frame(body))
    }

    fn opening(&mut self, length: u64) -> Step {
        let wanted = usize::try_from(length).unwrap_or(OPENING).min(OPENING);
        let Some(opening) = self.buffer[self.at..].get(..wanted) else { return Step::Hungry };
        let opening = opening.to_vec();
        self.state = State::Skip { left: length };
        Step::Out(DecodedFrame::Fault(Fault::TooLarge { length, opening }))
    }

    fn skip(&mut self, left: u64) -> Step {
        let pending = self.buffer.len() - self.at;
        let skipped = usize::try_from(left).map_or(pending, |left| left.min(pending));
        self.at += skipped;
        let left = left - skipped as u64;
        if left > 0 {
            self.state = State::Skip { left };
            return Step::Hungry;
        }
        self.begin(0)
    }
}

impl Default for FrameDecoder {
    fn default() -> Self {
        Self::new(Limits::default())
    }
}

impl Section {
    /// Takes one header line. `None`: it is none.
    fn read(&mut self, line: &[u8]) -> Option<()> {
        let colon = line.iter().position(|byte| *byte == b':')?;
        let (name, value) = (line[..colon].trim_ascii_end(), line[colon + 1..].trim_ascii());
        if name.is_empty() || !name.iter().all(|byte| is_token(*byte)) {
            return None;
        }
        if name.eq_ignore_ascii_case(&LENGTH_HEADER[..LENGTH_HEADER.len() - 1]) {
            match (parse_length(value), self.length) {
                (Ok(length), None) => self.length = Some(length),
                (Ok(length), Some(before)) if length == before => {}
                (Ok(_), Some(_)) => self.blame(Fault::ConflictingLengths),
                (Err(fault), _) => self.blame(fault),
            }
        } else if name.eq_ignore_ascii_case(b"content-type") && !is_utf8(value) {
            self.charset = Charset::Other;
        }
        Some(())
    }

    fn blame(&mut self, fault: Fault) {
        self.fault.get_or_insert(fault);
    }
}

/// A byte of a header's name (RFC 9110, 5.6.2).
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

fn parse_length(value: &[u8]) -> Result<u64, Fault> {
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return Err(Fault::BrokenLength);
    }
    let digits = std::str::from_utf8(value).map_err(|_| Fault::BrokenLength)?;
    digits.parse().map_err(|_| Fault::AbsurdLength)
}

/// Whether a `Content-Type` names UTF-8, or nothing. `utf8` is an old spelling that LSP asks servers to accept.
fn is_utf8(content_type: &[u8]) -> bool {
    let Ok(content_type) = std::str::from_utf8(content_type) else { return false };
    let mut parameters = content_type.split(';').skip(1).filter_map(|parameter| parameter.split_once('='));
    parameters.all(|(name, value)| {
        !name.trim().eq_ignore_ascii_case("charset")
            || ["utf-8", "utf8"]
                .iter()
                .any(|known| value.trim().trim_matches('"').eq_ignore_ascii_case(known))
    })
}
