//! Replies of providers, in pieces of any size: what comes out does not depend on the pieces, what was shown is what is kept, and a reply that
//! came whole is read or refused.
use strata_engine::conversation::dialect::Format;
use strata_engine::conversation::reply::{Reply, ReplyDecoder, ReplyEvent};

const FORMATS: [Format; 4] = [Format::Anthropic, Format::OpenAi, Format::Responses, Format::Gemini];

fn decoded<'a>(format: Format, pieces: impl Iterator<Item = &'a [u8]>) -> (Vec<ReplyEvent>, Reply) {
    let mut decoder = ReplyDecoder::new(format).unwrap();
    let mut events: Vec<ReplyEvent> = pieces.flat_map(|piece| decoder.push(piece)).collect();
    let (reply, last) = decoder.finish();
    events.extend(last);
    (events, reply)
}

/// Takes any input. The first byte is the size of the pieces.
pub(crate) fn check(input: &[u8]) {
    let Some((size, bytes)) = input.split_first() else { return };
    for format in FORMATS {
        let (events, reply) = decoded(format, std::iter::once(bytes));
        let pieces = decoded(format, bytes.chunks(usize::from(*size).max(1)));
        assert_eq!((&events, &reply), (&pieces.0, &pieces.1), "{format:?}");
        let shown = events.iter().filter_map(|event| match event {
            ReplyEvent::Text(text) => Some(text.as_str()),
            ReplyEvent::Thinking(_) | ReplyEvent::ToolCall { .. } => None,
        });
        assert_eq!(shown.collect::<String>(), reply.text(), "{format:?}");
        if let Err(error) = Reply::read(format, bytes) {
            assert!(error.message.chars().count() <= 301, "{format:?}: {error}");
        }
    }
    // No other kind of error can come of it, whatever it says.
    let _ = Reply::read_ollama(bytes);
}
