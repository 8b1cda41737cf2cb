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
pub use draft::{Assembly, Draft, Reply, ReplyEnd, ReplyEvent};
pub(crate) use draft::{arguments, number};
pub(crate) use end::{blocked, end};
pub use error::{ProviderError, ProviderErrorKind};
pub(crate) use sse::EventDecoder;
pub use sse::{Framing, ServerEvent};
pub(crate) use usage::UsageFields;

impl Reply {
    /// Decodes a reply that was not streamed.
    ///
    /// # Errors
    /// The provider's error, or [`ProviderErrorKind::Garbage`] if the body is not a reply in this format.
    pub fn read(dialect: &dyn Dialect, body: &[u8]) -> Result<Self, ProviderError> {
        Self::assembled(&mut *(dialect.properties().assembly)(), body)
    }

    /// Decodes a reply that was not streamed with `assembly`.
    pub(crate) fn assembled(assembly: &mut dyn Assembly, body: &[u8]) -> Result<Self, ProviderError> {
        let value: Value = json::from_slice(body).map_err(|_| ProviderError::garbage(body))?;
        if let Some(error) = ProviderError::stated(&value) {
            return Err(error);
        }
        let mut draft = Draft::default();
        assembly.whole(&value, &mut draft).ok_or_else(|| ProviderError::in_body(body))?;
        assembly.end(&mut draft);
        Ok(draft.finish())
    }
}

/// Decodes a streamed reply from bytes to events. Chunks may be split at any byte.
#[derive(Debug)]
pub struct ReplyDecoder {
    framing: Box<dyn Framing>,
    assembly: Box<dyn Assembly>,
    draft: Draft,
    /// First bytes of the stream, for the error message if the reply is invalid.
    head: Vec<u8>,
}

/// Maximum bytes of an invalid reply to quote in an error.
const HEAD: usize = 512;

impl ReplyDecoder {
    /// Creates a decoder for streams in this format.
    pub fn new(dialect: &dyn Dialect) -> Self {
        let format = dialect.properties();
        let (framing, assembly) = ((format.framing)(), (format.assembly)());
        Self { framing, assembly, draft: Draft::default(), head: Vec::new() }
    }

    /// Decodes the next bytes, and returns the events that they complete.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<ReplyEvent> {
        let room = HEAD.saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend_from_slice(bytes.get(..room).unwrap_or_default());
        for event in self.framing.push(bytes) {
            self.take(&event);
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
            self.take(&event);
        }
        let events = std::mem::take(&mut self.draft.events);
        self.assembly.end(&mut self.draft);
        let is_garbage = !self.draft.has_begun;
        let mut reply = self.draft.finish();
        if is_garbage && reply.end == ReplyEnd::Cut && !self.head.is_empty() {
            reply.end = ReplyEnd::Failed(ProviderError::in_body(&self.head));
        }
        (reply, events)
    }

    fn take(&mut self, event: &ServerEvent) {
        if self.is_done() {
            return;
        }
        if event.data.trim() == "[DONE]" {
            return self.assembly.end(&mut self.draft);
        }
        // Skip data that is not JSON.
        let Ok(data) = json::from_str::<Value>(&event.data) else { return };
        match ProviderError::stated(&data) {
            Some(error) => self.draft.end = Some(ReplyEnd::Failed(error)),
            None => self.assembly.event(&event.name, &data, &mut self.draft),
        }
    }
}
