//! `prompt.send`: asks a model a question. Only starts the job that sends the prompt and handles the answer.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use strata_engine::conversation::history::Image;
use strata_engine::prompt::tiers::PolicyName;

use super::{
    Access, AnswerPage, Command, CommandError, Connection, Context, Deferred, Effect, Job, ModelJob, SendJob,
    SendReply, ToolAccess,
};
use crate::services::provider_client::ProviderClient;

/// A question, and how to deliver the answer.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct SendParams {
    /// Text of the question.
    prompt: String,
    /// Images to send with the question. Defaults to none.
    #[serde(default)]
    images: Vec<Image>,
    /// Name chosen by the client. The answer is streamed under this name in `strata/delta` notifications. If absent,
    /// the answer is delivered only in the reply.
    stream: Option<String>,
    /// Tools that the model may use while it answers. Defaults to `none`.
    #[serde(default)]
    tools: ToolAccess,
    /// Model to ask. Defaults to the setting `provider.model`, or else `model`.
    model: Option<String>,
    /// Layout policy. Defaults to the session's policy, or else to the setting `cache.policy`.
    policy: Option<PolicyName>,
    /// Maximum input tokens of each request. Defaults to no limit besides the model's window and the session's own
    /// limit.
    max_input_tokens: Option<usize>,
    /// Maximum tokens of the answer. Defaults to the setting `provider.max_output_tokens`.
    max_output_tokens: Option<usize>,
    /// Maximum tokens of code to add to the question as excerpts. Defaults to the session's limit, or else to the
    /// setting `context.auto_budget`.
    auto_budget: Option<usize>,
}

/// Arguments for `strata.prompt.assemble`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Question<'a> {
    prompt: &'a str,
    images: &'a [Image],
    format: strata_engine::conversation::dialect::Format,
    model: &'a str,
    policy: Option<PolicyName>,
    max_input_tokens: Option<usize>,
    auto_budget: Option<usize>,
}

pub(super) struct Send;

impl Command for Send {
    const NAME: &str = "strata.prompt.send";
    const SUMMARY: &str = "Assembles a prompt, sends it to the model in `provider.*`, streams the answer, and records it with \
                           its usage.";
    const ACCESS: Access = Access::Reads;
    type Args = SendParams;
    type Reply = Deferred<SendReply>;

    fn run(params: SendParams, context: &mut Context<'_>) -> Result<Deferred<SendReply>, CommandError> {
        params.begin(None, context)?;
        Ok(Deferred::default())
    }
}

impl SendParams {
    /// Creates a question for which the model may use tools that read the workspace.
    pub(super) fn with_tools(prompt: String) -> Self {
        Self { prompt, tools: ToolAccess::Read, ..Self::default() }
    }

    /// Starts the job that asks the question. With a `page`, the answer is written to a document, and the reply
    /// contains its path.
    ///
    /// # Errors
    /// Returns a [`CommandError`] if the question is empty or no provider is configured.
    pub(super) fn begin(
        self,
        page: Option<AnswerPage>,
        context: &mut Context<'_>,
    ) -> Result<(), CommandError> {
        let Self {
            prompt,
            images,
            stream,
            tools,
            model,
            policy,
            max_input_tokens,
            auto_budget,
            max_output_tokens,
        } = self;
        if prompt.trim().is_empty() && images.is_empty() {
            return Err(CommandError::invalid("prompt", "the question is empty"));
        }
        let settings = &context.snapshot.settings;
        let client = ProviderClient::of(settings, model.as_deref())?;
        client.check()?;
        let format = client.format();
        let question = Question {
            prompt: &prompt,
            images: &images,
            format,
            model: client.model(),
            policy,
            max_input_tokens,
            auto_budget,
        };
        let ask = match serde_json::to_value(question) {
            Ok(Value::Object(ask)) => ask,
            _ => Map::new(),
        };
        let connection = Connection {
            session: context.session.id.to_string(),
            stream,
            format,
            max_output_tokens: max_output_tokens.or(settings.provider.max_output_tokens),
            workspace: context.snapshot.clone(),
            client: Arc::new(client),
        };
        let tool_rounds = settings.provider.tool_rounds;
        let last_tools = context.session.next_ask(context.now_ms).tools;
        let job = SendJob { connection, ask, tools, last_tools, tool_rounds, page };
        context.effects.push(Effect::Start(Job::Send(Box::new(ModelJob::Send(job)))));
        Ok(())
    }
}
