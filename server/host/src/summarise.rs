//! One question to a language model, one text back: what a compaction asks for its summary. Owns the calling: which
//! provider, the key, the deadline, when to try again and when not, and how much of an answer is taken in. It
//! never decides what is asked or what becomes of the answer, and keeps nothing between two questions.
//!
//! A key goes from the environment into one header of one request. It is in no address, no error and no log, and the
//! library that writes the requests never sees it.

mod call;
mod error;
mod key;
mod provider;
mod retry;
mod runtime;
mod transport;

use std::time::{Duration, Instant};

use strata_engine::cancel::Cancel;

pub use self::error::SummaryError;
pub use self::key::Key;
pub use self::provider::{Provider, ProviderKind};

use self::call::Call;

/// A deadline that is further away than this is not one.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// What a model is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// What the model is told to be and to do. May be empty.
    pub system: String,
    /// What it is to answer.
    pub prompt: String,
    /// The most tokens that its answer may have. The provider is told, and an answer of more than 24 bytes for
    /// each, or of more than 256 KiB, is not taken.
    pub max_output_tokens: usize,
}

impl Provider {
    /// Asks with the key from the environment and waits for the whole answer. Trying again, waiting between two tries and reading
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
        let key = self.key()?;
        self.ask_with(key, question, deadline, cancel)
    }

    /// [`Provider::ask`] with a key that came from elsewhere, as from an editor's secret store, or without any.
    ///
    /// # Errors
    /// See [`SummaryError`].
    pub fn ask_with(
        &self,
        key: Option<Key>,
        question: &Question,
        deadline: Duration,
        cancel: &Cancel,
    ) -> Result<String, SummaryError> {
        cancel.check().map_err(|_| SummaryError::Cancelled)?;
        let deadline = deadline.min(LONGEST);
        let until = Instant::now() + deadline;
        let call = Call::new(self, key, question)?;
        let limits = runtime::Limits { until, deadline, cancel };
        runtime::wait_for(retry::ask_with_retries(call, until), &limits)
    }
}
