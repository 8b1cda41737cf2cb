//! `toolOutput.*`: truncates tool outputs, adds them to the conversation, and reads the parts that were cut.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_conversation::history::{
    ContentBlock, MessageId, MessageKind, NewMessage, ResultPart, Role, TextOrList, ToolOutcome,
};
use strata_conversation::tool_output::{
    IncomingToolResult, OutputSize, ResultPage, SpilledOutput, result_page,
};
use strata_host::store::SessionId;
use strata_prompt::session::Session;

use super::{Access, Command, CommandError, Context};

/// Default number of lines to read.
const DEFAULT_OUTPUT_LINES: usize = 200;

/// Maximum digits of a message number in a string. Names of spilled outputs are longer.
const MAX_MESSAGE_ID_DIGITS: usize = 20;

/// A tool output to truncate, and optionally to add to the conversation.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct AddParams {
    /// Content of the output: a string or a list of parts.
    content: TextOrList<ResultPart>,
    /// Id of the tool call that produced the output. If given, the result is added to the conversation. If absent, the
    /// output is only truncated.
    call_id: Option<String>,
    /// How the tool call ended. Defaults to `ok`.
    #[serde(default)]
    outcome: ToolOutcome,
}

/// Identifier of a tool output: a message number (also as a string), or the name of a spilled output.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
enum OutputName {
    /// Number of a message with tool results.
    Message(MessageId),
    /// Name of an output that was spilled to a file.
    Spill(String),
}

/// The lines of a tool output to read.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadParams {
    /// Output to read: the number of a message, or the name of a spilled output.
    id: OutputName,
    /// First line to read, counted from 1. Defaults to 1.
    #[serde(default = "default_first_line")]
    from: usize,
    /// Number of lines to read. Defaults to 200.
    count: Option<usize>,
}

/// The truncated output, and the number of the message that was added.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct AddReply {
    /// Content that the model sees, truncated to the limits for tool outputs.
    content: Vec<ResultPart>,
    /// Number of the added message. Absent if none was added.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<MessageId>,
}

pub(super) struct AddToolOutput;

impl Command for AddToolOutput {
    const NAME: &str = "strata.toolOutput.add";
    const SUMMARY: &str = "Truncates a tool output, and adds it to the conversation if `callId` is given.";
    type Args = AddParams;
    type Reply = AddReply;

    fn run(params: AddParams, context: &mut Context<'_>) -> Result<AddReply, CommandError> {
        let content = truncate_output(params.content.0, context);
        let Some(call_id) = params.call_id else { return Ok(AddReply { content, id: None }) };
        let called = context.session.history.sent_messages().any(|message| {
            message
                .body
                .content
                .iter()
                .any(|block| matches!(block, ContentBlock::ToolCall { id, .. } if *id == call_id))
        });
        if !called {
            return Err(CommandError::invalid(
                "callId",
                &format!("the conversation has no tool call with the id `{call_id}`"),
            ));
        }
        let block = ContentBlock::ToolResult { call_id, content: content.clone(), outcome: params.outcome };
        let message = NewMessage {
            kind: MessageKind::ToolResult,
            time_ms: Some(context.now_ms),
            ..NewMessage::new(Role::User, vec![block])
        };
        let id = context.session.history.add(message);
        context.session.mark_changed();
        Ok(AddReply { content, id: Some(id) })
    }
}

pub(super) struct ReadToolOutput;

impl Command for ReadToolOutput {
    const NAME: &str = "strata.toolOutput.read";
    const SUMMARY: &str = "Reads more of a truncated output.";
    const ACCESS: Access = Access::Reads;
    type Args = ReadParams;
    type Reply = ResultPage;

    fn run(params: ReadParams, context: &mut Context<'_>) -> Result<ResultPage, CommandError> {
        let ReadParams { id, from, count } = params;
        let count = count.unwrap_or(DEFAULT_OUTPUT_LINES);
        let id = match id {
            // The schema for models declares a string, also for a number.
            OutputName::Spill(name) if name.len() <= MAX_MESSAGE_ID_DIGITS => {
                name.parse().map(MessageId).map_or(OutputName::Spill(name), OutputName::Message)
            }
            name @ OutputName::Spill(_) => name,
            id @ OutputName::Message(_) => id,
        };
        match id {
            OutputName::Message(id) => {
                let message = context.session.history.get(id);
                message.and_then(|message| result_page(&message.body, from, count)).ok_or_else(|| {
                    CommandError::invalid("id", &format!("message {} has no tool result", id.0))
                })
            }
            OutputName::Spill(id) => {
                let session: SessionId = context.session.id.parse()?;
                let store = &context.services.store;
                Ok(store.with_store(|store| store.spills.read_lines(&session, &id, from, count))?)
            }
        }
    }
}

/// Applies the limits for tool outputs to the parts of a result. If there is a store, writes the full text of parts
/// that exceed the limits to files of the session.
pub(super) fn truncate_output(parts: Vec<ResultPart>, context: &Context<'_>) -> Vec<ResultPart> {
    truncate_for_session(parts, context.session, context)
}

/// Like `truncate_output`, for a session that is not open yet.
pub(super) fn truncate_for_session(
    parts: Vec<ResultPart>,
    session: &Session,
    context: &Context<'_>,
) -> Vec<ResultPart> {
    let intake = IncomingToolResult::new(parts, &context.snapshot.settings.tool_output);
    let spilled: Vec<Option<SpilledOutput>> =
        intake.texts_to_spill().map(|text| spill(text, session, context)).collect();
    intake.finish(spilled)
}

/// Truncates the parts of a result like `truncate_output` would if there were no store, without writing files.
pub(super) fn preview_truncation(parts: Vec<ResultPart>, context: &Context<'_>) -> Vec<ResultPart> {
    let intake = IncomingToolResult::new(parts, &context.snapshot.settings.tool_output);
    let not_spilled: Vec<Option<SpilledOutput>> = intake.texts_to_spill().map(|_| None).collect();
    intake.finish(not_spilled)
}

fn spill(text: &str, owner: &Session, context: &Context<'_>) -> Option<SpilledOutput> {
    let session: SessionId = owner.id.parse().ok()?;
    let store = &context.services.store;
    // Store the session first, because the store treats spilled outputs without a session as leftovers of a deleted
    // session.
    let written = store
        .ensure_stored(owner, context.now_ms)
        .and_then(|()| store.with_store(|store| store.spills.write(&session, text.as_bytes())));
    let file = written
        .inspect_err(
            |error| tracing::warn!(%error, "a long tool output was truncated, because it cannot be written to a file"),
        )
        .ok()?;
    Some(SpilledOutput {
        id: file.id,
        path: file.path.display().to_string(),
        bytes: file.bytes,
        lines: OutputSize::from_text(text).lines,
        sha256: file.sha256,
    })
}

fn default_first_line() -> usize {
    1
}
