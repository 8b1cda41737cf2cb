//! Sends one request to the model, and streams its answer to the client.

use serde_json::Value;
use strata_engine::cancel::Cancel;
use strata_engine::conversation::dialect::{Format, limit_output};
use strata_host::provider::{SendError, Sent};

use super::host::SendHost;
use super::stream::{Answer, Audience, Stream};
use crate::commands::Connection;

/// Sends a request body with a limit for the answer, and streams the answer. Also returns its complete text.
pub(super) fn send(
    connection: &Connection,
    mut body: Value,
    reserve: usize,
    audience: Audience,
    host: &mut dyn SendHost,
    cancel: &Cancel,
) -> (Result<Sent, SendError>, Answer) {
    limit_answer(connection, &mut body, reserve);
    let mut stream = Stream::new(connection, audience, host);
    let sent = connection.client.send(&body, cancel, &mut |event| stream.take(event));
    (sent, stream.finish())
}

/// Limits the tokens of the answer. Anthropic requires a limit. Other providers have a default.
fn limit_answer(connection: &Connection, body: &mut Value, reserve: usize) {
    let limit = match (connection.max_output_tokens, connection.format) {
        (Some(limit), _) => limit,
        (None, Format::Anthropic) => reserve,
        (None, _) => return,
    };
    let model = body.get("model").and_then(Value::as_str).unwrap_or_default().to_owned();
    limit_output(connection.format, &model, body, limit);
}
