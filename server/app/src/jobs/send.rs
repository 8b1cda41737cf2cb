//! Asks a model one question: assembles a prompt, sends it, runs the read-only tools that the model calls, records the
//! answer with its usage, and compacts and retries if the prompt was too long. Each step is an ordinary command, so
//! other commands can use the session between steps. Also forwards conversations that a client keeps (`forward`).

mod connection;
mod delta;
mod ended;
mod forward;
mod host;
mod page;
mod stream;
#[cfg(test)]
mod tests;
mod tool_round;

use serde::Serialize;
use serde_json::Value;
use strata_base::cancel::Cancel;
use strata_conversation::history::TextOrList;
use strata_conversation::providers::ToolChoice;
use strata_conversation::providers::reply::{ContextSize, ProviderErrorKind, Reply};
use strata_host::provider::{SendError, StreamOutcome};

use crate::commands::prompt::{
    AssembleParams, AssemblePrompt, DiscardPrompt, PromptId, RecordOutcome, RecordParams,
};
use crate::commands::{
    AssembledPrompt, Body, Command, CommandError, FailureDetails, Invocation, ModelJob,
    RecoverableRequestError, RequestStatus, SendEnd, SendJob, SendReply, ToolAccess,
};
use crate::format::group_digits;

use connection::{model_prices, show_delta};
use ended::end_of_answer;
use stream::{Audience, send};
use tool_round::RoundInput;

pub use delta::{Delta, DeltaToolCall};
pub use host::{SendHost, cancel_for};

const COMPACTED_NOTICE: &str =
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
                let reply = job.run(host, cancel)?;
                let answer = match &job.page {
                    Some(page) => page.write(&reply),
                    None => to_json(&reply),
                };
                job.reply.provide(reply);
                answer
            }
            Self::Forward(job) => to_json(job.run(host, cancel)?),
        }
    }
}

fn to_json(reply: impl Serialize) -> Result<Value, CommandError> {
    serde_json::to_value(reply).map_err(|error| CommandError::failed(error.to_string()))
}

impl SendJob {
    /// Like [`ModelJob::answer`], for a question in a session.
    pub(crate) fn run(&self, host: &mut dyn SendHost, cancel: &Cancel) -> Result<SendReply, CommandError> {
        let mut reply = SendReply::new(&self.connection.session);
        match self.answer_rounds(&mut reply, host, cancel) {
            Err(_) if cancel.is_cancelled() => reply.end = SendEnd::Cancelled,
            Err(error) if reply.requests == 0 => return Err(error),
            // The answers so far have been recorded and billed, so report them together with the error.
            Err(error) => (reply.end, reply.error) = (SendEnd::Failed, Some(error.to_string())),
            Ok(end) => reply.end = end,
        }
        Ok(reply)
    }

    fn answer_rounds(
        &self,
        reply: &mut SendReply,
        host: &mut dyn SendHost,
        cancel: &Cancel,
    ) -> Result<SendEnd, CommandError> {
        let mut input = RoundInput::Question;
        if self.connection.client.is_local() {
            host.progress("asking the server for its window");
        }
        let window = self.connection.client.window(cancel);
        loop {
            cancel.check()?;
            host.progress("assembling the prompt");
            let assembled = self.assemble(&input, reply.rounds, window, host);
            let AssembledPrompt { id, model, body, predicted, tokens, shed, warnings, .. } = assembled
                .map_err(|error| match window {
                    Some(window) if exceeds_server_window(&error, window) => {
                        error.with_cause(&small_window_warning(window))
                    }
                    _ => error,
                })?;
            let (Some(id), Body::Json(body)) = (id, body) else { return Err(CommandError::Internal) };
            reply.warn(warnings.into_iter().map(|warning| warning.message));
            let limiting_window = window.filter(|window| *window == tokens.window && !shed.is_empty());
            reply.warn(limiting_window.map(small_window_warning));
            reply.add_omitted_files(shed.iter().map(|file| file.as_str().to_owned()).collect());
            host.progress(&format!("waiting for {model}"));
            let (result, streamed) =
                send(&self.connection, body, tokens.output_reserve, Audience::User, host, cancel);
            reply.append(&streamed.written, &streamed.shown);
            reply.model.clone_from(&model);
            let StreamOutcome { reply: answer, broken } = match result {
                Ok(result) => result,
                Err(error) => {
                    let Some(size) = stated_context_size(&error) else {
                        call::<DiscardPrompt>(host, PromptId { id })?;
                        return Err(error.into());
                    };
                    let recorded = call::<RecordOutcome>(host, rejection_record_params(id, size));
                    recorded.map_err(|again| again.with_cause(&error.to_string()))?;
                    reply.warn([COMPACTED_NOTICE.to_owned()]);
                    show_delta(&self.connection, host, |delta| Delta {
                        notice: Some(COMPACTED_NOTICE.to_owned()),
                        ..delta
                    });
                    continue;
                }
            };
            let is_complete = broken.is_none();
            reply.warn(call::<RecordOutcome>(host, answer_record_params(id, &answer, is_complete))?.warnings);
            reply.warn(
                answer
                    .usage
                    .and_then(|usage| truncated_prompt_warning(usage.input_tokens(), predicted.total())),
            );
            reply.bill(answer.usage, predicted, &model_prices(&self.connection, &model));
            let (end, error) = end_of_answer(&answer, broken, cancel);
            reply.error = error;
            if end != SendEnd::ToolCalls || !self.declares_tools() {
                return Ok(end);
            }
            if self.tools == ToolAccess::None && reply.rounds > 0 {
                return Ok(end);
            }
            if self.tools == ToolAccess::Read && reply.rounds >= self.tool_rounds {
                let limit = self.tool_rounds;
                reply.warn([format!(
                    "the model requested more than {limit} rounds of tool calls (`provider.tool_rounds`)"
                )]);
                return Ok(SendEnd::ToolRounds);
            }
            reply.rounds += 1;
            input = RoundInput::Results(self.answer_calls(&answer.content, reply, host, cancel)?);
        }
    }

    fn assemble(
        &self,
        input: &RoundInput,
        rounds: u32,
        window: Option<usize>,
        host: &mut dyn SendHost,
    ) -> Result<AssembledPrompt, CommandError> {
        let mut arguments = AssembleParams::clone(&self.ask);
        if let Some(window) = window {
            arguments.max_input_tokens = Some(arguments.max_input_tokens.unwrap_or(window).min(window));
        }
        if let RoundInput::Results(results) = input {
            (arguments.prompt, arguments.images) = (None, Vec::new());
            arguments.tool_results = Some(results.clone());
        }
        if self.declares_tools() {
            arguments.tools = tool_round::tool_declarations().to_vec();
            let may_call = self.tools == ToolAccess::Read && rounds < self.tool_rounds;
            // Otherwise, calls are answered with an error.
            let dialect = self.connection.format.dialect();
            if !may_call && dialect.is_some_and(|dialect| dialect.properties().caches_across_tool_choices) {
                arguments.tool_choice = ToolChoice::None;
            }
        }
        call::<AssemblePrompt>(host, arguments)
    }
}

/// Returns whether a prompt could not be assembled because of the server's window, rather than a smaller limit.
fn exceeds_server_window(error: &CommandError, window: usize) -> bool {
    let CommandError::Failed { details: Some(FailureDetails::TooLarge { window: error_window, .. }), .. } =
        error
    else {
        return false;
    };
    *error_window == window
}

/// Says that a server's window limits prompts.
fn small_window_warning(window: usize) -> String {
    format!(
        "the server's window has {} tokens; a larger one can be set where the server is started (with Ollama, \
         OLLAMA_CONTEXT_LENGTH)",
        group_digits(window)
    )
}

/// Returns a warning if the model read much less than was sent. Ollama drops the beginning of a prompt that exceeds its
/// window, without an error: <https://github.com/ollama/ollama/issues/17889>.
fn truncated_prompt_warning(read: usize, sent: usize) -> Option<String> {
    let is_cut = sent > MIN_LOCAL_WINDOW_TOKENS && read > 0 && read < sent / 10 * TRUNCATED_PROMPT_TENTHS;
    is_cut.then(|| {
        format!(
            "the model read only {} of about {} tokens, because its server's window is smaller: enlarge the window (with \
             Ollama, OLLAMA_CONTEXT_LENGTH), or set the model's `max_input` in `models`",
            group_digits(read),
            group_digits(sent)
        )
    })
}

/// Smallest window of a local server, in tokens.
const MIN_LOCAL_WINDOW_TOKENS: usize = 2_048;

/// Tenths of the estimated tokens below which the reported tokens mean that the prompt was cut. Estimates are closer.
const TRUNCATED_PROMPT_TENTHS: usize = 6;

/// Builds the arguments of `strata.prompt.record` for a complete or partial answer.
fn answer_record_params(id: String, answer: &Reply, is_complete: bool) -> RecordParams {
    let status = if is_complete { RequestStatus::Complete } else { RequestStatus::Aborted };
    let response = Some(TextOrList(answer.content.clone()));
    RecordParams { id, status, response, usage: answer.usage, ..RecordParams::default() }
}

/// Builds the arguments of `strata.prompt.record` for a prompt that the provider rejected as too long.
fn rejection_record_params(id: String, ContextSize { limit, requested }: ContextSize) -> RecordParams {
    RecordParams {
        id,
        error: Some(RecoverableRequestError::ContextLimit),
        limit,
        requested,
        ..RecordParams::default()
    }
}

/// Returns the stated sizes if the provider rejected the prompt as too long.
fn stated_context_size(error: &SendError) -> Option<ContextSize> {
    match error {
        SendError::Provider { error, .. } => {
            (error.kind == ProviderErrorKind::ContextLimit).then_some(error.size)
        }
        _ => None,
    }
}

fn call<C: Command<Args: Serialize>>(
    host: &mut dyn SendHost,
    arguments: C::Args,
) -> Result<C::Reply, CommandError> {
    let (command, reply) = Invocation::new::<C>(arguments);
    host.invoke(command)?;
    Ok(reply.take()?.into_inner())
}
