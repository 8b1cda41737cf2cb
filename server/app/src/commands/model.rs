//! `model.send`: forwards a conversation that the client keeps to the model. Neither reads nor changes a session.

use schemars::JsonSchema;
use serde::Deserialize;
use strata_conversation::history::{ContentBlock, Message, MessageId, NewMessage, Role, TextOrList};
use strata_conversation::providers::Tool;
use strata_prompt::assembly::{ClientConversation, ForwardedRequest, build_forwarded_request};
use strata_prompt::wire::Body;

use super::{
    Access, BackgroundJob, Command, CommandError, Context, DeferredReply, Effect, ForwardJob,
    ModelConnection, ModelJob, ModelReply,
};

/// A conversation to forward, and how to deliver the answer.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ModelParams {
    /// Messages, oldest first. The model answers those at the end.
    messages: Vec<ModelMessage>,
    /// System prompt. Defaults to none.
    #[serde(default)]
    system: String,
    /// Tools that the model may call. Strata does not run them: the client adds their results to the messages of the
    /// next request.
    #[serde(default)]
    tools: Vec<Tool>,
    /// Name chosen by the client. The answer is streamed under this name in `strata/delta` notifications. If absent,
    /// the answer is delivered only in the reply.
    stream: Option<String>,
    /// Model to ask. Defaults to the setting `provider.model`, or else `model`.
    model: Option<String>,
    /// Token limit for the answer. Defaults to the setting `provider.max_output_tokens`.
    max_output_tokens: Option<usize>,
}

/// A message of a conversation that the client stores itself.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ModelMessage {
    /// Role of the message's author.
    role: Role,
    /// Content of the message: a string or a list of blocks.
    content: TextOrList<ContentBlock>,
}

pub(super) struct ForwardConversation;

impl Command for ForwardConversation {
    const NAME: &str = "strata.model.send";
    const SUMMARY: &str = "Sends a conversation that the client keeps to the model in `provider.*`, with cache breakpoints, and \
                           streams the answer. Neither reads nor changes a session.";
    const ACCESS: Access = Access::Reads;
    type Args = ModelParams;
    type Reply = DeferredReply<ModelReply>;

    fn run(
        params: ModelParams,
        context: &mut Context<'_>,
    ) -> Result<DeferredReply<ModelReply>, CommandError> {
        let ModelParams { messages, system, tools, stream, model, max_output_tokens } = params;
        let (connection, model) = ModelConnection::new(stream, model.as_deref(), max_output_tokens, context)?;
        let numbered = (0..).map(MessageId).zip(messages);
        let messages: Vec<Message> = numbered
            .map(|(id, ModelMessage { role, content })| {
                let body = NewMessage::new(role, content.0);
                Message { id, body }
            })
            .collect();
        let conversation = ClientConversation { system: &system, tools: &tools, messages: &messages };
        let ForwardedRequest { body, output_reserve } = build_forwarded_request(
            conversation,
            connection.format,
            &model,
            context.snapshot.prompt_services(),
        )?;
        let body = match body {
            Body::Json(body) => body,
            Body::Text(text) => text.into(),
        };
        let job = ForwardJob { connection, model, body, output_reserve };
        context.effects.push(Effect::Start(BackgroundJob::Send(Box::new(ModelJob::Forward(job)))));
        Ok(DeferredReply::default())
    }
}
