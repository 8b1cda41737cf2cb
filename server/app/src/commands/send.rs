//! `prompt.send`: asks a model. Only starts the job, which sends the prompt and handles the answer.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use strata_engine::conversation::history::Image;
use strata_engine::prompt::tiers::PolicyName;

use super::{Access, Command, CommandError, Context, Deferred, Effect, Job};
use crate::send::{AnswerPage, Connection, ProviderClient, SendJob, SendReply, SnapshotParts, ToolAccess};

/// The question, and how to show the answer.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct SendParams {
    /// The question.
    prompt: String,
    /// Pictures that go with it.
    #[serde(default)]
    images: Vec<Image>,
    /// A name of the client's choice under which it is shown the answer as it comes (`strata/delta`). Without it the answer comes with
    /// the reply only.
    stream: Option<String>,
    /// The tools that the model may use while it answers.
    #[serde(default)]
    tools: ToolAccess,
    /// The model; that of the setting `provider.model` or else `model` when absent.
    model: Option<String>,
    /// Layout policy. Defaults to that of the session or the settings.
    policy: Option<PolicyName>,
    /// Maximum input tokens; the model's window when absent or larger.
    max_input_tokens: Option<usize>,
    /// Maximum tokens of the answer; the setting `provider.max_output_tokens` when absent.
    max_output_tokens: Option<usize>,
    /// Maximum tokens of code that the prompt brings along: excerpts of the files that it is about; the setting `context.auto_budget` when absent.
    auto_budget: Option<usize>,
}

/// The part that `strata.prompt.assemble` takes.
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
    const SUMMARY: &str = "Asks the model of `provider.*`: assembles a prompt, sends it, streams the answer, and records it with its \
                           usage.";
    const ACCESS: Access = Access::Reads;
    type Args = SendParams;
    type Reply = Deferred<SendReply>;

    fn run(params: SendParams, context: &mut Context<'_>) -> Result<Deferred<SendReply>, CommandError> {
        params.begin(None, context)?;
        Ok(Deferred::default())
    }
}

impl SendParams {
    /// A question during whose answer the model may look things up.
    pub(super) fn with_tools(prompt: String) -> Self {
        Self { prompt, tools: ToolAccess::Read, ..Self::default() }
    }

    /// Begins to ask. With a `page` the answer becomes a document, and the reply says where that is.
    ///
    /// # Errors
    /// [`CommandError`] when there is nothing to ask, or nobody.
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
            snapshot: SnapshotParts::of(context.snapshot),
            client: Arc::new(client),
        };
        let tool_rounds = settings.provider.tool_rounds;
        let job = SendJob { connection, ask, tools, tool_rounds, page };
        context.effects.push(Effect::Start(Job::Send(Arc::new(job))));
        Ok(())
    }
}
