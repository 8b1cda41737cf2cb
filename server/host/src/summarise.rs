//! One question to a language model, one text back: what a compaction asks for its summary. Owns what of a reply is taken as the
//! answer. It never decides what is asked or what becomes of the answer, and keeps nothing between two questions.

use std::time::Duration;

use strata_engine::cancel::Cancel;
use strata_engine::conversation::dialect::{ollama_question, question};
use strata_engine::conversation::reply::{Reply, ReplyEnd};

use crate::provider::{Limits, Provider, ProviderKind, SendError, Target};

/// The most bytes of an answer, whatever was asked for.
const MAX_ANSWER: usize = 256 * 1024;

/// The most bytes of an answer for each token that it may have: four times what a long token has.
const MAX_BYTES_PER_TOKEN: usize = 24;

/// The most that is read of one reply: the text may be escaped throughout, and what a model thought comes with it.
const MAX_REPLY: usize = 4 * 1024 * 1024;

/// Tries after the first.
const RETRIES: u32 = 2;

/// What a model is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// What the model is told to be and to do. May be empty.
    pub system: String,
    /// What it is to answer.
    pub prompt: String,
    /// The most tokens that its answer may have. The provider is told, and an answer of more than 24 bytes for
    /// each, or of more than 256 KiB, is rejected.
    pub max_output_tokens: usize,
}

/// Why a question has no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SummaryError {
    /// There is no reply.
    #[error(transparent)]
    Send(#[from] SendError),
    /// The reply has no text.
    #[error(
        "the model's answer has no text; a reasoning model may need more output tokens, or try another model"
    )]
    Empty,
}

impl Provider {
    /// Asks and waits for the whole answer. Trying again, waiting between two tries and reading
    /// the answer are all within the deadline; raising `cancel` ends it within some 20 ms. May be called on any thread.
    ///
    /// # Errors
    /// See [`SummaryError`]. Nothing of an answer is given out with an error.
    pub fn ask(
        &self,
        question: &Question,
        deadline: Duration,
        cancel: &Cancel,
    ) -> Result<String, SummaryError> {
        let limit = question.max_output_tokens.saturating_mul(MAX_BYTES_PER_TOKEN).min(MAX_ANSWER);
        let limits = Limits { deadline, stall: deadline, max_reply_bytes: MAX_REPLY, retries: RETRIES };
        let reply = self.put(question, &limits, cancel).map_err(|error| match error {
            SendError::TooLong { .. } => SendError::TooLong { limit },
            error => error,
        })?;
        let text = reply.text();
        match (text.trim(), reply.end) {
            ("", ReplyEnd::Failed(error)) => Err(SendError::Provider { status: 200, error }.into()),
            ("", _) => Err(SummaryError::Empty),
            (text, _) if text.len() > limit => Err(SendError::TooLong { limit }.into()),
            (text, _) => Ok(text.to_owned()),
        }
    }

    fn put(&self, asked: &Question, limits: &Limits, cancel: &Cancel) -> Result<Reply, SendError> {
        let Question { system, prompt, max_output_tokens } = asked;
        if self.kind == ProviderKind::Ollama {
            let body = ollama_question(&self.model, system, prompt, *max_output_tokens);
            return self.post(Target::OllamaChat, &body, &Reply::read_ollama, limits, cancel);
        }
        let body = question(self.kind.format(), &self.model, system, prompt, *max_output_tokens);
        self.send(&body, limits, cancel)
    }
}
