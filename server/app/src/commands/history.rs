//! `history.*`: the conversation itself.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_engine::conversation::history::{Message, MessageId, NewMessage, Pin, Role, Visibility};
use strata_engine::prompt::assembly::history_tokens;

use super::said::Said;
use super::{CommandError, Context, Empty, NoArguments};

/// A message.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "HistoryMessage")]
pub(super) struct AddParams {
    /// Who speaks.
    role: Role,
    /// What is said.
    content: Said,
}

/// A question and its answer.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ExchangeParams {
    /// The question.
    user: Said,
    /// The answer.
    assistant: Said,
}

/// A whole conversation.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SetParams {
    /// In order.
    messages: Vec<AddParams>,
}

/// Where the conversation is to end.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TruncateParams {
    /// The first message that goes.
    from: MessageId,
}

/// A message and what it is to say.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct EditParams {
    /// Which message.
    id: MessageId,
    /// What it says from now on.
    content: Said,
}

/// A message that is to stay word for word, or no longer.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PinParams {
    /// Which message.
    id: MessageId,
    /// Whether it is to stay.
    #[serde(default = "yes")]
    pinned: bool,
}

/// A message and who gets to see it. One of `agent` and `user` is needed.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct HideParams {
    /// Which message.
    id: MessageId,
    /// Whether the model sees it.
    agent: Option<Visibility>,
    /// Whether the person sees it.
    user: Option<Visibility>,
}

/// A conversation that another program recorded.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ImportParams {
    /// A conversation in any form that `session.import` takes.
    text: String,
}

/// What is left.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Truncated {
    /// How many messages went.
    removed: usize,
    /// How many messages are left.
    messages: usize,
}

/// The messages that were added.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Added {
    /// Their numbers, in order.
    ids: Vec<MessageId>,
}

/// The conversation.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Messages {
    /// All of them, hidden ones included.
    messages: Vec<Message>,
}

/// How long the conversation is.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Count {
    /// All messages, hidden ones included.
    messages: usize,
    /// What the model sees of them, in tokens.
    tokens: usize,
}

pub(super) fn add(params: AddParams, context: &mut Context<'_>) -> Result<Added, CommandError> {
    let message = message(params, "content", context)?;
    let id = context.session.history.add(message);
    context.session.touch();
    Ok(Added { ids: vec![id] })
}

pub(super) fn add_exchange(params: ExchangeParams, context: &mut Context<'_>) -> Result<Added, CommandError> {
    let user = message(AddParams { role: Role::User, content: params.user }, "user", context)?;
    let assistant =
        message(AddParams { role: Role::Assistant, content: params.assistant }, "assistant", context)?;
    let ids = [user, assistant].map(|message| context.session.history.add(message)).to_vec();
    context.session.touch();
    Ok(Added { ids })
}

pub(super) fn get(_: NoArguments, context: &mut Context<'_>) -> Result<Messages, CommandError> {
    let messages = context.session.history.messages().iter().map(|message| (**message).clone()).collect();
    Ok(Messages { messages })
}

pub(super) fn set(params: SetParams, context: &mut Context<'_>) -> Result<Count, CommandError> {
    let path = |at| format!("messages[{at}].content");
    let messages = params.messages.into_iter().enumerate();
    let messages: Result<Vec<NewMessage>, _> =
        messages.map(|(at, params)| message(params, &path(at), context)).collect();
    context.session.set_history(messages?);
    count(NoArguments {}, context)
}

pub(super) fn clear(_: NoArguments, context: &mut Context<'_>) -> Result<Empty, CommandError> {
    context.session.clear_history();
    Ok(Empty {})
}

pub(super) fn count(_: NoArguments, context: &mut Context<'_>) -> Result<Count, CommandError> {
    let tokens = history_tokens(context.session, context.snapshot.means());
    Ok(Count { messages: context.session.history.len(), tokens })
}

pub(super) fn reregister(_: NoArguments, context: &mut Context<'_>) -> Result<Empty, CommandError> {
    context.session.reregister_history();
    context.session.touch();
    Ok(Empty {})
}

pub(super) fn truncate(params: TruncateParams, context: &mut Context<'_>) -> Result<Truncated, CommandError> {
    let removed = context.session.truncate_history(params.from)?;
    Ok(Truncated { removed, messages: context.session.history.len() })
}

pub(super) fn edit(params: EditParams, context: &mut Context<'_>) -> Result<Empty, CommandError> {
    let content = params.content.into_blocks();
    if content.is_empty() {
        return Err(CommandError::invalid("content", "a message cannot be empty"));
    }
    context.session.change_message(params.id, |message| message.content = content)?;
    Ok(Empty {})
}

pub(super) fn pin(params: PinParams, context: &mut Context<'_>) -> Result<Empty, CommandError> {
    let pin = if params.pinned { Pin::Kept } else { Pin::Free };
    context.session.change_message(params.id, |message| message.pin = pin)?;
    Ok(Empty {})
}

pub(super) fn hide(params: HideParams, context: &mut Context<'_>) -> Result<Empty, CommandError> {
    let HideParams { id, agent, user } = params;
    if agent.is_none() && user.is_none() {
        return Err(CommandError::invalid(
            "agent",
            "say who gets to see the message: give agent, user or both",
        ));
    }
    context.session.change_message(id, |message| {
        message.agent = agent.unwrap_or(message.agent);
        message.user = user.unwrap_or(message.user);
    })?;
    Ok(Empty {})
}

pub(super) fn import(params: ImportParams, context: &mut Context<'_>) -> Result<Added, CommandError> {
    let messages = super::session::messages_in(&params.text, &context.snapshot.screen)?;
    let ids = messages.into_iter().map(|message| context.session.history.add(message)).collect();
    context.session.touch();
    Ok(Added { ids })
}

fn message(params: AddParams, path: &str, context: &Context<'_>) -> Result<NewMessage, CommandError> {
    let message = params.content.into_message(params.role);
    if message.content.is_empty() {
        return Err(CommandError::invalid(path, "a message cannot be empty"));
    }
    Ok(NewMessage { time_ms: Some(context.now_ms), ..message })
}

fn yes() -> bool {
    true
}
