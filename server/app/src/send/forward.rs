//! Forwards a conversation that a client keeps to the model, in one request whose answer goes back to the client. Runs
//! no commands and records nothing.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use strata_engine::cancel::Cancel;
use strata_engine::conversation::history::ContentBlock;
use strata_engine::external::External;
use strata_engine::tokens::cost::{Charge, Usage};
use strata_engine::tokens::redaction::{Destination, placeholders};
use strata_host::provider::Sent;

use super::answer::{Audience, SendCost, SendEnd, ended};
use super::connection::Connection;
use super::{ModelJob, SendHost, failure};
use crate::commands::CommandError;

/// The answer to a forwarded conversation, with its usage and cost.
#[derive(Clone, PartialEq, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ModelReply {
    /// Model that answered.
    pub model: String,
    /// Content of the answer. Known secrets are restored only in the arguments of the tools in `redaction.edit_tools`.
    /// Pass it as the assistant's message in the next request.
    pub content: Vec<ContentBlock>,
    /// How the answer ended.
    pub(crate) end: SendEnd,
    /// Error that ended the answer early. Absent unless `end` is `cut`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Billed token usage of the request.
    pub usage: Usage,
    /// Cost of the input.
    pub(crate) cost: SendCost,
    /// Warnings for the user. For example, a tool call contains placeholders.
    pub warnings: Vec<String>,
}

/// A request that continues a conversation which the client stores itself.
#[derive(Clone, Debug)]
pub(crate) struct ForwardJob {
    pub(crate) connection: Connection,
    pub(crate) model: String,
    pub(crate) body: Value,
    /// Tokens reserved for the answer.
    pub(crate) output_reserve: usize,
}

impl ModelJob for ForwardJob {
    fn session(&self) -> &str {
        &self.connection.session
    }

    fn occupies_session(&self) -> bool {
        false
    }

    fn is_silent(&self) -> bool {
        false
    }

    fn answer(&self, host: &mut dyn SendHost, cancel: &Cancel) -> Result<Value, CommandError> {
        let reply = self.run(host, cancel)?;
        serde_json::to_value(reply).map_err(|error| CommandError::failed(error.to_string()))
    }
}

impl ForwardJob {
    fn run(&self, host: &mut dyn SendHost, cancel: &Cancel) -> Result<ModelReply, CommandError> {
        let Self { connection, model, body, output_reserve } = self;
        host.progress(&format!("waiting for {model}"));
        let reply = ModelReply { model: model.clone(), ..ModelReply::default() };
        let (sent, _) = connection.send(body.clone(), *output_reserve, Audience::Client, host, cancel);
        let Sent { reply: answer, broken } = match sent {
            Ok(sent) => sent,
            Err(_) if cancel.is_cancelled() => return Ok(ModelReply { end: SendEnd::Cancelled, ..reply }),
            Err(error) => return Err(failure(&error)),
        };
        let (end, error) = ended(&answer, broken, cancel);
        let usage = answer.usage.unwrap_or_default();
        let cost = SendCost::of(usage, &Charge::default(), &connection.prices(model));
        let content: Vec<_> = answer.content.into_iter().map(|block| self.restored(block)).collect();
        let warnings = content.iter().filter_map(placeholders_left).collect();
        Ok(ModelReply { content, end, error, usage, cost, warnings, ..reply })
    }

    /// Restores known secrets in calls of tools that edit the user's files.
    fn restored(&self, block: ContentBlock) -> ContentBlock {
        match block {
            ContentBlock::ToolCall { id, name, mut input } => {
                self.connection.screen().restore_value(&mut input, Destination::Tool(&name));
                ContentBlock::ToolCall { id, name, input }
            }
            other => other,
        }
    }
}

/// Returns a warning if a tool call contains placeholders, which the tool would take for the text itself.
fn placeholders_left(block: &ContentBlock) -> Option<String> {
    let ContentBlock::ToolCall { name, input, .. } = block else { return None };
    let input = input.to_string();
    let (_, placeholder) = placeholders(&input).next()?;
    let name = External::new(name).notice();
    Some(format!(
        "a call of the tool {name} contains the placeholder {placeholder} instead of a secret; if the tool edits your own files, add \
         its name to redaction.edit_tools in your own settings"
    ))
}
