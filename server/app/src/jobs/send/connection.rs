//! What a request uses of its connection besides the model: the client that the answer is shown to, prices, and the
//! screen for secrets.

use strata_tokens::cost::Prices;

use super::delta::Delta;
use super::host::SendHost;
use crate::commands::ModelConnection;
use crate::model::redaction::SecretRedactor;
use crate::model::snapshot::Snapshot;

/// Sends a piece of the answer to the client, if the answer is streamed.
pub(super) fn show_delta(
    connection: &ModelConnection,
    host: &mut dyn SendHost,
    fill: impl FnOnce(Delta) -> Delta,
) {
    if let Some(stream) = &connection.stream {
        host.show(fill(Delta::empty(stream, &connection.session)));
    }
}

pub(super) fn model_prices(connection: &ModelConnection, model: &str) -> Prices {
    let Snapshot { models, settings, .. } = &connection.workspace;
    Prices::for_model(&models.resolve(model).model, settings.cache.ttl)
}

pub(super) fn secret_redactor(connection: &ModelConnection) -> &SecretRedactor {
    &connection.workspace.screen
}
