//! `prompt.send`: asks a model a question. Only starts the job that sends the prompt and handles the answer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_conversation::history::Image;
use strata_prompt::tiers::PolicyName;

use super::prompt::AssembleParams;
use super::{
    Access, AnswerDocument, BackgroundJob, Command, CommandError, Context, DeferredReply, Effect,
    ModelConnection, ModelJob, SendJob, SendReply, ToolAccess,
};

/// A question, and how to deliver the answer.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SendParams {
    /// Text of the question.
    pub prompt: String,
    /// Images to send with the question. Defaults to none.
    #[serde(default)]
    pub images: Vec<Image>,
    /// Name chosen by the client. The answer is streamed under this name in `strata/delta` notifications. If absent,
    /// the answer is delivered only in the reply.
    pub stream: Option<String>,
    /// Tools that the model may use while it answers. Defaults to `none`.
    #[serde(default)]
    pub tools: ToolAccess,
    /// Model to ask. Defaults to the setting `provider.model`, or else `model`.
    pub model: Option<String>,
    /// Layout policy. Defaults to the session's policy, or else to the setting `cache.policy`.
    pub policy: Option<PolicyName>,
    /// Maximum input tokens of each request. Defaults to no limit besides the model's window and the session's own
    /// limit.
    pub max_input_tokens: Option<usize>,
    /// Token limit for the answer. Defaults to the setting `provider.max_output_tokens`.
    pub max_output_tokens: Option<usize>,
    /// Token limit for code to add to the question as excerpts. Defaults to the session's limit, or else to the
    /// setting `context.auto_budget`.
    pub auto_budget: Option<usize>,
}

pub struct SendPrompt;

impl Command for SendPrompt {
    const NAME: &str = "strata.prompt.send";
    const SUMMARY: &str = "Assembles a prompt, sends it to the model in `provider.*`, streams the answer, and records it with \
                           its usage.";
    const ACCESS: Access = Access::Reads;
    type Args = SendParams;
    type Reply = DeferredReply<SendReply>;

    fn run(params: SendParams, context: &mut Context<'_>) -> Result<DeferredReply<SendReply>, CommandError> {
        params.start_job(None, context)
    }
}

impl SendParams {
    /// Creates a question for which the model may use tools that read the workspace.
    pub(super) fn with_read_tools(prompt: String) -> Self {
        Self { prompt, tools: ToolAccess::Read, ..Self::default() }
    }

    /// Starts the job that asks the question, and returns its reply. With a `page`, the answer is written to a document, and the reply
    /// contains its path.
    ///
    /// # Errors
    /// Returns a [`CommandError`] if the question is empty or no provider is configured.
    pub(super) fn start_job(
        self,
        page: Option<AnswerDocument>,
        context: &mut Context<'_>,
    ) -> Result<DeferredReply<SendReply>, CommandError> {
        if self.prompt.trim().is_empty() && self.images.is_empty() {
            return Err(CommandError::invalid("prompt", "the question is empty"));
        }
        let (model, tools) = (self.model.as_deref(), self.tools);
        let (connection, model) = ModelConnection::new(self.stream, model, self.max_output_tokens, context)?;
        let ask = Box::new(AssembleParams {
            prompt: Some(self.prompt),
            images: self.images,
            format: Some(connection.format),
            model: Some(model),
            policy: self.policy,
            max_input_tokens: self.max_input_tokens,
            auto_budget: self.auto_budget,
            ..AssembleParams::default()
        });
        let tool_rounds = context.snapshot.settings.provider.tool_rounds;
        let last_tools = context.session.next_request(context.now_ms).tools;
        let reply = DeferredReply::default();
        let job = SendJob { connection, ask, tools, last_tools, tool_rounds, page, reply: reply.clone() };
        context.effects.push(Effect::Start(BackgroundJob::Send(Box::new(ModelJob::Send(job)))));
        Ok(reply)
    }
}
