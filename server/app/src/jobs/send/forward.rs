//! Forwards a conversation that a client keeps to the model, in one request whose answer goes back to the client. Runs
//! no commands and records nothing.

use strata_base::cancel::Cancel;
use strata_base::external::ExternalText;
use strata_conversation::history::ContentBlock;
use strata_host::provider::StreamOutcome;
use strata_tokens::cost::Charge;
use strata_tokens::redaction::{Destination, placeholders};

use super::connection::{model_prices, secret_redactor};
use super::ended::end_of_answer;
use super::host::SendHost;
use super::stream::{Audience, send};
use crate::commands::{CommandError, ForwardJob, ModelReply, SendCost, SendEnd};

impl ForwardJob {
    pub(super) fn run(&self, host: &mut dyn SendHost, cancel: &Cancel) -> Result<ModelReply, CommandError> {
        let Self { connection, model, body, output_reserve } = self;
        host.progress(&format!("waiting for {model}"));
        let reply = ModelReply { model: model.clone(), ..ModelReply::default() };
        let (result, _) = send(connection, body.clone(), *output_reserve, Audience::Client, host, cancel);
        let StreamOutcome { reply: answer, broken } = match result {
            Ok(result) => result,
            Err(_) if cancel.is_cancelled() => return Ok(ModelReply { end: SendEnd::Cancelled, ..reply }),
            Err(error) => return Err(error.into()),
        };
        let (end, error) = end_of_answer(&answer, broken, cancel);
        let usage = answer.usage.unwrap_or_default();
        let cost = SendCost::new(usage, &Charge::default(), &model_prices(connection, model));
        let content: Vec<_> = answer.content.into_iter().map(|block| self.restore_secrets(block)).collect();
        let warnings = content.iter().filter_map(placeholder_warning).collect();
        Ok(ModelReply { content, end, error, usage, cost, warnings, ..reply })
    }

    /// Restores known secrets in calls of tools that edit the user's files.
    fn restore_secrets(&self, block: ContentBlock) -> ContentBlock {
        match block {
            ContentBlock::ToolCall { id, name, mut input } => {
                secret_redactor(&self.connection).restore_value(&mut input, Destination::Tool(&name));
                ContentBlock::ToolCall { id, name, input }
            }
            other => other,
        }
    }
}

/// Returns a warning if a tool call contains placeholders, which the tool would take for the text itself.
fn placeholder_warning(block: &ContentBlock) -> Option<String> {
    let ContentBlock::ToolCall { name, input, .. } = block else { return None };
    let input = input.to_string();
    let (_, placeholder) = placeholders(&input).next()?;
    let name = ExternalText::new(name).notice();
    Some(format!(
        "a call of the tool {name} contains the placeholder {placeholder} instead of a secret; if the tool edits your own files, add \
         its name to redaction.edit_tools in your own settings"
    ))
}
