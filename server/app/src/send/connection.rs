//! One request: to the model, and its answer to the client as it comes.

use std::sync::Arc;

use serde_json::{Value, json};
use strata_engine::cancel::Cancel;
use strata_engine::conversation::dialect::Format;
use strata_engine::tokens::cost::Prices;
use strata_host::provider::{SendError, Sent};

use super::SendHost;
use super::SnapshotParts;
use super::answer::Stream;
use super::model_client::ModelClient;
use super::notice::Delta;
use crate::snapshot::Snapshot;

/// The way to a model, and to the client that asks it.
#[derive(Clone, Debug)]
pub(crate) struct Connection {
    /// The session that it is asked in, by its own name.
    pub(crate) session: String,
    /// Under which name the client is shown the answer as it comes; it is not when absent.
    pub(crate) stream: Option<String>,
    pub(crate) client: Arc<dyn ModelClient>,
    pub(crate) format: Format,
    pub(crate) max_output_tokens: Option<usize>,
    /// For prices, and for the secrets behind placeholders.
    pub(crate) snapshot: SnapshotParts,
}

impl Connection {
    /// Sends a body, with a limit of the answer, and shows the answer. Returns all of its text as well.
    pub(super) fn send(
        &self,
        mut body: Value,
        reserve: usize,
        host: &mut dyn SendHost,
        cancel: &Cancel,
    ) -> (Result<Sent, SendError>, String) {
        self.limit_answer(&mut body, reserve);
        let mut stream = Stream::new(self, host);
        let sent = self.client.send(&body, cancel, &mut |event| stream.take(event));
        (sent, stream.finish())
    }

    /// Shows a piece of the answer.
    pub(super) fn show(&self, host: &mut dyn SendHost, fill: impl FnOnce(Delta) -> Delta) {
        if let Some(stream) = &self.stream {
            host.show(fill(Delta::of(stream, &self.session)));
        }
    }

    pub(super) fn prices(&self, model: &str) -> Prices {
        let Snapshot { models, settings, .. } = &self.snapshot.0;
        Prices::of(&models.resolve(model).model, settings.cache.ttl)
    }

    /// Restores known secrets.
    pub(super) fn restored(&self, text: &str) -> String {
        self.snapshot.0.screen.restore(text).text
    }

    /// Restores known secrets in every text of a value.
    pub(super) fn restore_value(&self, value: &mut Value) {
        self.snapshot.0.screen.restore_value(value);
    }

    /// Anthropic demands a limit; others have one of their own.
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
