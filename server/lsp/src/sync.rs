//! Keeps a buffer in step with the editor: turns a `didChange` into byte edits, one after the other, each
//! on the text that the one before it left. What does not fit is never guessed at: the buffer is marked out
//! of step until the next full text.

use strata_engine::code::buffer::Buffer;
use strata_engine::code::document::OutOfStep;
use tower_lsp::ls_types::TextDocumentContentChangeEvent;

use crate::position::Encoding;

/// The buffer after a change notification, whatever it held.
pub fn changed(
    buffer: &Buffer,
    version: i32,
    changes: &[TextDocumentContentChangeEvent],
    encoding: Encoding,
) -> Buffer {
    let mut next = buffer.clone();
    if let Err(reason) = next.advance(version) {
        next.lose_step(reason);
    }
    for change in changes {
        match change.range {
            None => next.replace_all(&change.text, version),
            // The text that the range counts in is not known; a guess would be silently wrong.
            Some(_) if !next.document().is_in_step() => {}
            Some(range) => {
                let bytes = encoding.range(&next.document().rope, range).map_err(|error| error.to_string());
                let done = bytes
                    .and_then(|bytes| next.replace(bytes, &change.text).map_err(|error| error.to_string()));
                if let Err(detail) = done {
                    next.lose_step(OutOfStep::InvalidRange { detail });
                }
            }
        }
    }
    next
}
