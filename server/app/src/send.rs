//! Asks a model one question: assembles a prompt, sends it, runs the read-only tools that the model calls, records the
//! answer with its usage, and compacts and retries if the prompt was too long. Each step is an ordinary command, so
//! other commands can use the session between steps. Also forwards conversations that a client keeps (`forward`).

mod answer;
mod connection;
mod forward;
mod model_client;
mod page;
#[cfg(test)]
mod tests;
mod tool_round;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use strata_engine::cancel::Cancel;
use strata_engine::conversation::history::Outcome;
use strata_engine::conversation::reply::{ContextSize, ProviderErrorKind, Reply};
use strata_engine::prompt::settings::Settings;
use strata_engine::tokens::cost::Charge;
use strata_engine::tokens::redaction::RestoredText;
use strata_host::provider::{SendError, Sent};

use crate::commands::CommandError;
use crate::format::grouped;
use crate::snapshot::Snapshot;
use crate::tools::ToolHost;

use answer::{Audience, ended};
use tool_round::Asked;

pub(crate) use answer::{SendEnd, SendReply};
pub(crate) use connection::Connection;
pub(crate) use forward::ForwardJob;
pub(crate) use forward::ModelReply;
pub(crate) use model_client::ProviderClient;
pub use model_client::ProviderReport;
pub(crate) use page::AnswerPage;

/// A piece of an answer that is being written. Has exactly one of `text`, `thinking`, `toolCall`, `toolResult` and
/// `notice`.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Delta {
    /// Name that the client chose for the stream.
    pub stream: String,
    /// Id of the session that the answer belongs to.
    pub session: String,
    /// Next piece of text. With `redaction.show_secrets`, known secrets are restored in answers of `strata.prompt.send`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub text: Option<RestoredText>,
    /// Next piece of reasoning, if the provider shows it. Secrets as in `text`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub thinking: Option<RestoredText>,
    /// Tool call that the model made. Known secrets are restored only in answers of `strata.model.send`, and only in
    /// calls of the tools in `redaction.edit_tools`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call: Option<DeltaToolCall>,
    /// Result of a tool call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool_result: Option<DeltaToolResult>,
    /// Note for the user, as a sentence. For example, the prompt was too long and is sent again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

/// A tool call that the model made.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DeltaToolCall {
    /// Id of the call in the conversation.
    pub id: String,
    /// Name of the tool.
    pub name: String,
    /// Arguments of the call.
    pub input: Value,
}

/// The result of a tool call that the model made.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct DeltaToolResult {
    /// Id of the call in the conversation.
    pub id: String,
    /// Name of the tool.
    pub name: String,
    /// Whether the call succeeded or failed.
    pub outcome: Outcome,
    /// Result that the model receives, truncated to 2,000 characters.
    pub text: String,
}

impl Delta {
    /// Creates a delta without content.
    fn of(stream: &str, session: &str) -> Self {
        Self { stream: stream.to_owned(), session: session.to_owned(), ..Self::default() }
    }
}

/// Returns whether the settings name a provider. Does not check whether its key is available.
pub fn is_configured(settings: &Settings) -> bool {
    ProviderClient::of(settings, None).is_ok()
}

/// Runs the commands that a question to a model requires, and shows the answer.
pub trait SendHost: ToolHost {
    /// Shows a piece of the answer.
    fn show(&mut self, delta: Delta);

    /// Reports what the question is waiting for.
    fn progress(&mut self, message: &str);
}

/// A job that sends a request to a model and waits for the answer.
pub trait ModelJob: std::fmt::Debug + Send + Sync {
    fn session(&self) -> &str;

    /// Returns whether the request continues the session's conversation, so that no other request may run in the
    /// session.
    fn occupies_session(&self) -> bool;

    /// Returns whether the answer is shown only when it is complete.
    fn is_silent(&self) -> bool;

    /// Sends the request, waits for the answer on this thread, and returns the reply to the command that started the
    /// job. If `cancel` is raised, keeps the partial answer.
    ///
    /// # Errors
    /// Returns a [`CommandError`] if there is no answer.
    fn answer(&self, host: &mut dyn SendHost, cancel: &Cancel) -> Result<Value, CommandError>;
}

/// The tools that the model may use while it answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "SendTools")]
pub(crate) enum ToolAccess {
    /// No tools.
    #[default]
    None,
    /// Strata's read-only tools, such as the map, outlines, references, searches, files and notes.
    Read,
}

/// One question to a model, including its rounds of tool calls.
#[derive(Clone, Debug)]
pub(crate) struct SendJob {
    pub(crate) connection: Connection,
    /// Arguments for `strata.prompt.assemble`.
    pub(crate) ask: Map<String, Value>,
    pub(crate) tools: ToolAccess,
    pub(crate) tool_rounds: u32,
    /// Document to write the answer to, for editors that cannot show replies.
    pub(crate) page: Option<AnswerPage>,
}

/// The workspace data that a request to a model needs besides the replies to commands.
#[derive(Clone)]
pub(crate) struct SnapshotParts(Snapshot);

impl std::fmt::Debug for SnapshotParts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Snapshot")
    }
}

impl SnapshotParts {
    pub(crate) fn of(snapshot: &Snapshot) -> Self {
        Self(snapshot.clone())
    }
}

/// The fields used from the reply to `strata.prompt.assemble`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Prompt {
    id: String,
    model: String,
    body: Value,
    predicted: Charge,
    tokens: PromptTokens,
    shed: Vec<String>,
    warnings: Vec<PromptWarning>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PromptTokens {
    output_reserve: usize,
}

#[derive(Deserialize)]
struct PromptWarning {
    message: String,
}

/// The fields used from the reply to `strata.prompt.record`.
#[derive(Deserialize)]
struct Recorded {
    warnings: Vec<String>,
}

const COMPACTED: &str =
    "the model rejected the prompt as too long; the conversation was compacted and the prompt sent again";

impl ModelJob for SendJob {
    fn session(&self) -> &str {
        &self.connection.session
    }

    fn occupies_session(&self) -> bool {
        true
    }

    fn is_silent(&self) -> bool {
        self.page.is_some()
    }

    /// Returns the answer, or the location of the document that the answer was written to.
    fn answer(&self, host: &mut dyn SendHost, cancel: &Cancel) -> Result<Value, CommandError> {
        let sent = self.run(host, cancel)?;
        match &self.page {
            Some(page) => page.write(&sent),
            None => serde_json::to_value(sent).map_err(|error| CommandError::failed(error.to_string())),
        }
    }
}

impl SendJob {
    fn run(&self, host: &mut dyn SendHost, cancel: &Cancel) -> Result<SendReply, CommandError> {
        let mut reply = SendReply::of(&self.connection.session);
        match self.carry(&mut reply, host, cancel) {
            Err(_) if cancel.is_cancelled() => reply.end = SendEnd::Cancelled,
            Err(error) if reply.requests == 0 => return Err(error),
            // The answers so far have been recorded and billed, so report them together with the error.
            Err(error) => (reply.end, reply.error) = (SendEnd::Failed, Some(error.to_string())),
            Ok(end) => reply.end = end,
        }
        Ok(reply)
    }

    fn carry(
        &self,
        reply: &mut SendReply,
        host: &mut dyn SendHost,
        cancel: &Cancel,
    ) -> Result<SendEnd, CommandError> {
        let mut asked = Asked::Question;
        loop {
            cancel.check()?;
            host.progress("assembling the prompt");
            let Prompt { id, model, body, predicted, tokens, shed, warnings } =
                self.assemble(&asked, host)?;
            reply.warn(warnings.into_iter().map(|warning| warning.message));
            reply.shed(shed);
            host.progress(&format!("waiting for {model}"));
            let (sent, said) =
                self.connection.send(body, tokens.output_reserve, Audience::User, host, cancel);
            reply.say(&said);
            reply.model.clone_from(&model);
            let Sent { reply: answer, broken } = match sent {
                Ok(sent) => sent,
                Err(error) if is_context_limit(&error) => {
                    let recorded = host.run("strata.prompt.record", rejection(&id, &error));
                    recorded.map_err(|again| again.after(&error.to_string()))?;
                    reply.warn([COMPACTED.to_owned()]);
                    self.connection.show(host, |delta| Delta { notice: Some(COMPACTED.to_owned()), ..delta });
                    continue;
                }
                Err(error) => {
                    host.run("strata.prompt.discard", json!({ "id": id }))?;
                    return Err(failure(&error));
                }
            };
            let is_whole = broken.is_none();
            let recorded = host.run("strata.prompt.record", recording(&id, &answer, is_whole))?;
            reply.warn(understood::<Recorded>(recorded)?.warnings);
            reply.warn(answer.usage.and_then(|usage| truncation(usage.input_tokens(), predicted.total())));
            reply.bill(answer.usage, predicted, &self.connection.prices(&model));
            let (end, error) = ended(&answer, broken, cancel);
            reply.error = error;
            if end != SendEnd::ToolCalls || self.tools == ToolAccess::None {
                return Ok(end);
            }
            let calls = tool_round::calls(&answer.content);
            if reply.rounds >= self.tool_rounds {
                let most = self.tool_rounds;
                reply.warn([format!(
                    "the model requested more than {most} rounds of tool calls (`provider.tool_rounds`)"
                )]);
                return Ok(SendEnd::ToolRounds);
            }
            reply.rounds += 1;
            asked = Asked::Results(self.answer_calls(&calls, reply, host, cancel)?);
        }
    }

    fn assemble(&self, asked: &Asked, host: &mut dyn SendHost) -> Result<Prompt, CommandError> {
        let mut arguments = self.ask.clone();
        if let Asked::Results(results) = asked {
            arguments.shift_remove("prompt");
            arguments.shift_remove("images");
            arguments.insert("toolResults".to_owned(), results.clone());
        }
        if self.tools == ToolAccess::Read {
            arguments.insert("tools".to_owned(), tool_round::declarations().clone());
        }
        understood(host.run("strata.prompt.assemble", arguments.into())?)
    }
}

/// Returns a warning if the model read much less than was sent. Ollama drops the beginning of a prompt that exceeds its
/// window, without an error: <https://github.com/ollama/ollama/issues/17889>.
fn truncation(read: usize, sent: usize) -> Option<String> {
    let is_cut = sent > SMALLEST_WINDOW && read > 0 && read < sent / 10 * CUT_TENTHS;
    is_cut.then(|| {
        format!(
            "the model read only {} of about {} tokens, because its server's window is smaller: enlarge the window (with \
             Ollama, OLLAMA_CONTEXT_LENGTH), or set the model's `max_input` in `models`",
            grouped(read),
            grouped(sent)
        )
    })
}

/// Smallest window of a local server, in tokens.
const SMALLEST_WINDOW: usize = 2_048;

/// Tenths of the estimated tokens below which the reported tokens mean that the prompt was cut. Estimates are closer.
const CUT_TENTHS: usize = 6;

/// Builds the arguments of `strata.prompt.record` for a complete or partial answer.
fn recording(id: &str, answer: &Reply, is_whole: bool) -> Value {
    let status = if is_whole { "complete" } else { "aborted" };
    json!({ "id": id, "status": status, "response": answer.content, "usage": answer.usage })
}

/// Builds the arguments of `strata.prompt.record` for a prompt that the provider rejected as too long.
fn rejection(id: &str, error: &SendError) -> Value {
    let size = match error {
        SendError::Provider { error, .. } => error.size,
        _ => ContextSize::default(),
    };
    json!({ "id": id, "error": "context_limit", "limit": size.limit, "requested": size.requested })
}

fn is_context_limit(error: &SendError) -> bool {
    matches!(error, SendError::Provider { error, .. } if error.kind == ProviderErrorKind::ContextLimit)
}

fn failure(error: &SendError) -> CommandError {
    let kind = match error {
        SendError::Provider { error, .. } => match error.kind {
            ProviderErrorKind::Authentication => "authentication",
            ProviderErrorKind::RateLimit => "rateLimit",
            ProviderErrorKind::Quota => "quota",
            ProviderErrorKind::Overloaded => "overloaded",
            ProviderErrorKind::ContextLimit => "contextLimit",
            ProviderErrorKind::Content => "content",
            ProviderErrorKind::Refused
            | ProviderErrorKind::Incomplete
            | ProviderErrorKind::Server
            | ProviderErrorKind::Garbage => "provider",
        },
        SendError::NoKey { .. } => "noKey",
        SendError::Cancelled => return CommandError::Cancelled,
        _ => "unreachable",
    };
    CommandError::Failed { message: message(error), data: Some(json!({ "kind": kind })) }
}

/// Describes an error, and names the setting that caused it, if any.
fn message(error: &SendError) -> String {
    match error {
        SendError::Timeout { .. } => format!("{error} (`provider.timeout_s`)"),
        SendError::Stalled { .. } => format!("{error} (`provider.stall_s`)"),
        _ => error.to_string(),
    }
}

fn understood<T: serde::de::DeserializeOwned>(reply: Value) -> Result<T, CommandError> {
    serde_json::from_value(reply).map_err(|error| {
        tracing::error!(%error, "a command returned an unexpected reply");
        CommandError::Internal
    })
}
