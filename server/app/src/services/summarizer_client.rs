//! The client that obtains the summaries of compactions from the editor's client or from a provider. Waits for the
//! answer on the caller's thread, up to a timeout. Does not interpret the question.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use strata_base::cancel::Cancel;
use strata_conversation::compaction::{
    AuthorKind, Summariser, SummarizerQuestion, SummaryAuthor, SummaryPurpose, TopicDetection,
};
use strata_conversation::settings::{CompactionSettings, SummariserKind};
use strata_host::provider::{KeySource, Provider};
use strata_host::summarise;
use strata_prompt::trust::Trust;
use strata_tokens::models::Models;
use strata_tokens::redaction::SecretRedactor;

use crate::services::front_end::{ClientGone, FrontEnd, Summarize, Summary};

/// Maximum number of characters to keep of the model name that a client reports.
const MAX_MODEL_NAME: usize = 200;

/// Interval at which waiting for the client checks for cancellation.
const CANCEL_CHECK_INTERVAL: Duration = Duration::from_millis(20);

#[derive(Clone, Debug)]
enum Answerer {
    Nobody,
    Client {
        front_end: Arc<dyn FrontEnd>,
        /// Provider to ask if the client has no answer.
        fallback: Option<Box<Answerer>>,
    },
    Provider {
        summaries: Provider,
        topics: Option<Provider>,
    },
}

/// A client that sends summary requests to the editor's client or to a provider, as configured.
#[derive(Clone, Debug)]
pub(crate) struct SummarizerClient {
    answerer: Answerer,
    summariser: Summariser,
    /// Model that the client should use for summaries.
    model: Option<String>,
    /// Model that the client should use for detecting topics.
    detection_model: Option<String>,
    timeout: Duration,
    /// Screen that replaces secrets in questions and answers.
    screen: Arc<SecretRedactor>,
    /// Why no model is asked although the settings require one.
    problem: Option<String>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SummaryAnswer {
    pub(crate) text: String,
    pub(crate) by: SummaryAuthor,
    /// Why the first choice did not answer. `None` if no fallback was used.
    pub(crate) fell_back: Option<String>,
}

impl SummarizerClient {
    /// Creates a client according to the settings and to what the editor's client supports. Uses a provider only if the
    /// settings name its model, and never in an untrusted workspace.
    pub(crate) fn new(
        trust: Trust,
        settings: &CompactionSettings,
        models: &Models,
        screen: &Arc<SecretRedactor>,
        front_end: Option<&Arc<dyn FrontEnd>>,
    ) -> Self {
        let client = front_end.filter(|front_end| front_end.abilities().summarizes);
        let client =
            client.map(|front_end| Answerer::Client { front_end: Arc::clone(front_end), fallback: None });
        let answerer = match settings.summariser {
            SummariserKind::Extractive => Ok(Answerer::Nobody),
            SummariserKind::Client => {
                client.ok_or_else(|| "the client does not support `strata/summarize`".to_owned())
            }
            SummariserKind::Http => provider_answerer(trust, settings),
            SummariserKind::Auto => {
                let named = settings.model.as_ref();
                let provider =
                    named.map(|_| provider_answerer(trust, settings).and_then(Answerer::require_keys));
                match client {
                    Some(client) => Ok(client.with_fallback(provider.and_then(Result::ok))),
                    None => provider.unwrap_or(Ok(Answerer::Nobody)),
                }
            }
        };
        let (answerer, problem) =
            answerer.map_or_else(|reason| (Answerer::Nobody, Some(reason)), |answerer| (answerer, None));
        let topics =
            if settings.detection_model.is_some() { TopicDetection::Asked } else { TopicDetection::NotAsked };
        let name = settings.model.as_deref().unwrap_or_default();
        let summariser = match answerer {
            Answerer::Nobody => Summariser::Extractive,
            _ => Summariser::Model { window: models.resolve(name).model.max_input, topics },
        };
        Self {
            answerer,
            summariser,
            model: settings.model.clone(),
            detection_model: settings.detection_model.clone(),
            timeout: Duration::from_secs(settings.timeout_s),
            screen: Arc::clone(screen),
            problem,
        }
    }

    /// Returns who writes the summaries: a model, with its window, or Strata itself, which extracts them without a
    /// model.
    pub(crate) fn summarizer(&self) -> Summariser {
        self.summariser
    }

    /// Like `summariser`, for a conversation whose model accepts `window` tokens. If no model is configured,
    /// summaries use the conversation's model.
    pub(crate) fn summarizer_within(&self, window: Option<usize>) -> Summariser {
        match (self.summariser, &self.answerer, &self.model, window) {
            (Summariser::Model { topics, .. }, Answerer::Client { .. }, None, Some(window)) => {
                Summariser::Model { window, topics }
            }
            (summariser, ..) => summariser,
        }
    }

    /// Returns why no model writes the summaries although the settings require one, or `None` if there is no such
    /// problem.
    pub(crate) fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// Asks a question. Waits until there is an answer, the timeout expires, or `cancel` is raised.
    ///
    /// # Errors
    /// Returns the reason why there is no answer, as a clause.
    pub(crate) fn ask(
        &self,
        question: &SummarizerQuestion,
        cancel: &Cancel,
    ) -> Result<SummaryAnswer, String> {
        let system = self.screen.redact_text(&question.system).into_owned();
        let prompt = self.screen.redact_text(&question.prompt).into_owned();
        let answer = self.ask_screened(&SummarizerQuestion { system, prompt, ..question.clone() }, cancel)?;
        Ok(SummaryAnswer { text: self.screen.redact_text(&answer.text).into_owned(), ..answer })
    }

    fn ask_screened(&self, question: &SummarizerQuestion, cancel: &Cancel) -> Result<SummaryAnswer, String> {
        let model = match question.purpose {
            SummaryPurpose::FindTopic => &self.detection_model,
            SummaryPurpose::Summarise | SummaryPurpose::Merge => &self.model,
        };
        self.ask_answerer(&self.answerer, question, model.as_deref(), cancel)
    }

    fn ask_answerer(
        &self,
        answerer: &Answerer,
        question: &SummarizerQuestion,
        model: Option<&str>,
        cancel: &Cancel,
    ) -> Result<SummaryAnswer, String> {
        match answerer {
            Answerer::Nobody => Err("no model is available".to_owned()),
            Answerer::Client { front_end, fallback } => {
                let answer = self.ask_client(&**front_end, question, model, cancel);
                match (answer, fallback) {
                    (Err(problem), Some(fallback)) if !cancel.is_cancelled() => {
                        let answer = self.ask_answerer(fallback, question, model, cancel);
                        let answer =
                            answer.map_err(|fallback_problem| format!("{problem}; {fallback_problem}"))?;
                        Ok(SummaryAnswer { fell_back: Some(problem), ..answer })
                    }
                    (answer, _) => answer,
                }
            }
            Answerer::Provider { summaries, topics } => {
                let provider = match question.purpose {
                    SummaryPurpose::FindTopic => topics.as_ref().unwrap_or(summaries),
                    SummaryPurpose::Summarise | SummaryPurpose::Merge => summaries,
                };
                let request = summarise::SummaryQuestion {
                    system: question.system.clone(),
                    prompt: question.prompt.clone(),
                    max_output_tokens: question.max_tokens,
                };
                let text = provider.ask(&request, self.timeout, cancel).map_err(|error| error.to_string())?;
                let by = SummaryAuthor { kind: AuthorKind::Http, model: model.map(str::to_owned) };
                Ok(SummaryAnswer { text, by, fell_back: None })
            }
        }
    }

    fn ask_client(
        &self,
        front_end: &dyn FrontEnd,
        question: &SummarizerQuestion,
        model: Option<&str>,
        cancel: &Cancel,
    ) -> Result<SummaryAnswer, String> {
        let SummarizerQuestion { purpose, system, prompt, max_tokens } = question.clone();
        let params = Summarize { purpose, system, prompt, max_tokens, model: model.map(str::to_owned) };
        let (answer, wait) = channel();
        front_end.summarize(params, self.timeout, answer).map_err(|gone| gone.to_string())?;
        let Summary { text, model: used_model } = wait_for_answer(&wait, self.timeout, cancel)?;
        let used_model = used_model.map(|name| name.chars().take(MAX_MODEL_NAME).collect());
        let model = used_model.or_else(|| model.map(str::to_owned));
        let by = SummaryAuthor { kind: AuthorKind::Client, model };
        Ok(SummaryAnswer { text, by, fell_back: None })
    }
}

/// Waits for the client's answer until the timeout expires or `cancel` is raised.
///
/// # Errors
/// Returns the reason why there is no answer, as a clause.
pub(crate) fn wait_for_answer<T>(
    wait: &Receiver<Result<T, String>>,
    timeout: Duration,
    cancel: &Cancel,
) -> Result<T, String> {
    let started = Instant::now();
    loop {
        match wait.recv_timeout(CANCEL_CHECK_INTERVAL) {
            Ok(answer) => return answer,
            Err(RecvTimeoutError::Disconnected) => return Err(ClientGone.to_string()),
            Err(RecvTimeoutError::Timeout) if cancel.is_cancelled() => return Err("cancelled".to_owned()),
            // The sender has its own timeout. This one covers a client whose connection does not even accept the
            // question.
            Err(RecvTimeoutError::Timeout) if started.elapsed() > timeout + CANCEL_CHECK_INTERVAL => {
                return Err(format!("the client did not answer within {} s", timeout.as_secs_f64()));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

impl Answerer {
    /// Adds a provider as the fallback of a client.
    fn with_fallback(self, provider: Option<Self>) -> Self {
        match self {
            Self::Client { front_end, .. } => Self::Client { front_end, fallback: provider.map(Box::new) },
            answerer => answerer,
        }
    }

    /// Returns the provider if its keys are available, or else the reason why it cannot be used.
    fn require_keys(self) -> Result<Self, String> {
        if let Self::Provider { summaries, topics } = &self {
            for provider in std::iter::once(summaries).chain(topics) {
                provider.check_configuration().map_err(|error| error.to_string())?;
            }
        }
        Ok(self)
    }
}

fn provider_answerer(trust: Trust, settings: &CompactionSettings) -> Result<Answerer, String> {
    if trust == Trust::Untrusted {
        return Err("the workspace is not trusted, so no provider is asked".to_owned());
    }
    let provider = |model: &str| -> Result<Provider, String> {
        let provider =
            Provider::for_model(model, settings.base_url.clone()).map_err(|error| error.to_string())?;
        let key = settings.key_env.clone().map_or(KeySource::Usual, KeySource::Variable);
        Ok(Provider { key, ..provider })
    };
    let model = settings.model.as_deref().ok_or("no model is set; set compaction.model")?;
    let topics = settings.detection_model.as_deref().map(provider).transpose()?;
    Ok(Answerer::Provider { summaries: provider(model)?, topics })
}
