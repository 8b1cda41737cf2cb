//! Sends one request to the model, and streams its answer to the client.

use std::sync::Arc;

use serde_json::{Value, json};
use strata_engine::cancel::Cancel;
use strata_engine::conversation::dialect::Format;
use strata_engine::tokens::cost::Prices;
use strata_host::provider::{SendError, Sent};

use super::Delta;
use super::SendHost;
use super::SnapshotParts;
use super::answer::{Answer, Audience, Stream};
use super::model_client::ModelClient;
use crate::redaction::Screen;
use crate::snapshot::Snapshot;

/// A connection to a model, and to the client that receives the answer.
#[derive(Clone, Debug)]
pub(crate) struct Connection {
    /// Id of the session.
    pub(crate) session: String,
    /// Name under which the answer is streamed to the client. If `None`, the answer is not streamed.
    pub(crate) stream: Option<String>,
    pub(crate) client: Arc<dyn ModelClient>,
    pub(crate) format: Format,
    pub(crate) max_output_tokens: Option<usize>,
    /// Provides the prices, and the secrets behind placeholders.
    pub(crate) snapshot: SnapshotParts,
}

impl Connection {
    /// Sends a request body with a limit for the answer, and streams the answer. Also returns its complete text.
    pub(super) fn send(
        &self,
        mut body: Value,
        reserve: usize,
        audience: Audience,
        host: &mut dyn SendHost,
        cancel: &Cancel,
    ) -> (Result<Sent, SendError>, Answer) {
        self.limit_answer(&mut body, reserve);
        let mut stream = Stream::new(self, audience, host);
        let sent = self.client.send(&body, cancel, &mut |event| stream.take(event));
        (sent, stream.finish())
    }

    /// Sends a piece of the answer to the client, if the answer is streamed.
    pub(super) fn show(&self, host: &mut dyn SendHost, fill: impl FnOnce(Delta) -> Delta) {
        if let Some(stream) = &self.stream {
            host.show(fill(Delta::of(stream, &self.session)));
        }
    }

    pub(super) fn prices(&self, model: &str) -> Prices {
        let Snapshot { models, settings, .. } = &self.snapshot.0;
        Prices::of(&models.resolve(model).model, settings.cache.ttl)
    }

    pub(super) fn screen(&self) -> &Screen {
        &self.snapshot.0.screen
    }

    /// Limits the tokens of the answer. Anthropic requires a limit. Other providers have a default.
    fn limit_answer(&self, body: &mut Value, reserve: usize) {
        let limit = match (self.max_output_tokens, self.format) {
            (Some(limit), _) => limit,
            (None, Format::Anthropic) => reserve,
            (None, _) => return,
        };
        let (field, value) = match self.format {
            Format::Anthropic => ("max_tokens", json!(limit)),
            Format::OpenAi => ("max_completion_tokens", json!(limit)),
            Format::Responses => ("max_output_tokens", json!(limit)),
            Format::Gemini => ("generationConfig", json!({ "maxOutputTokens": limit })),
            Format::Bedrock | Format::Markdown => return,
        };
        if let Value::Object(body) = body {
            body.insert(field.to_owned(), value);
        }
    }
}
