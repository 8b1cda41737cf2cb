//! What the server says unasked: the meter, warnings, progress, and the few things it asks of the client. One
//! task says it all in order, so that a client sees things in the order they happened. It never waits for an
//! answer in line with the rest.

use std::sync::mpsc::Sender;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tower_lsp::Client;
use tower_lsp::ls_types::notification::{Notification, Progress};
use tower_lsp::ls_types::request::WorkDoneProgressCreate;
use tower_lsp::ls_types::{
    ConfigurationItem, MessageType, NumberOrString, ProgressParams, ProgressParamsValue, Registration,
    WorkDoneProgress, WorkDoneProgressBegin, WorkDoneProgressCreateParams, WorkDoneProgressEnd,
    WorkDoneProgressReport,
};

use crate::mail::Mail;

/// How long the client may take to answer one of our requests.
const PATIENCE: Duration = Duration::from_secs(10);

/// Something to be said.
#[derive(Debug)]
pub enum Outgoing {
    /// The context meter: `strata/status`.
    Status(Value),
    /// Something the person should know: `strata/warning`, and a line in the client's log.
    Warning(Value, String),
    /// Progress of the index run of this number begins.
    Begin(u64),
    /// So much of it is done.
    Report(u64, usize, usize),
    /// It ended.
    End(u64, String),
    /// Ask for the settings; they come back as mail.
    AskSettings,
    /// Ask the client to watch files.
    WatchFiles,
}

/// `strata/status`.
#[derive(Debug)]
enum StatusNotification {}

impl Notification for StatusNotification {
    type Params = Value;
    const METHOD: &'static str = "strata/status";
}

/// `strata/warning`.
#[derive(Debug)]
enum WarningNotification {}

impl Notification for WarningNotification {
    type Params = Value;
    const METHOD: &'static str = "strata/warning";
}

/// Starts the task that speaks to `client`. It ends when the last sender is dropped.
pub fn start(client: Client, mail: Sender<Mail>) -> UnboundedSender<Outgoing> {
    let (sender, receiver) = unbounded_channel();
    tokio::spawn(speak(client, mail, receiver));
    sender
}

/// The name under which the progress of an index run is shown.
pub fn progress_token(run: u64) -> NumberOrString {
    NumberOrString::String(format!("strata/index/{run}"))
}

async fn speak(client: Client, mail: Sender<Mail>, mut outgoing: UnboundedReceiver<Outgoing>) {
    // The index run whose progress the client agreed to show.
    let mut shown = None;
    while let Some(next) = outgoing.recv().await {
        match next {
            Outgoing::Status(status) => client.send_notification::<StatusNotification>(status).await,
            Outgoing::Warning(warning, message) => {
                client.send_notification::<WarningNotification>(warning).await;
                client.log_message(MessageType::WARNING, message).await;
            }
            Outgoing::Begin(run) => {
                // The token must be the client's before it is used; everything else can wait that long.
                let params = WorkDoneProgressCreateParams { token: progress_token(run) };
                let created = client.send_request::<WorkDoneProgressCreate>(params);
                if let Ok(Ok(())) = tokio::time::timeout(PATIENCE, created).await {
                    shown = Some(run);
                    let begin = WorkDoneProgressBegin {
                        title: "Indexing".to_owned(),
                        cancellable: Some(true),
                        message: None,
                        percentage: Some(0),
                    };
                    progress(&client, run, WorkDoneProgress::Begin(begin)).await;
                }
            }
            Outgoing::Report(run, done, total) if shown == Some(run) => {
                let percentage =
                    (done * 100).checked_div(total).and_then(|percent| u32::try_from(percent).ok());
                let message = Some(format!("{done}/{total} files"));
                let report = WorkDoneProgressReport { cancellable: Some(true), message, percentage };
                progress(&client, run, WorkDoneProgress::Report(report)).await;
            }
            Outgoing::End(run, message) if shown == Some(run) => {
                let end = WorkDoneProgressEnd { message: Some(message) };
                progress(&client, run, WorkDoneProgress::End(end)).await;
            }
            Outgoing::Report(..) | Outgoing::End(..) => {}
            Outgoing::AskSettings => {
                tokio::spawn(ask_settings(client.clone(), mail.clone()));
            }
            Outgoing::WatchFiles => {
                tokio::spawn(watch_files(client.clone()));
            }
        }
    }
}

async fn progress(client: &Client, run: u64, value: WorkDoneProgress) {
    let value = ProgressParamsValue::WorkDone(value);
    client.send_notification::<Progress>(ProgressParams { token: progress_token(run), value }).await;
}

async fn ask_settings(client: Client, mail: Sender<Mail>) {
    let item = ConfigurationItem { scope_uri: None, section: Some("strata".to_owned()) };
    match tokio::time::timeout(PATIENCE, client.configuration(vec![item])).await {
        Ok(Ok(mut answers)) if !answers.is_empty() => {
            // The loop may have ended meanwhile; then nobody needs the settings.
            let _ = mail.send(Mail::Settings(answers.swap_remove(0)));
        }
        Ok(Ok(_)) => tracing::warn!("the client answered workspace/configuration with an empty list"),
        Ok(Err(error)) => tracing::warn!(%error, "the client does not tell its settings"),
        Err(_) => tracing::warn!("the client did not tell its settings in time"),
    }
}

async fn watch_files(client: Client) {
    let registration = Registration {
        id: "strata/watch".to_owned(),
        method: "workspace/didChangeWatchedFiles".to_owned(),
        register_options: Some(json!({ "watchers": [{ "globPattern": "**/*" }] })),
    };
    match tokio::time::timeout(PATIENCE, client.register_capability(vec![registration])).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!(%error, "the client does not watch files"),
        Err(_) => tracing::warn!("the client did not answer client/registerCapability in time"),
    }
}
