//! Maps piece boundaries through edits, and determines which pieces were touched.

use std::ops::Range;

use ropey::Rope;

use crate::outline::TreeEdit;

/// Maps offsets of the old text to the new text, and returns the touched ranges of the new text, sorted and disjoint.
pub(super) fn map_through_edits(starts: &[usize], edits: &[TreeEdit]) -> (Vec<usize>, Vec<Range<usize>>) {
    let mut starts = starts.to_vec();
    let mut touched: Vec<Range<usize>> = Vec::new();
    for edit in edits {
        let (start, old_end, new_end) = (edit.start.byte, edit.old_end.byte, edit.new_end.byte);
        let shift = |offset: &mut usize| {
            if *offset >= old_end {
                *offset = *offset - old_end + new_end;
            } else if *offset > start {
                *offset = new_end;
            }
        };
        let first = starts.partition_point(|offset| *offset <= start).max(1);
        starts.iter_mut().skip(first).for_each(shift);
        for range in &mut touched {
            // A range that a later edit overlaps is extended to cover the edit.
            range.start =
                if range.start >= old_end { range.start - old_end + new_end } else { range.start.min(start) };
            range.end = match range.end {
                end if end >= old_end => end - old_end + new_end,
                end if end > start => new_end,
                end => end,
            };
        }
        touched.push(start..new_end);
    }
    touched.sort_unstable_by_key(|range| (range.start, range.end));
    touched.dedup_by(|next, last| {
        let is_adjacent = next.start <= last.end;
        if is_adjacent {
            last.end = last.end.max(next.end);
        }
        is_adjacent
    });
    (starts, touched)
}

/// Returns, for each piece, whether it contains or borders a touched range.
pub(super) fn touched_pieces(starts: &[usize], touched: &[Range<usize>]) -> Vec<bool> {
    let mut pieces = vec![false; starts.len()];
    for range in touched {
        // The last piece that starts before the range may extend into it.
        let first = starts.partition_point(|start| *start < range.start).saturating_sub(1);
        let last = starts.partition_point(|start| *start <= range.end);
        pieces.iter_mut().take(last).skip(first).for_each(|piece| *piece = true);
    }
    pieces
}

/// Returns the runs of consecutive touched pieces.
pub(super) fn touched_runs(touched: &[bool]) -> impl Iterator<Item = Range<usize>> {
    let mut offset = 0;
    std::iter::from_fn(move || {
        let start = offset + touched.get(offset..)?.iter().position(|touched| *touched)?;
        let len = touched.get(start..)?.iter().take_while(|touched| **touched).count();
        offset = start + len;
        Some(start..offset)
    })
}

pub(super) fn piece_start(starts: &[usize], piece: usize) -> usize {
    starts.get(piece).copied().unwrap_or(usize::MAX)
}

pub(super) fn floor_char_boundary(text: &Rope, offset: usize) -> usize {
    text.char_to_byte(text.byte_to_char(offset.min(text.len_bytes())))
}
