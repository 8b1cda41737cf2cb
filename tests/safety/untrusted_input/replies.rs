//! Replies of providers, in pieces of any size: what comes out does not depend on the pieces, what was shown is what is kept, and a reply that
//! came whole is read or refused.
use strata_conversation::providers::reply::{Reply, ReplyDecoder, ReplyEvent};
use strata_conversation::providers::{Dialect, ProviderName};

fn decoded<'a>(dialect: &dyn Dialect, pieces: impl Iterator<Item = &'a [u8]>) -> (Vec<ReplyEvent>, Reply) {
    let mut decoder = ReplyDecoder::new(dialect);
    let mut events: Vec<ReplyEvent> = pieces.flat_map(|piece| decoder.push(piece)).collect();
    let (reply, last) = decoder.finish();
    events.extend(last);
    (events, reply)
}

/// Takes any input. The first byte is the size of the pieces.
pub(crate) fn check(input: &[u8]) {
    let Some((size, bytes)) = input.split_first() else { return };
    for provider in ProviderName::ALL {
        let dialect = provider.dialect();
        let (events, reply) = decoded(dialect, std::iter::once(bytes));
        let pieces = decoded(dialect, bytes.chunks(usize::from(*size).max(1)));
        assert_eq!((&events, &reply), (&pieces.0, &pieces.1), "{provider:?}");
        let shown = events.iter().filter_map(|event| match event {
            ReplyEvent::Text(text) => Some(text.as_str()),
            ReplyEvent::Thinking(_) | ReplyEvent::ToolCall { .. } => None,
        });
        assert_eq!(shown.collect::<String>(), reply.text(), "{provider:?}");
        if let Err(error) = Reply::read(dialect, bytes) {
            assert!(error.message.chars().count() <= 301, "{provider:?}: {error}");
        }
        // No other kind of error can come of it, whatever it says.
        let _ = provider.endpoint().question.map(|form| (form.read)(bytes));
    }
}
