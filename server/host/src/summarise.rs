//! Asks a language model one question and returns the answer, for the summary of a compaction. Extracts the answer from
//! the reply. Does not decide what to ask or how to use the answer, and keeps no state between questions.

use std::time::Duration;

use strata_base::cancel::Cancel;
use strata_conversation::providers::reply::{Reply, ReplyEnd};

use crate::provider::{Provider, RequestLimits, RequestTarget, SendError};

/// Maximum size of an answer in bytes, regardless of the allowed tokens.
const MAX_ANSWER_BYTES: usize = 256 * 1024;

/// Maximum size of an answer in bytes, per allowed token. English text averages about four bytes per token, so only an
/// answer far above its token limit is rejected.
const MAX_BYTES_PER_TOKEN: usize = 24;

/// Maximum size of a reply in bytes. Larger than the maximum answer, since a reply contains reasoning and may contain
/// escaped text.
const MAX_REPLY_BYTES: usize = 4 * 1024 * 1024;

const RETRIES: u32 = 2;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SummaryQuestion {
    /// The system prompt, which may be empty.
    pub system: String,
    pub prompt: String,
    /// Maximum number of tokens in the answer, as requested from the provider. Answers with more than 24 bytes per
    /// allowed token, or more than 256 KiB, are rejected.
    pub max_output_tokens: usize,
}

/// Why a request for a summary failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SummaryError {
    #[error(transparent)]
    Send(#[from] SendError),
    /// The reply contains no text.
    #[error(
        "the model's answer has no text; allow more output tokens (reasoning models need more), or use another model"
    )]
    Empty,
    /// The reply ended before the answer was complete.
    #[error("the model did not finish its answer; allow more output tokens (reasoning models need more)")]
    Unfinished,
}

impl Provider {
    /// Asks a question and waits for the complete answer. The deadline includes retries and the waits between them.
    /// Raising `cancel` ends the call within about 20 ms. Can be called on any thread.
    ///
    /// # Errors
    /// [`SummaryError`] if there is no usable answer. Partial answers are discarded.
    pub fn ask(
        &self,
        question: &SummaryQuestion,
        deadline: Duration,
        cancel: &Cancel,
    ) -> Result<String, SummaryError> {
        let limit = question.max_output_tokens.saturating_mul(MAX_BYTES_PER_TOKEN).min(MAX_ANSWER_BYTES);
        let limits =
            RequestLimits { deadline, stall: deadline, max_reply_bytes: MAX_REPLY_BYTES, retries: RETRIES };
        let reply = self.send_question(question, &limits, cancel).map_err(|error| match error {
            SendError::TooLong { .. } => SendError::TooLong { limit },
            error => error,
        })?;
        let text = reply.text();
        match (text.trim(), reply.end) {
            (_, ReplyEnd::Failed(error)) => Err(SendError::Provider { status: None, error }.into()),
            ("", _) => Err(SummaryError::Empty),
            (_, ReplyEnd::OutputLimit | ReplyEnd::Cut | ReplyEnd::ToolCalls) => Err(SummaryError::Unfinished),
            (text, _) if text.len() > limit => Err(SendError::TooLong { limit }.into()),
            (text, _) => Ok(text.to_owned()),
        }
    }

    fn send_question(
        &self,
        question: &SummaryQuestion,
        limits: &RequestLimits,
        cancel: &Cancel,
    ) -> Result<Reply, SendError> {
        let SummaryQuestion { system, prompt, max_output_tokens } = question;
        if let Some(form) = self.kind.endpoint().question {
            let body = (form.body)(&self.model, system, prompt, *max_output_tokens);
            return self.request(RequestTarget::Server(form.path), Some(&body), &form.read, limits, cancel);
        }
        let body = self.kind.dialect().question(&self.model, system, prompt, *max_output_tokens);
        self.send(&body, limits, cancel)
    }
}
