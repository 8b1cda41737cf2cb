//! One try: a question in the form that its provider takes, and the text of what comes back. The forms are the
//! provider library's; here is only which of its clients, and what its errors mean.

use rig_core::client::CompletionClient;
use rig_core::completion::{AssistantContent, CompletionError, CompletionModel};
use rig_core::http_client;
use rig_core::message::EMPTY_RESPONSE_ERROR;
use rig_core::providers::{anthropic, gemini, ollama, openai};
use serde_json::json;
use tracing::instrument::WithSubscriber;
use tracing::subscriber::NoSubscriber;

use super::Question;
use super::error::SummaryError;
use super::key::Key;
use super::provider::{Provider, ProviderKind};
use super::retry::{Failure, Retry};
use super::transport::{BodyExcerpt, Endpoint, Transport, TransportError};

/// The most bytes of an answer, whatever was asked for.
const MAX_ANSWER: usize = 256 * 1024;

/// The most bytes of an answer for each token that it may have: four times what a long token has.
const MAX_BYTES_PER_TOKEN: usize = 24;

/// Stands in for the key, which the transport writes itself.
const NO_KEY: &str = "";

/// A question, ready to be asked.
#[derive(Debug)]
pub(super) struct Call {
    kind: ProviderKind,
    base: Option<String>,
    model: String,
    key: Option<Key>,
    question: Question,
}

impl Call {
    /// Checks what can be checked without the network.
    pub(super) fn new(
        provider: &Provider,
        key: Option<Key>,
        question: &Question,
    ) -> Result<Self, SummaryError> {
        Ok(Self {
            kind: provider.kind,
            base: provider.base()?,
            model: provider.model.clone(),
            key,
            question: question.clone(),
        })
    }

    /// Asks once.
    pub(super) async fn once(&self) -> Result<String, Failure> {
        let never = |error: SummaryError| Failure { error, again: Retry::Never };
        let way = Endpoint::new(self.kind, self.key.clone())
            .map_err(|reason| never(SummaryError::Unreachable { reason }))?;
        // The library logs whole bodies, which hold buffer contents.
        let answered = self.complete(&Transport::new(&way)).with_subscriber(NoSubscriber::default()).await;
        let text = answered.map_err(|error| self.failure(error, &way))?;
        let text = text.trim();
        let limit = self.limit();
        if text.is_empty() {
            Err(never(SummaryError::Empty))
        } else if text.len() > limit {
            Err(never(SummaryError::TooLong { limit }))
        } else {
            Ok(text.to_owned())
        }
    }

    /// The same few steps with each of the library's clients, which are types of their own.
    async fn complete(&self, transport: &Transport) -> Result<String, CompletionError> {
        macro_rules! client {
            ($client:ty) => {{
                let builder = <$client>::builder().api_key(NO_KEY).http_client(transport.clone());
                let builder = match &self.base {
                    Some(base) => builder.base_url(base),
                    None => builder,
                };
                builder.build()?
            }};
        }
        match self.kind {
            ProviderKind::Anthropic => {
                self.put(client!(anthropic::Client).completion_model(&self.model)).await
            }
            ProviderKind::OpenAi => {
                self.put(client!(openai::CompletionsClient).completion_model(&self.model)).await
            }
            ProviderKind::Gemini => self.put(client!(gemini::Client).completion_model(&self.model)).await,
            ProviderKind::Ollama => self.put(client!(ollama::Client).completion_model(&self.model)).await,
        }
    }

    /// Puts the question to a model.
    async fn put<M: CompletionModel + Clone>(&self, model: M) -> Result<String, CompletionError> {
        let Question { system, prompt, max_output_tokens } = &self.question;
        let mut request = model
            .completion_request(prompt.as_str())
            .max_tokens(u64::try_from(*max_output_tokens).unwrap_or(u64::MAX));
        if !system.is_empty() {
            request = request.preamble(system.clone());
        }
        if self.kind == ProviderKind::Ollama {
            request = request.additional_params(json!({ "num_ctx": self.window() }));
        }
        let response = model.completion(request.build()).await?;
        let texts = response.choice.iter().filter_map(|content| match content {
            AssistantContent::Text(text) => Some(text.text.as_str()),
            _ => None,
        });
        Ok(texts.collect())
    }

    /// The window that Ollama is told to open, in tokens: without being told it takes 4,096 and silently drops the beginning
    /// of what does not fit. A power of two, as it loads the model anew for each other size.
    fn window(&self) -> usize {
        let Question { system, prompt, max_output_tokens } = &self.question;
        let needed = (system.len() + prompt.len()) / 3 + max_output_tokens.saturating_add(256).min(1 << 17);
        needed.min(1 << 17).next_power_of_two().max(1 << 12)
    }

    /// The most bytes that an answer to this question may have.
    fn limit(&self) -> usize {
        self.question.max_output_tokens.saturating_mul(MAX_BYTES_PER_TOKEN).min(MAX_ANSWER)
    }

    /// What an error of the library means.
    fn failure(&self, error: CompletionError, way: &Endpoint) -> Failure {
        let never = |error: SummaryError| Failure { error, again: Retry::Never };
        match error {
            CompletionError::HttpError(http_client::Error::Instance(error)) => {
                match error.downcast::<TransportError>() {
                    Ok(fault) => self.fault(*fault, way),
                    Err(error) => never(SummaryError::BadAddress { reason: error.to_string() }),
                }
            }
            CompletionError::HttpError(error) => {
                never(SummaryError::BadAddress { reason: error.to_string() })
            }
            CompletionError::ResponseError(said) if said == EMPTY_RESPONSE_ERROR => {
                never(SummaryError::Empty)
            }
            _ => never(match way.seen() {
                BodyExcerpt { stated: Some(message), .. } => SummaryError::Refused { status: 200, message },
                BodyExcerpt { excerpt, .. } => SummaryError::Garbage { kind: self.kind.name(), excerpt },
            }),
        }
    }

    /// What a fault on the way means.
    fn fault(&self, fault: TransportError, way: &Endpoint) -> Failure {
        let (error, again) = match fault {
            TransportError::Refused { status, message, retry_after } => {
                (SummaryError::Refused { status, message }, Retry::after_status(status, retry_after))
            }
            TransportError::NoConnection(reason) => (SummaryError::Unreachable { reason }, Retry::Never),
            TransportError::Cut(reason) => (SummaryError::Unreachable { reason }, Retry::Usual),
            TransportError::TooLong => (SummaryError::TooLong { limit: self.limit() }, Retry::Never),
            TransportError::NoJson => {
                let (kind, BodyExcerpt { excerpt, .. }) = (self.kind.name(), way.seen());
                (SummaryError::Garbage { kind, excerpt }, Retry::Never)
            }
        };
        Failure { error, again }
    }
}
