//! Keeps buffers in sync with the editor. Converts a `didChange` notification to byte edits and applies them in order,
//! each to the result of the previous one. An edit that is invalid or contradicts itself marks the buffer as out of sync
//! until the next full text.

use std::ops::Range;

use ropey::Rope;
use strata_code::buffer::Buffer;
use strata_code::document::OutOfStep;
use tower_lsp::ls_types::TextDocumentContentChangeEvent;

use crate::position::{PositionEncoding, is_plausible_length};

/// What JSON's half of a surrogate pair becomes in a text.
const LONE_SURROGATE: char = char::REPLACEMENT_CHARACTER;

/// Applies a change notification to a buffer and returns the new buffer.
pub fn apply_changes(
    buffer: &Buffer,
    version: i32,
    changes: &[TextDocumentContentChangeEvent],
    encoding: PositionEncoding,
) -> Buffer {
    let mut next = buffer.clone();
    if changes.is_empty() {
        next.advance_unchanged(version);
        return next;
    }
    if let Err(reason) = next.advance(version) {
        next.mark_out_of_step(reason);
    }
    for change in changes {
        if change.range.is_none() {
            next.replace_all(&change.text, version);
        } else if next.document().is_in_step()
            && let Err(reason) = apply_change(&mut next, change, encoding)
        {
            // The text that later ranges refer to is unknown. Applying them anyway could silently corrupt the buffer.
            next.mark_out_of_step(reason);
        }
    }
    next
}

/// Replaces the range of a change with its text.
fn apply_change(
    buffer: &mut Buffer,
    change: &TextDocumentContentChangeEvent,
    encoding: PositionEncoding,
) -> Result<(), OutOfStep> {
    let Some(range) = change.range else { return Ok(()) };
    let invalid = |detail: String| OutOfStep::InvalidRange { detail };
    let bytes = encoding.range(&buffer.document().rope, range).map_err(|error| invalid(error.to_string()))?;
    // Deprecated, but clients still send it, and it tells whether they see the same text.
    if let Some(length) = change.range_length
        && bytes.start <= bytes.end
        && !is_plausible_length(&buffer.document().rope, &bytes, length)
    {
        return Err(invalid(format!(
            "`rangeLength` is {length}, but the text in the range has another length"
        )));
    }
    let start = bytes.start;
    buffer.replace(bytes, &change.text).map_err(|error| invalid(error.to_string()))?;
    let seams = start..start + change.text.len();
    if joins_surrogate_halves(&buffer.document().rope, &seams) {
        // In the editor, the halves of a character that came in separate messages are one character now.
        let detail = "an edit put two halves of a character next to each other".to_owned();
        return Err(OutOfStep::Misread { detail });
    }
    Ok(())
}

/// Whether two replacement characters meet where an edit begins or ends.
fn joins_surrogate_halves(rope: &Rope, seams: &Range<usize>) -> bool {
    [seams.start, seams.end].into_iter().any(|seam| {
        let at = rope.byte_to_char(seam);
        let before = at.checked_sub(1).and_then(|before| rope.get_char(before));
        before == Some(LONE_SURROGATE) && rope.get_char(at) == Some(LONE_SURROGATE)
    })
}
