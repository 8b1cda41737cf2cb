//! Asks a model one question: assembles a prompt, sends it, runs the read-only tools that the model calls, records the
//! answer with its usage, and compacts and retries if the prompt was too long. Each step is an ordinary command, so
//! other commands can use the session between steps. Also forwards conversations that a client keeps (`forward`).

mod connection;
mod delta;
mod ended;
mod forward;
mod host;
mod page;
mod request;
mod stream;
#[cfg(test)]
mod tests;
mod tool_round;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use strata_engine::cancel::Cancel;
use strata_engine::conversation::reply::{ContextSize, ProviderErrorKind, Reply};
use strata_engine::tokens::cost::Charge;
use strata_host::provider::{SendError, Sent};

use crate::commands::{CommandError, ModelJob, SendEnd, SendJob, SendReply, ToolAccess};
use crate::format::grouped;

use connection::{prices, show};
use ended::ended;
use request::send;
use stream::Audience;
use tool_round::Asked;

pub use delta::{Delta, DeltaToolCall};
pub use host::SendHost;

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
    window: usize,
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

impl ModelJob {
    /// Sends the request, waits for the answer on this thread, and returns the reply to the command that started the
    /// job. If `cancel` is raised, keeps the partial answer.
    ///
    /// # Errors
    /// Returns a [`CommandError`] if there is no answer.
    pub fn answer(&self, host: &mut dyn SendHost, cancel: &Cancel) -> Result<Value, CommandError> {
        match self {
            Self::Send(job) => {
                let sent = job.run(host, cancel)?;
                match &job.page {
                    Some(page) => page.write(&sent),
                    None => to_json(sent),
                }
            }
            Self::Forward(job) => to_json(job.run(host, cancel)?),
        }
    }
}

fn to_json(reply: impl Serialize) -> Result<Value, CommandError> {
    serde_json::to_value(reply).map_err(|error| CommandError::failed(error.to_string()))
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
        if self.connection.client.is_local() {
            host.progress("asking the server for its window");
        }
        let window = self.connection.client.window(cancel);
        loop {
            cancel.check()?;
            host.progress("assembling the prompt");
            let assembled = self.assemble(&asked, reply.rounds, window, host);
            let Prompt { id, model, body, predicted, tokens, shed, warnings } =
                assembled.map_err(|error| match window {
                    Some(window) if exceeds(&error, window) => error.after(&small_window(window)),
                    _ => error,
                })?;
            reply.warn(warnings.into_iter().map(|warning| warning.message));
            let binding = window.filter(|window| *window == tokens.window && !shed.is_empty());
            reply.warn(binding.map(small_window));
            reply.shed(shed);
            host.progress(&format!("waiting for {model}"));
            let (sent, said) =
                send(&self.connection, body, tokens.output_reserve, Audience::User, host, cancel);
            reply.append(&said.written, &said.shown);
            reply.model.clone_from(&model);
            let Sent { reply: answer, broken } = match sent {
                Ok(sent) => sent,
                Err(error) if is_context_limit(&error) => {
                    let recorded = host.run("strata.prompt.record", rejection(&id, &error));
                    recorded.map_err(|again| again.after(&error.to_string()))?;
                    reply.warn([COMPACTED.to_owned()]);
                    show(&self.connection, host, |delta| Delta {
                        notice: Some(COMPACTED.to_owned()),
                        ..delta
                    });
                    continue;
                }
                Err(error) => {
                    host.run("strata.prompt.discard", json!({ "id": id }))?;
                    return Err(error.into());
                }
            };
            let is_whole = broken.is_none();
            let recorded = host.run("strata.prompt.record", recording(&id, &answer, is_whole))?;
            reply.warn(understood::<Recorded>(recorded)?.warnings);
            reply.warn(answer.usage.and_then(|usage| truncation(usage.input_tokens(), predicted.total())));
            reply.bill(answer.usage, predicted, &prices(&self.connection, &model));
            let (end, error) = ended(&answer, broken, cancel);
            reply.error = error;
            if end != SendEnd::ToolCalls || !self.declares_tools() {
                return Ok(end);
            }
            let calls = tool_round::calls(&answer.content);
            if self.tools == ToolAccess::None && reply.rounds > 0 {
                return Ok(end);
            }
            if self.tools == ToolAccess::Read && reply.rounds >= self.tool_rounds {
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

    fn assemble(
        &self,
        asked: &Asked,
        rounds: u32,
        window: Option<usize>,
        host: &mut dyn SendHost,
    ) -> Result<Prompt, CommandError> {
        let mut arguments = self.ask.clone();
        if let Some(window) = window {
            let allowed = arguments.get("maxInputTokens").and_then(Value::as_u64);
            let allowed = allowed.and_then(|tokens| usize::try_from(tokens).ok()).unwrap_or(window);
            arguments.insert("maxInputTokens".to_owned(), allowed.min(window).into());
        }
        if let Asked::Results(results) = asked {
            arguments.shift_remove("prompt");
            arguments.shift_remove("images");
            arguments.insert("toolResults".to_owned(), results.clone());
        }
        if self.declares_tools() {
            arguments.insert("tools".to_owned(), tool_round::declarations().clone());
            let may_call = self.tools == ToolAccess::Read && rounds < self.tool_rounds;
            if !may_call && tool_round::is_choice_free(self.connection.format) {
                arguments.insert("toolChoice".to_owned(), "none".into());
            }
        }
        understood(host.run("strata.prompt.assemble", arguments.into())?)
    }
}

/// Returns whether a prompt could not be assembled because of the server's window, rather than a smaller limit.
fn exceeds(error: &CommandError, window: usize) -> bool {
    let CommandError::Failed { data: Some(data), .. } = error else { return false };
    let has = |name: &str, value: Value| data.get(name) == Some(&value);
    has("kind", "tooLarge".into()) && has("window", window.into())
}

/// Says that a server's window limits prompts.
fn small_window(window: usize) -> String {
    format!(
        "the server's window has {} tokens; a larger one can be set where the server is started (with Ollama, \
         OLLAMA_CONTEXT_LENGTH)",
        grouped(window)
    )
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

fn understood<T: serde::de::DeserializeOwned>(reply: Value) -> Result<T, CommandError> {
    serde_json::from_value(reply).map_err(|error| {
        tracing::error!(%error, "a command returned an unexpected reply");
        CommandError::Internal
    })
}
