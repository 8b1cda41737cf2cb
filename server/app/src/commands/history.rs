//! `history.*`: reads and edits the messages of a conversation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_base::key::FileKey;
use strata_conversation::history::{
    ContentBlock, Message, MessageId, MessageKind, NewMessage, Pin, Role, TextOrList, Visibility,
};
use strata_prompt::assembly::history_size;
use strata_prompt::session::Session;

use super::{Access, Command, CommandError, Context, Empty, NoArguments, tool_output};

/// A message to add to the conversation.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "HistoryMessage")]
pub struct MessageParams {
    /// Role of the message's author.
    pub role: Role,
    /// Content of the message: a string or a list of blocks. Must not be empty.
    pub content: TextOrList<ContentBlock>,
    /// Whether the model sees the message. Defaults to `shown`.
    #[serde(default)]
    pub agent: Visibility,
    /// Whether the user sees the message. Defaults to `shown`.
    #[serde(default)]
    pub user: Visibility,
    /// Purpose of the message. Defaults to `normal`.
    #[serde(default)]
    pub kind: MessageKind,
    /// Whether compactions must keep the message verbatim (`kept`) or may remove it (`free`, the default).
    #[serde(default)]
    pub pin: Pin,
    /// When the message was written, in milliseconds since 1970. Defaults to the current time.
    pub time_ms: Option<u64>,
    /// Paths of files that the message mentions.
    #[serde(default)]
    pub files_mentioned: Vec<FileKey>,
    /// Paths of files that the message modified.
    #[serde(default)]
    pub files_modified: Vec<FileKey>,
    /// Number that `strata.history.get` returned for the message, if the client sends such a message back. The message
    /// gets a new number. The limits for tool outputs do not apply to it, and a missing `timeMs` stays missing.
    pub id: Option<MessageId>,
}

/// A question and its answer.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExchangeParams {
    /// Content of the question: a string or a list of blocks.
    pub user: TextOrList<ContentBlock>,
    /// Content of the answer: a string or a list of blocks.
    pub assistant: TextOrList<ContentBlock>,
}

/// The messages that replace the conversation.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetParams {
    /// Messages, oldest first.
    pub messages: Vec<MessageParams>,
}

/// The point from which to delete messages.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TruncateParams {
    /// Number of the first message to delete. All later messages are deleted too.
    pub from: MessageId,
}

/// A message and its new content.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditParams {
    /// Number of the message to edit.
    pub id: MessageId,
    /// New content of the message: a string or a list of blocks. Must not be empty.
    pub content: TextOrList<ContentBlock>,
}

/// A message to pin or unpin.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PinParams {
    /// Number of the message to pin or unpin.
    pub id: MessageId,
    /// Whether compactions must keep the message verbatim. Defaults to `true`; `false` unpins the message.
    #[serde(default = "default_true")]
    pub pinned: bool,
}

/// A message and its new visibility. At least one of `agent` and `user` must be given.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HideParams {
    /// Number of the message to hide or show.
    pub id: MessageId,
    /// Whether the model sees the message. Unchanged if absent.
    pub agent: Option<Visibility>,
    /// Whether the user sees the message. Unchanged if absent.
    pub user: Option<Visibility>,
}

/// A conversation recorded by another program.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportParams {
    /// The conversation, in any format that `strata.session.import` accepts.
    pub text: String,
}

/// The result of truncating the conversation.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TruncateReply {
    /// Number of deleted messages.
    pub removed: usize,
    /// Number of remaining messages.
    pub messages: usize,
}

/// The messages that were added.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AddReply {
    /// Numbers of the added messages, in order.
    pub ids: Vec<MessageId>,
}

/// All messages of the conversation.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Messages {
    /// Messages, oldest first, including hidden ones.
    pub messages: Vec<Message>,
}

/// The size of the conversation.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HistorySize {
    /// Number of messages, including hidden ones.
    pub messages: usize,
    /// Number of tokens in the messages that the model sees.
    pub tokens: usize,
}

pub struct AddMessage;

impl Command for AddMessage {
    const NAME: &str = "strata.history.add";
    const SUMMARY: &str = "Adds a message.";
    type Args = MessageParams;
    type Reply = AddReply;

    fn run(params: MessageParams, context: &mut Context<'_>) -> Result<AddReply, CommandError> {
        let message = message(params, "content", context)?;
        let id = context.session.history.add(message);
        context.session.mark_changed();
        Ok(AddReply { ids: vec![id] })
    }
}

pub struct AddExchange;

impl Command for AddExchange {
    const NAME: &str = "strata.history.addExchange";
    const SUMMARY: &str = "Adds a question and its answer.";
    type Args = ExchangeParams;
    type Reply = AddReply;

    fn run(params: ExchangeParams, context: &mut Context<'_>) -> Result<AddReply, CommandError> {
        let user = message(MessageParams::new(Role::User, params.user), "user", context)?;
        let assistant = message(MessageParams::new(Role::Assistant, params.assistant), "assistant", context)?;
        let ids = [user, assistant].map(|message| context.session.history.add(message)).to_vec();
        context.session.mark_changed();
        Ok(AddReply { ids })
    }
}

pub struct ListMessages;

impl Command for ListMessages {
    const NAME: &str = "strata.history.get";
    const SUMMARY: &str = "Returns all messages, including hidden ones.";
    const ACCESS: Access = Access::Reads;
    type Args = NoArguments;
    type Reply = Messages;

    fn run(_: NoArguments, context: &mut Context<'_>) -> Result<Messages, CommandError> {
        let messages = context.session.history.messages().iter().map(|message| (**message).clone()).collect();
        Ok(Messages { messages })
    }
}

pub struct ReplaceMessages;

impl Command for ReplaceMessages {
    const NAME: &str = "strata.history.set";
    const SUMMARY: &str = "Replaces the conversation.";
    type Args = SetParams;
    type Reply = HistorySize;

    fn run(params: SetParams, context: &mut Context<'_>) -> Result<HistorySize, CommandError> {
        let path = |at| format!("messages[{at}].content");
        let messages = params.messages.into_iter().enumerate();
        let messages: Result<Vec<NewMessage>, _> =
            messages.map(|(at, params)| message(params, &path(at), context)).collect();
        context.session.set_history(messages?);
        CountMessages::run(NoArguments {}, context)
    }
}

pub struct ClearMessages;

impl Command for ClearMessages {
    const NAME: &str = "strata.history.clear";
    const SUMMARY: &str = "Clears the conversation.";
    type Args = NoArguments;
    type Reply = Empty;

    fn run(_: NoArguments, context: &mut Context<'_>) -> Result<Empty, CommandError> {
        context.session.set_history([]);
        Ok(Empty {})
    }
}

pub struct CountMessages;

impl Command for CountMessages {
    const NAME: &str = "strata.history.count";
    const SUMMARY: &str = "Counts all messages, and the tokens of those that the model sees.";
    const ACCESS: Access = Access::Reads;
    type Args = NoArguments;
    type Reply = HistorySize;

    fn run(_: NoArguments, context: &mut Context<'_>) -> Result<HistorySize, CommandError> {
        let tokens = history_size(&context.session.history, context.snapshot.prompt_services()).tokens;
        Ok(HistorySize { messages: context.session.history.messages().len(), tokens })
    }
}

pub struct TruncateHistory;

impl Command for TruncateHistory {
    const NAME: &str = "strata.history.truncate";
    const SUMMARY: &str = "Deletes a message and all later ones.";
    type Args = TruncateParams;
    type Reply = TruncateReply;

    fn run(params: TruncateParams, context: &mut Context<'_>) -> Result<TruncateReply, CommandError> {
        let removed = context.session.truncate_history(params.from)?;
        Ok(TruncateReply { removed, messages: context.session.history.messages().len() })
    }
}

pub struct EditMessage;

impl Command for EditMessage {
    const NAME: &str = "strata.history.edit";
    const SUMMARY: &str = "Replaces the content of a message.";
    type Args = EditParams;
    type Reply = Empty;

    fn run(params: EditParams, context: &mut Context<'_>) -> Result<Empty, CommandError> {
        let content = params.content.0;
        if content.is_empty() {
            return Err(CommandError::invalid("content", "a message cannot be empty"));
        }
        context.session.change_message(params.id, |message| message.content = content)?;
        Ok(Empty {})
    }
}

pub struct PinMessage;

impl Command for PinMessage {
    const NAME: &str = "strata.history.pin";
    const SUMMARY: &str = "Pins a message, so that every compaction keeps it verbatim, or unpins it.";
    type Args = PinParams;
    type Reply = Empty;

    fn run(params: PinParams, context: &mut Context<'_>) -> Result<Empty, CommandError> {
        let pin = if params.pinned { Pin::Kept } else { Pin::Free };
        context.session.change_message(params.id, |message| message.pin = pin)?;
        Ok(Empty {})
    }
}

pub struct HideMessage;

impl Command for HideMessage {
    const NAME: &str = "strata.history.hide";
    const SUMMARY: &str = "Hides a message from the model or the user, or shows it again.";
    type Args = HideParams;
    type Reply = Empty;

    fn run(params: HideParams, context: &mut Context<'_>) -> Result<Empty, CommandError> {
        let HideParams { id, agent, user } = params;
        if agent.is_none() && user.is_none() {
            return Err(CommandError::invalid("agent", "pass `agent`, `user` or both"));
        }
        context.session.change_message(id, |message| {
            message.agent = agent.unwrap_or(message.agent);
            message.user = user.unwrap_or(message.user);
        })?;
        Ok(Empty {})
    }
}

pub struct ImportMessages;

impl Command for ImportMessages {
    const NAME: &str = "strata.history.import";
    const SUMMARY: &str = "Imports a conversation that another program recorded.";
    const SCREENED: bool = false;
    type Args = ImportParams;
    type Reply = AddReply;

    fn run(params: ImportParams, context: &mut Context<'_>) -> Result<AddReply, CommandError> {
        let messages = super::imported::read_imported_messages(&params.text, &context.snapshot.screen)?;
        let mut ids = Vec::new();
        for message in messages {
            let content = truncate_tool_results(message.content, context.session, context);
            ids.push(context.session.history.add(NewMessage { content, ..message }));
        }
        context.session.mark_changed();
        Ok(AddReply { ids })
    }
}

impl MessageParams {
    fn new(role: Role, content: TextOrList<ContentBlock>) -> Self {
        Self {
            role,
            content,
            agent: Visibility::default(),
            user: Visibility::default(),
            kind: MessageKind::default(),
            pin: Pin::default(),
            time_ms: None,
            files_mentioned: Vec::new(),
            files_modified: Vec::new(),
            id: None,
        }
    }
}

fn message(params: MessageParams, path: &str, context: &Context<'_>) -> Result<NewMessage, CommandError> {
    let MessageParams { role, content, agent, user, kind, pin, time_ms, files_mentioned, files_modified, id } =
        params;
    let content = content.0;
    if content.is_empty() {
        return Err(CommandError::invalid(path, "a message cannot be empty"));
    }
    let content =
        if id.is_some() { content } else { truncate_tool_results(content, context.session, context) };
    let time_ms = if id.is_some() { time_ms } else { time_ms.or(Some(context.now_ms)) };
    Ok(NewMessage {
        agent,
        user,
        kind,
        pin,
        time_ms,
        files_mentioned,
        files_modified,
        ..NewMessage::new(role, content)
    })
}

/// Truncates all tool results in `content` to the limits for tool outputs.
pub(super) fn truncate_tool_results(
    content: Vec<ContentBlock>,
    session: &Session,
    context: &Context<'_>,
) -> Vec<ContentBlock> {
    let within = |block| match block {
        ContentBlock::ToolResult { call_id, content, outcome } => {
            let content = tool_output::truncate_for_session(content, session, context);
            ContentBlock::ToolResult { call_id, content, outcome }
        }
        other => other,
    };
    content.into_iter().map(within).collect()
}

fn default_true() -> bool {
    true
}
