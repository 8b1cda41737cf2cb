//! Asks the client for the provider's own token count of a finished request (`strata/countTokens`). Waits for the
//! answer on the caller's thread, up to a timeout.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use strata_base::cancel::Cancel;
use strata_prompt::assembly::{AssembledPrompt, assemble_allowing_empty};
use strata_prompt::session::Session;

use crate::model::snapshot::Snapshot;
use crate::services::front_end::{CountTokens, FrontEnd};
use crate::services::summarizer_client::wait_for_answer;

/// Timeout for counting the tokens of one request. It is longer than a provider's counting endpoint takes, but short
/// enough for a user who waits for the prompt.
const TOKEN_COUNT_TIMEOUT: Duration = Duration::from_secs(5);

/// A client for exact token counts.
#[derive(Clone, Debug)]
pub struct TokenCountClient(Arc<dyn FrontEnd>);

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CountedPrompt {
    /// Name of the model in the model table.
    pub model: String,
    /// Strata's estimate for the request, in tokens.
    pub estimated: usize,
    pub counted: usize,
}

impl TokenCountClient {
    pub(crate) fn new(front_end: Arc<dyn FrontEnd>) -> Self {
        Self(front_end)
    }

    /// Asks the client to count the tokens of a request.
    ///
    /// # Errors
    /// Returns the reason why there is no count, as a clause.
    pub(crate) fn count_prompt_tokens(
        &self,
        prompt: &AssembledPrompt,
        cancel: &Cancel,
    ) -> Result<CountedPrompt, String> {
        let AssembledPrompt { model, format, body, tokens, .. } = prompt;
        let body = serde_json::to_value(body).map_err(|error| error.to_string())?;
        let params = CountTokens { model: model.clone(), format: *format, body };
        let (answer, wait) = channel();
        self.0.count_tokens(params, TOKEN_COUNT_TIMEOUT, answer).map_err(|gone| gone.to_string())?;
        let counted = wait_for_answer(&wait, TOKEN_COUNT_TIMEOUT, cancel)?;
        Ok(CountedPrompt { model: model.clone(), estimated: tokens.total, counted })
    }

    /// Asks the client to count the tokens in the session's next request, excluding the user's question.
    ///
    /// # Errors
    /// Returns the reason why there is no count, as a clause.
    pub fn count_next_prompt_tokens(
        &self,
        session: &Session,
        snapshot: &Snapshot,
        now_ms: u64,
        cancel: &Cancel,
    ) -> Result<CountedPrompt, String> {
        let prompt_request = session.next_request(now_ms);
        let result = snapshot
            .with_workspace(session, &prompt_request, cancel, |workspace, services| {
                assemble_allowing_empty(workspace, session, &prompt_request, services)
            })
            .map_err(|_| "cancelled".to_owned())?;
        let prepared = result.map_err(|error| error.to_string())?;
        self.count_prompt_tokens(&prepared.reply, cancel)
    }
}
