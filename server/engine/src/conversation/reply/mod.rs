//! Decodes providers' replies from bytes: whole replies, streams and errors. Does not open connections or
//! read the clock.

mod anthropic;
mod bedrock;
mod chat;
mod context_limit;
mod draft;
mod end;
mod error;
mod event_stream;
mod gemini;
mod responses;
mod sse;
#[cfg(test)]
mod tests;
mod usage;

use serde_json::Value;

use crate::conversation::dialect::Format;
use crate::json;
use crate::tokens::cost::Usage;
use draft::Draft;
use event_stream::FrameDecoder;
use sse::{EventDecoder, ServerEvent};

pub use context_limit::ContextSize;
pub use draft::{Reply, ReplyEnd, ReplyEvent};
pub use error::{ProviderError, ProviderErrorKind};

impl Reply {
    /// Decodes a reply that was not streamed.
    ///
    /// # Errors
    /// The provider's error, or [`ProviderErrorKind::Garbage`] if the body is not a reply in this dialect.
    pub fn read(format: Format, body: &[u8]) -> Result<Self, ProviderError> {
        let value: Value = json::from_slice(body).map_err(|_| ProviderError::garbage(body))?;
        if let Some(error) = ProviderError::stated(&value) {
            return Err(error);
        }
        let mut assembly = Assembly::of(format).ok_or_else(|| ProviderError::garbage(body))?;
        match assembly.whole(&value) {
            Some(()) => Ok(assembly.draft().finish()),
            None => Err(ProviderError::garbage(body)),
        }
    }

    /// Decodes a reply from Ollama's native chat API
    /// (<https://github.com/ollama/ollama/blob/main/docs/api.md>) that was not streamed.
    ///
    /// # Errors
    /// The same as those of [`Reply::read`].
    pub fn read_ollama(body: &[u8]) -> Result<Self, ProviderError> {
        let value: Value = json::from_slice(body).map_err(|_| ProviderError::garbage(body))?;
        if let Some(error) = ProviderError::stated(&value) {
            return Err(error);
        }
        let said = value.pointer("/message/content").and_then(Value::as_str);
        let said = said.ok_or_else(|| ProviderError::garbage(body))?;
        let mut draft = Draft::default();
        draft.say(said, &mut Vec::new());
        let reason = value.get("done_reason").and_then(Value::as_str);
        draft.end = Some(reason.map_or(ReplyEnd::Complete, end::end));
        let input = draft::number(&value, "/prompt_eval_count");
        let output = draft::number(&value, "/eval_count");
        draft.usage = Some(Usage { input, output, cache_read: 0, cache_write: 0 });
        Ok(draft.finish())
    }
}

/// Decodes a streamed reply from bytes to events. Chunks may be split at any byte.
#[derive(Debug)]
pub struct ReplyDecoder {
    framing: Framing,
    assembly: Assembly,
    /// First bytes of the stream, for the error message if the reply is invalid.
    head: Vec<u8>,
}

/// How a stream is divided into events.
#[derive(Debug)]
enum Framing {
    ServerSent(EventDecoder),
    Binary(FrameDecoder),
}

/// Maximum bytes of an invalid reply to quote in an error.
const HEAD: usize = 512;

impl ReplyDecoder {
    /// Creates a decoder for streams in `format`; `None` for formats that Strata does not send.
    pub fn new(format: Format) -> Option<Self> {
        let framing = match format {
            Format::Bedrock => Framing::Binary(FrameDecoder::default()),
            _ => Framing::ServerSent(EventDecoder::default()),
        };
        Some(Self { framing, assembly: Assembly::of(format)?, head: Vec::new() })
    }

    /// Decodes the next bytes, and returns the events that they complete.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<ReplyEvent> {
        let room = HEAD.saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend_from_slice(bytes.get(..room).unwrap_or_default());
        let mut out = Vec::new();
        let events = match &mut self.framing {
            Framing::ServerSent(events) => events.push(bytes),
            Framing::Binary(events) => events.push(bytes),
        };
        for event in events {
            self.take(&event, &mut out);
        }
        out
    }

    /// Whether the reply is complete. Later bytes are ignored.
    pub fn is_done(&self) -> bool {
        self.assembly.draft_ref().end.is_some()
    }

    /// Returns the final reply, and the events that the end of the stream completes.
    pub fn finish(mut self) -> (Reply, Vec<ReplyEvent>) {
        let mut out = Vec::new();
        if let Framing::ServerSent(events) = &mut self.framing
            && let Some(event) = events.flush()
        {
            self.take(&event, &mut out);
        }
        let is_garbage = !self.assembly.draft_ref().has_begun;
        let mut reply = self.assembly.draft().finish();
        if is_garbage && reply.end == ReplyEnd::Cut && !self.head.is_empty() {
            let stated = json::from_slice(&self.head).ok().as_ref().and_then(ProviderError::stated);
            reply.end = ReplyEnd::Failed(stated.unwrap_or_else(|| ProviderError::garbage(&self.head)));
        }
        (reply, out)
    }

    fn take(&mut self, event: &ServerEvent, out: &mut Vec<ReplyEvent>) {
        if self.is_done() {
            return;
        }
        if event.data.trim() == "[DONE]" {
            return self.assembly.end_chat();
        }
        // Skip data that is not JSON. `event` skips unknown types.
        let Ok(data) = json::from_str::<Value>(&event.data) else { return };
        if let Some(error) = ProviderError::stated(&data) {
            self.assembly.draft_mut().end = Some(ReplyEnd::Failed(error));
            return;
        }
        self.assembly.event(&event.name, &data, out);
    }
}

/// A reply that is being assembled from events in one provider's format.
#[derive(Debug)]
enum Assembly {
    Anthropic(anthropic::Assembly),
    Chat(chat::Assembly),
    Responses(responses::Assembly),
    Gemini(gemini::Assembly),
    Bedrock(bedrock::Assembly),
}

impl Assembly {
    fn of(format: Format) -> Option<Self> {
        Some(match format {
            Format::Anthropic => Self::Anthropic(anthropic::Assembly::default()),
            Format::OpenAi => Self::Chat(chat::Assembly::default()),
            Format::Responses => Self::Responses(responses::Assembly::default()),
            Format::Gemini => Self::Gemini(gemini::Assembly::default()),
            Format::Bedrock => Self::Bedrock(bedrock::Assembly::default()),
            Format::Markdown => return None,
        })
    }

    fn event(&mut self, name: &str, data: &Value, out: &mut Vec<ReplyEvent>) {
        match self {
            Self::Anthropic(assembly) => assembly.event(data, out),
            Self::Chat(assembly) => assembly.event(data, out),
            Self::Responses(assembly) => assembly.event(name, data, out),
            Self::Gemini(assembly) => assembly.event(data, out),
            Self::Bedrock(assembly) => assembly.event(name, data, out),
        }
    }

    /// Handles the end-of-stream marker `[DONE]` of the Chat Completions API.
    fn end_chat(&mut self) {
        if let Self::Chat(assembly) = self {
            assembly.end();
        }
    }

    /// Reads a reply that was not streamed; `None` if `body` is not a reply.
    fn whole(&mut self, body: &Value) -> Option<()> {
        match self {
            Self::Anthropic(assembly) => assembly.whole(body),
            Self::Chat(assembly) => assembly.whole(body),
            Self::Responses(assembly) => assembly.whole(body),
            Self::Gemini(assembly) => assembly.whole(body),
            Self::Bedrock(assembly) => assembly.whole(body),
        }
    }

    fn draft_ref(&self) -> &Draft {
        match self {
            Self::Anthropic(anthropic::Assembly { draft, .. })
            | Self::Chat(chat::Assembly { draft, .. })
            | Self::Responses(responses::Assembly { draft, .. })
            | Self::Gemini(gemini::Assembly { draft, .. })
            | Self::Bedrock(bedrock::Assembly { inner: anthropic::Assembly { draft, .. }, .. }) => draft,
        }
    }

    fn draft_mut(&mut self) -> &mut Draft {
        match self {
            Self::Anthropic(anthropic::Assembly { draft, .. })
            | Self::Chat(chat::Assembly { draft, .. })
            | Self::Responses(responses::Assembly { draft, .. })
            | Self::Gemini(gemini::Assembly { draft, .. })
            | Self::Bedrock(bedrock::Assembly { inner: anthropic::Assembly { draft, .. }, .. }) => draft,
        }
    }

    /// Returns the reply so far, as if the stream ended here.
    fn draft(self) -> Draft {
        match self {
            Self::Anthropic(assembly) => assembly.into_draft(),
            Self::Chat(assembly) => assembly.into_draft(),
            Self::Responses(assembly) => assembly.draft,
            Self::Gemini(assembly) => assembly.draft,
            Self::Bedrock(assembly) => assembly.into_draft(),
        }
    }
}
