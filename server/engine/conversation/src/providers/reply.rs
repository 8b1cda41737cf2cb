//! Decodes providers' replies from bytes: whole replies, streams and errors. Each provider's folder assembles its
//! events. Does not open connections or read the clock.

mod context_limit;
mod draft;
mod end;
mod error;
mod sse;
#[cfg(test)]
mod tests;
mod usage;

use serde_json::Value;
use strata_base::json;

use super::dialect::Dialect;
pub(crate) use super::json_fields::text;

pub use context_limit::ContextSize;
pub use draft::{Reply, ReplyDraft, ReplyEnd, ReplyEvent, StreamedReply};
pub(crate) use draft::{count_at_pointer, parse_arguments};
pub(crate) use end::{end_blocked_by_content_rules, parse_stop_reason};
pub use error::{ProviderError, ProviderErrorKind};
pub(crate) use sse::SseDecoder;
pub use sse::{Framing, ServerEvent};
pub(crate) use usage::UsageFields;

impl Reply {
    /// Decodes a reply that was not streamed.
    ///
    /// # Errors
    /// The provider's error, or [`ProviderErrorKind::Garbage`] if the body is not a reply in this format.
    pub fn read(dialect: &dyn Dialect, body: &[u8]) -> Result<Self, ProviderError> {
        Self::from_body(&mut *(dialect.properties().streamed_reply)(), body)
    }

    /// Decodes a reply that was not streamed with `streamed_reply`.
    pub(crate) fn from_body(
        streamed_reply: &mut dyn StreamedReply,
        body: &[u8],
    ) -> Result<Self, ProviderError> {
        let value: Value = json::from_slice(body).map_err(|_| ProviderError::invalid_body(body))?;
        if let Some(error) = ProviderError::from_value(&value) {
            return Err(error);
        }
        let mut draft = ReplyDraft::default();
        streamed_reply.read_body(&value, &mut draft).ok_or_else(|| ProviderError::from_body(body))?;
        streamed_reply.end(&mut draft);
        Ok(draft.finish())
    }
}

/// Decodes a streamed reply from bytes to events. Chunks may be split at any byte.
#[derive(Debug)]
pub struct ReplyDecoder {
    framing: Box<dyn Framing>,
    streamed_reply: Box<dyn StreamedReply>,
    draft: ReplyDraft,
    /// First bytes of the stream, for the error message if the reply is invalid.
    head: Vec<u8>,
}

/// Maximum bytes of an invalid reply to quote in an error.
const MAX_QUOTED_REPLY_BYTES: usize = 512;

impl ReplyDecoder {
    pub fn new(dialect: &dyn Dialect) -> Self {
        let format = dialect.properties();
        let (framing, streamed_reply) = ((format.framing)(), (format.streamed_reply)());
        Self { framing, streamed_reply, draft: ReplyDraft::default(), head: Vec::new() }
    }

    /// Decodes the next bytes, and returns the events that they complete.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<ReplyEvent> {
        let count = MAX_QUOTED_REPLY_BYTES.saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend_from_slice(bytes.get(..count).unwrap_or_default());
        for event in self.framing.push(bytes) {
            self.read_event(&event);
        }
        std::mem::take(&mut self.draft.events)
    }

    /// Whether the reply is complete. Later bytes are ignored.
    pub fn is_done(&self) -> bool {
        self.draft.end.is_some()
    }

    /// Returns the final reply, and the events that the end of the stream completes.
    pub fn finish(mut self) -> (Reply, Vec<ReplyEvent>) {
        if let Some(event) = self.framing.flush() {
            self.read_event(&event);
        }
        let events = std::mem::take(&mut self.draft.events);
        self.streamed_reply.end(&mut self.draft);
        let is_garbage = !self.draft.has_begun;
        let mut reply = self.draft.finish();
        if is_garbage && reply.end == ReplyEnd::Cut && !self.head.is_empty() {
            reply.end = ReplyEnd::Failed(ProviderError::from_body(&self.head));
        }
        (reply, events)
    }

    fn read_event(&mut self, event: &ServerEvent) {
        if self.is_done() {
            return;
        }
        if event.data.trim() == "[DONE]" {
            return self.streamed_reply.end(&mut self.draft);
        }
        // Skip data that is not JSON.
        let Ok(data) = json::from_str::<Value>(&event.data) else { return };
        match ProviderError::from_value(&data) {
            Some(error) => self.draft.end = Some(ReplyEnd::Failed(error)),
            None => self.streamed_reply.read_event(&event.name, &data, &mut self.draft),
        }
    }
}
