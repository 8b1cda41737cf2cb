//! Sends the server's own messages: the meter, warnings, progress, and requests to the client. A single task sends them
//! in order and never blocks on an answer.

use std::collections::BTreeSet;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use strata_app::commands::CommandError;
use strata_app::jobs::send::Delta;
use strata_app::model::meter::ContextStatus;
use strata_app::runtime::session_runtime::{ProgressToken, ReplySender, TrackedWork};
use strata_app::services::compaction_notice::CompactionNotice;
use strata_app::services::front_end::{
    ClientAbilities, ClientGone, CountTokens, FrontEnd, Summarize, Summary, Warning,
};
use strata_base::external::ExternalText;
use strata_prompt::settings::LspFeature;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tower_lsp::Client;
use tower_lsp::jsonrpc::ErrorCode;
use tower_lsp::ls_types::notification::{Notification, Progress};
use tower_lsp::ls_types::request::{Request, WorkDoneProgressCreate};
use tower_lsp::ls_types::{
    ConfigurationItem, MessageType, ProgressParams, ProgressParamsValue, Registration, ShowDocumentParams,
    Unregistration, Uri, WorkDoneProgress, WorkDoneProgressBegin, WorkDoneProgressCreateParams,
    WorkDoneProgressEnd, WorkDoneProgressReport,
};

use crate::client_requests::{CountTokensRequest, SummarizeRequest};
use crate::event::Event;
use crate::navigation::{feature_method, registration_options};
use crate::progress_token;

/// Maximum time for the client to answer a request from the server.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(crate) enum OutboundMessage {
    /// The context meter (`strata/status`). Sends whatever reading is newest at the time of sending.
    Status(UnsentStatus),
    /// A warning for the user (`strata/warning`), which is also written to the client's log.
    Warning(Warning),
    /// A compaction began, ended or failed (`strata/compaction`).
    Compaction(Box<CompactionNotice>),
    /// A piece of a model's answer (`strata/delta`).
    Delta(Box<Delta>),
    /// The reply to a command. Sent after all messages that were queued before it.
    Reply(ReplySender, Result<Value, CommandError>),
    /// Progress under a token that the client provided.
    Progress(ProgressToken, WorkDoneProgress),
    /// A message to show to the user (`window/showMessage`).
    Message(MessageType, String),
    /// Opens a document in the client (`window/showDocument`). If the client does not open it, shows the message
    /// `fallback`.
    Document {
        uri: Uri,
        fallback: String,
    },
    /// Asks the client to refresh its code lenses.
    RefreshLenses,
    /// Starts showing progress for this work.
    Begin(TrackedWork),
    /// Reports progress as the numbers of finished files and of all files.
    Report(TrackedWork, usize, usize),
    End(TrackedWork, String),
    /// Asks the client for a summary (`strata/summarize`).
    Summarize {
        params: Summarize,
        /// Maximum time to wait for the answer.
        patience: Duration,
        /// Receives the summary, or the reason why there is none.
        answer: Sender<Result<Summary, String>>,
    },
    /// Asks the client for the token count of a request, as counted by the provider (`strata/countTokens`).
    CountTokens {
        params: CountTokens,
        /// Maximum time to wait for the answer.
        patience: Duration,
        /// Receives the count, or the reason why there is none.
        answer: Sender<Result<usize, String>>,
    },
    /// Asks the client for its settings. The answer becomes an event with this number.
    RequestSettings(u64),
    /// Asks the client to watch files.
    WatchFiles,
    /// Registers a feature dynamically under this number.
    Register(LspFeature, u64),
    Unregister(LspFeature, u64),
}

/// The latest meter reading that has not been sent yet. A newer reading replaces it, so that readings do not pile up if
/// the client is slow to read.
#[derive(Clone, Debug, Default)]
pub(crate) struct UnsentStatus(Arc<Mutex<Option<ContextStatus>>>);

impl UnsentStatus {
    /// Stores a new reading. Returns the reading that it replaces, if that one has not been sent.
    pub(crate) fn replace(&self, status: ContextStatus) -> Option<ContextStatus> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).replace(status)
    }

    pub(crate) fn take(&self) -> Option<ContextStatus> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// The interface through which the application sends messages and requests to the LSP client.
#[derive(Debug)]
pub(crate) struct LspFrontEnd {
    outbound: UnboundedSender<OutboundMessage>,
    /// The client's abilities. Empty until the client has sent `initialize`.
    abilities: Mutex<ClientAbilities>,
}

impl LspFrontEnd {
    pub(crate) fn new(outbound: UnboundedSender<OutboundMessage>) -> Self {
        Self { outbound, abilities: Mutex::default() }
    }

    pub(crate) fn set_abilities(&self, abilities: ClientAbilities) {
        *self.abilities.lock().unwrap_or_else(PoisonError::into_inner) = abilities;
    }

    fn send(&self, outbound: OutboundMessage) -> Result<(), ClientGone> {
        self.outbound.send(outbound).map_err(|_| ClientGone)
    }
}

impl FrontEnd for LspFrontEnd {
    fn abilities(&self) -> ClientAbilities {
        *self.abilities.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn warn(&self, warning: Warning) {
        // The sending task ends with the connection, so the message can no longer be delivered.
        let _ = self.send(OutboundMessage::Warning(warning));
    }

    fn notify_compaction(&self, notice: CompactionNotice) {
        let _ = self.send(OutboundMessage::Compaction(Box::new(notice)));
    }

    fn summarize(
        &self,
        params: Summarize,
        patience: Duration,
        answer: Sender<Result<Summary, String>>,
    ) -> Result<(), ClientGone> {
        self.send(OutboundMessage::Summarize { params, patience, answer })
    }

    fn count_tokens(
        &self,
        params: CountTokens,
        patience: Duration,
        answer: Sender<Result<usize, String>>,
    ) -> Result<(), ClientGone> {
        self.send(OutboundMessage::CountTokens { params, patience, answer })
    }
}

#[derive(Debug)]
pub(crate) enum CompactionNotification {}

impl Notification for CompactionNotification {
    type Params = CompactionNotice;
    const METHOD: &'static str = "strata/compaction";
}

#[derive(Debug)]
pub(crate) enum DeltaNotification {}

impl Notification for DeltaNotification {
    type Params = Delta;
    const METHOD: &'static str = "strata/delta";
}

#[derive(Debug)]
pub(crate) enum StatusNotification {}

impl Notification for StatusNotification {
    type Params = ContextStatus;
    const METHOD: &'static str = "strata/status";
}

#[derive(Debug)]
pub(crate) enum WarningNotification {}

impl Notification for WarningNotification {
    type Params = Warning;
    const METHOD: &'static str = "strata/warning";
}

/// Starts the task that sends messages to `client`. The task ends when the last sender is dropped.
pub(crate) fn start_sender_task(client: Client, events: Sender<Event>) -> UnboundedSender<OutboundMessage> {
    let (sender, receiver) = unbounded_channel();
    tokio::spawn(send_all(client, events, receiver));
    sender
}

async fn send_all(client: Client, events: Sender<Event>, mut outbound: UnboundedReceiver<OutboundMessage>) {
    // Work whose progress the client agreed to show.
    let mut visible_work = BTreeSet::new();
    while let Some(next) = outbound.recv().await {
        match next {
            OutboundMessage::Status(newest) => {
                if let Some(status) = newest.take() {
                    client.send_notification::<StatusNotification>(status).await;
                }
            }
            OutboundMessage::Warning(Warning { code, message, path }) => {
                let message = render_notice(&message);
                let warning = Warning { code, message: message.clone(), path };
                client.send_notification::<WarningNotification>(warning).await;
                client.log_message(MessageType::WARNING, message).await;
            }
            OutboundMessage::Compaction(notice) => {
                client.send_notification::<CompactionNotification>(*notice).await;
            }
            OutboundMessage::Delta(delta) => client.send_notification::<DeltaNotification>(*delta).await,
            OutboundMessage::Reply(reply, result) => reply.send(result),
            OutboundMessage::Progress(token, value) => send_progress(&client, token, value).await,
            OutboundMessage::Message(kind, message) => {
                client.show_message(kind, render_notice(&message)).await;
            }
            OutboundMessage::Document { uri, fallback } => {
                tokio::spawn(show_document(client.clone(), uri, render_notice(&fallback)));
            }
            OutboundMessage::RefreshLenses => {
                tokio::spawn(refresh_lenses(client.clone()));
            }
            OutboundMessage::Summarize { params, patience, answer } => {
                tokio::spawn(summarize(client.clone(), params, patience, answer));
            }
            OutboundMessage::CountTokens { params, patience, answer } => {
                tokio::spawn(count_tokens(client.clone(), params, patience, answer));
            }
            OutboundMessage::Begin(work) => {
                // The client must know the token before it is used. Later messages wait for this.
                let params = WorkDoneProgressCreateParams { token: progress_token::to_lsp(work.token()) };
                let creation = client.send_request::<WorkDoneProgressCreate>(params);
                if let Ok(Ok(())) = tokio::time::timeout(ANSWER_TIMEOUT, creation).await {
                    visible_work.insert(work);
                    let begin = WorkDoneProgressBegin {
                        title: work.title().to_owned(),
                        cancellable: Some(true),
                        message: None,
                        percentage: matches!(work, TrackedWork::Indexing(_)).then_some(0),
                    };
                    send_progress(&client, work.token(), WorkDoneProgress::Begin(begin)).await;
                }
            }
            OutboundMessage::Report(work, done, total) if visible_work.contains(&work) => {
                let percentage =
                    (done * 100).checked_div(total).and_then(|percent| u32::try_from(percent).ok());
                let message = Some(format!("{done}/{total} files"));
                let report = WorkDoneProgressReport { cancellable: Some(true), message, percentage };
                send_progress(&client, work.token(), WorkDoneProgress::Report(report)).await;
            }
            OutboundMessage::End(work, message) if visible_work.remove(&work) => {
                let end = WorkDoneProgressEnd { message: Some(render_notice(&message)) };
                send_progress(&client, work.token(), WorkDoneProgress::End(end)).await;
            }
            OutboundMessage::Report(..) | OutboundMessage::End(..) => {}
            OutboundMessage::RequestSettings(request_number) => {
                tokio::spawn(request_settings(client.clone(), events.clone(), request_number));
            }
            OutboundMessage::WatchFiles => {
                tokio::spawn(watch_files(client.clone(), events.clone()));
            }
            OutboundMessage::Register(feature, number) => {
                tokio::spawn(register(client.clone(), feature, number));
            }
            OutboundMessage::Unregister(feature, number) => {
                tokio::spawn(unregister(client.clone(), feature, number));
            }
        }
    }
}

/// Renders a message for the user. It may name files, whose names may imitate links to commands of the editor.
pub(crate) fn render_notice(message: &str) -> String {
    ExternalText::new(message).notice().to_string()
}

async fn send_progress(client: &Client, token: ProgressToken, value: WorkDoneProgress) {
    let (token, value) = (progress_token::to_lsp(token), ProgressParamsValue::WorkDone(value));
    client.send_notification::<Progress>(ProgressParams { token, value }).await;
}

/// Sends a request and awaits the client's answer, or returns the reason why there is none. `expected_answer` describes the
/// expected answer.
async fn request_answer<R: Request>(
    client: &Client,
    params: R::Params,
    patience: Duration,
    expected_answer: &str,
) -> Result<R::Result, String> {
    let method = R::METHOD;
    match tokio::time::timeout(patience, client.send_request::<R>(params)).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) if error.code == ErrorCode::ParseError => {
            Err(format!("the client answered {method} without {expected_answer}"))
        }
        Ok(Err(error)) => Err(format!("the client answered {method} with an error: {error}")),
        Err(_) => Err(format!("the client did not answer within {} s", patience.as_secs_f64())),
    }
}

async fn summarize(
    client: Client,
    params: Summarize,
    patience: Duration,
    answer: Sender<Result<Summary, String>>,
) {
    let summary = request_answer::<SummarizeRequest>(&client, params, patience, "text").await;
    // The receiver is gone if the compaction was cancelled.
    let _ = answer.send(summary);
}

async fn count_tokens(
    client: Client,
    params: CountTokens,
    patience: Duration,
    answer: Sender<Result<usize, String>>,
) {
    let count = request_answer::<CountTokensRequest>(&client, params, patience, "a number").await;
    let counted = count.map(usize::from).and_then(|count| match count {
        0 => Err(format!("the client answered {} with 0 tokens", CountTokensRequest::METHOD)),
        count => Ok(count),
    });
    // The receiver is gone if the command was cancelled.
    let _ = answer.send(counted);
}

async fn show_document(client: Client, uri: Uri, fallback: String) {
    let params = ShowDocumentParams { uri, external: Some(false), take_focus: Some(true), selection: None };
    match tokio::time::timeout(ANSWER_TIMEOUT, client.show_document(params)).await {
        Ok(Ok(true)) => {}
        _ => client.show_message(MessageType::INFO, fallback).await,
    }
}

async fn refresh_lenses(client: Client) {
    if let Ok(Err(error)) = tokio::time::timeout(ANSWER_TIMEOUT, client.code_lens_refresh()).await {
        tracing::warn!(%error, "the client does not refresh code lenses");
    }
}

async fn request_settings(client: Client, events: Sender<Event>, request_number: u64) {
    let item = ConfigurationItem { scope_uri: None, section: Some("strata".to_owned()) };
    match tokio::time::timeout(ANSWER_TIMEOUT, client.configuration(vec![item])).await {
        Ok(Ok(mut answers)) if !answers.is_empty() => {
            // Sending fails only if the main loop has ended.
            let _ = events.send(Event::Settings(request_number, answers.swap_remove(0)));
        }
        Ok(Ok(_)) => tracing::warn!("the client answered workspace/configuration with an empty list"),
        Ok(Err(error)) => tracing::warn!(%error, "the client rejected the request for its settings"),
        Err(_) => tracing::warn!("the client did not send its settings in time"),
    }
}

async fn register(client: Client, feature: LspFeature, number: u64) {
    let method = feature_method(feature);
    let registration = Registration {
        id: registration_id(feature, number),
        method: method.to_owned(),
        register_options: registration_options(feature),
    };
    match tokio::time::timeout(ANSWER_TIMEOUT, client.register_capability(vec![registration])).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!(%error, method, "the client rejected the registration"),
        Err(_) => tracing::warn!(method, "the client did not answer client/registerCapability in time"),
    }
}

async fn unregister(client: Client, feature: LspFeature, number: u64) {
    let unregistration =
        Unregistration { id: registration_id(feature, number), method: feature_method(feature).to_owned() };
    match tokio::time::timeout(ANSWER_TIMEOUT, client.unregister_capability(vec![unregistration])).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!(%error, "the client rejected the unregistration of a feature"),
        Err(_) => tracing::warn!("the client did not answer client/unregisterCapability in time"),
    }
}

fn registration_id(feature: LspFeature, number: u64) -> String {
    format!("strata/{}/{number}", feature_method(feature))
}

async fn watch_files(client: Client, events: Sender<Event>) {
    let registration = Registration {
        id: "strata/watch".to_owned(),
        method: "workspace/didChangeWatchedFiles".to_owned(),
        register_options: Some(json!({ "watchers": [{ "globPattern": "**/*" }] })),
    };
    match tokio::time::timeout(ANSWER_TIMEOUT, client.register_capability(vec![registration])).await {
        Ok(Ok(())) => return,
        Ok(Err(error)) => tracing::warn!(%error, "the client refused to watch files"),
        Err(_) => tracing::warn!("the client did not answer client/registerCapability in time"),
    }
    // Sending fails only if the main loop has ended.
    let _ = events.send(Event::ClientCannotWatch);
}
