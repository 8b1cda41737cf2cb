//! Cohere's v2 chat API: <https://docs.cohere.com/v2/reference/chat>. The types are those of the official client,
//! <https://github.com/cohere-ai/cohere-python>, at commit bc495da, read on 2026-11-27.

mod check;
mod messages;
mod reply;
#[cfg(test)]
mod tests;

use super::{Dialect, DialectProperties, Endpoint, Envelope, Fields, SpokenMessage, openai};

pub(super) static ENDPOINT: Endpoint = Endpoint {
    base_url: "https://api.cohere.com",
    superfluous: &["/v2/chat", "/v2", "/v1"],
    path: "v2/chat",
    models_path: "v1/models",
    key_variable: Some("CO_API_KEY"),
    implied_by: &["command-"],
    ..Endpoint::PLAIN
};

static PROPERTIES: DialectProperties = DialectProperties {
    // `documents` would add content that Strata does not count.
    reserved_fields: &["model", "tools", "documents", "messages"],
    ..DialectProperties::new(check::check, || Box::<reply::StreamedChat>::default())
};

#[derive(Debug)]
pub(super) struct CohereChat;

impl Dialect for CohereChat {
    fn properties(&self) -> &'static DialectProperties {
        &PROPERTIES
    }

    fn write(&self, spoken: &[SpokenMessage<'_>], envelope: &Envelope<'_>, body: &mut Fields) -> usize {
        let messages = messages::write_messages(spoken);
        let count = messages.len();
        envelope.write_tools(body, openai::tool, "NONE".into());
        body.insert("messages".into(), messages.into());
        count
    }
}
