//! One question to a language model, one text back: what a compaction asks for its summary. Owns the calling: which
//! provider, the key, the deadline, when to try again and when not, and how much of an answer is taken in. It
//! never decides what is asked or what becomes of the answer, and keeps nothing between two questions.
//!
//! A key is read from the environment for each question, goes into one header, and is in no error and no log.

mod error;
mod provider;

use std::time::Duration;

use strata_engine::cancel::Cancel;

pub use self::error::AskError;
pub use self::provider::{Kind, Provider, UnknownModel};

/// How long a question may take in all when nobody says otherwise.
pub const DEADLINE: Duration = Duration::from_secs(60);

/// What a model is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// What the model is told to be and to do. May be empty.
    pub system: String,
    /// What it is to answer.
    pub prompt: String,
    /// The most tokens that its answer may have; the provider is told.
    pub max_output_tokens: usize,
}

impl Provider {
    /// Asks and waits for the whole answer, at most until the deadline: trying again, waiting between two tries and
    /// reading the answer are all within it. May be called on any thread that is not one of an async runtime.
    ///
    /// # Errors
    /// See [`AskError`]. No part of an answer is given out with an error.
    pub fn ask(&self, question: &Question, deadline: Duration, cancel: &Cancel) -> Result<String, AskError> {
        cancel.check().map_err(|_| AskError::Cancelled)?;
        let _ = (question, deadline);
        Err(AskError::Unreachable { reason: "not built yet".to_owned() })
    }
}
