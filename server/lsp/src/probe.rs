//! Asks the client how many tokens a finished request is by the provider's own count (`strata/countTokens`). Waits for the
//! answer on the caller's thread, never longer than it may. Knows nothing of why that is wanted.

use std::sync::mpsc::channel;
use std::time::Duration;

use strata_engine::cancel::Cancel;
use strata_engine::prompt::{Assembled, weigh};
use strata_engine::session::Session;
use tokio::sync::mpsc::UnboundedSender;

use crate::asker::{CLIENT_GONE, answer_of_client};
use crate::outgoing::{CountTokens, Outgoing};
use crate::snapshot::Snapshot;

/// A prompt waits for a count: longer than a provider's counting endpoint takes, and no longer than a person bears.
const PATIENCE: Duration = Duration::from_secs(5);

/// A way to ask for exact counts.
#[derive(Clone, Debug)]
pub struct Probe(UnboundedSender<Outgoing>);

/// What came of asking.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Measured {
    /// The model, by its name in the table.
    pub model: String,
    /// Our estimate of the request, in tokens.
    pub estimated: usize,
    /// The provider's own count.
    pub counted: usize,
}

impl Probe {
    pub(crate) fn new(outgoing: UnboundedSender<Outgoing>) -> Self {
        Self(outgoing)
    }

    /// Has a request counted.
    ///
    /// # Errors
    /// Why there is no count, as a clause.
    pub fn measure(&self, prompt: &Assembled, cancel: &Cancel) -> Result<Measured, String> {
        let Assembled { model, format, body, tokens, .. } = prompt;
        let body = serde_json::to_value(body).map_err(|error| error.to_string())?;
        let params = CountTokens { model: model.clone(), format: *format, body };
        let (answer, wait) = channel();
        let asked = Outgoing::CountTokens { params, patience: PATIENCE, answer };
        self.0.send(asked).map_err(|_| CLIENT_GONE.to_owned())?;
        let counted = answer_of_client(&wait, PATIENCE, cancel)?;
        Ok(Measured { model: model.clone(), estimated: tokens.total, counted })
    }

    /// Has counted what the next request of a session brings along before anything is asked in it.
    ///
    /// # Errors
    /// Why there is no count, as a clause.
    pub fn measure_next(
        &self,
        session: &Session,
        snapshot: &Snapshot,
        now_ms: u64,
        cancel: &Cancel,
    ) -> Result<Measured, String> {
        let ask = session.next_ask(now_ms);
        let weighed = snapshot
            .with_workspace(session, cancel, |workspace, means| weigh(workspace, session, &ask, means))
            .map_err(|_| "cancelled".to_owned())?;
        let prepared = weighed.map_err(|error| error.to_string())?;
        self.measure(&prepared.reply, cancel)
    }
}
