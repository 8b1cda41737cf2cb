//! Writes an answer as a Markdown document, for editors that can show neither replies nor streamed answers. Secrets
//! stay placeholders in it.

use serde_json::{Value, json};
use strata_base::external::ExternalText;
use strata_host::uri;

use crate::commands::{AnswerDocument, CommandError, SendEnd, SendReply};
use crate::format;

impl AnswerDocument {
    /// Writes the answer, and returns the location of the document.
    ///
    /// # Errors
    /// Returns a [`CommandError`] if there is no answer, or the document cannot be written.
    pub(super) fn write(&self, reply: &SendReply) -> Result<Value, CommandError> {
        if reply.written.is_empty() && reply.end != SendEnd::Complete {
            return Err(match &reply.error {
                Some(error) => CommandError::failed(error.clone()),
                None => CommandError::Cancelled,
            });
        }
        let path = self.previews.write_answer(&reply.session, &self.text(reply))?;
        Ok(json!({
            "message": format!("{} answered in {}", escape_for_notice(&reply.model), escape_for_notice(&path.display().to_string())),
            "path": path.display().to_string(),
            "uri": uri::file_uri(&path),
        }))
    }

    fn text(&self, reply: &SendReply) -> String {
        let markdown = |text: &str| ExternalText::new(text).markdown().to_string();
        let quoted: String = self.question.lines().map(|line| format!("> {}\n", markdown(line))).collect();
        let bill = format!(
            "{}: {}, {} in, {:.0} % of them read from the cache, {} out",
            markdown(&reply.model),
            reply.cost.dollars.map_or_else(|| "unknown price".to_owned(), format::dollars),
            format::tokens(reply.usage.input_tokens()),
            reply.cost.read_share * 100.0,
            reply.usage.output,
        );
        let ended = match reply.end {
            SendEnd::Complete | SendEnd::ToolCalls | SendEnd::ToolRounds | SendEnd::Failed => None,
            SendEnd::OutputLimit => Some("the answer reached its token limit"),
            SendEnd::Cancelled => Some("you stopped the answer"),
            SendEnd::Cut => Some("the connection was lost before the answer was complete"),
        };
        let notes: String = ended
            .map(str::to_owned)
            .into_iter()
            .chain(reply.error.clone())
            .chain(
                reply
                    .shed
                    .iter()
                    .map(|file| format!("{file} was left out because it does not fit into the prompt")),
            )
            .chain(reply.warnings.iter().cloned())
            .map(|note| format!("- {}\n", markdown(&note)))
            .collect();
        format!("{quoted}\n{}\n\n---\n\n- {bill}\n{notes}", reply.written.trim_end())
    }
}

fn escape_for_notice(text: &str) -> String {
    ExternalText::new(text).notice().to_string()
}
