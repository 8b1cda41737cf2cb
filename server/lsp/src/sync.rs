//! Keeps buffers in sync with the editor. Converts a `didChange` notification to byte edits and applies them in order,
//! each to the result of the previous one. An invalid edit marks the buffer as out of sync until the next full text.

use strata_engine::code::buffer::Buffer;
use strata_engine::code::document::OutOfStep;
use tower_lsp::ls_types::TextDocumentContentChangeEvent;

use crate::position::Encoding;

/// Applies a change notification to a buffer and returns the new buffer.
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
            // The text that the range refers to is unknown. Applying the edit anyway could silently corrupt the buffer.
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
