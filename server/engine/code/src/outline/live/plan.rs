//! Splits a walk into pieces, and detects where a repeated walk is back in step with the old pieces.
//! Considers only anchors, not findings.

use super::piece::OutlinePiece;
use crate::outline::extract::{PiecePlan, WalkAction, WalkAnchor, WalkFindings};

/// Minimum size of a piece before it may end at an anchor, in bytes.
pub(super) const MIN_PIECE_BYTES: usize = 1_024;
/// Size in bytes below which a piece is merged with the next one when it is walked again.
const MIN_REWALKED_PIECE_BYTES: usize = 256;

/// A piece with its findings.
pub(super) struct WalkedPiece<'a> {
    pub(super) anchor: WalkAnchor,
    pub(super) start: usize,
    pub(super) findings: WalkFindings<'a>,
}

/// Splits a walk into pieces, and stops it where all later pieces are unchanged.
pub(super) struct PieceSplitter<'o, 'a> {
    old: &'o [OutlinePiece],
    starts: &'o [usize],
    touched: &'o [bool],
    /// Index of the first old piece at which the walk may stop.
    pub(super) candidate: usize,
    /// Anchor at the start of the current piece.
    anchor: WalkAnchor,
    start: usize,
    pub(super) walked: Vec<WalkedPiece<'a>>,
}

impl<'o> PieceSplitter<'o, '_> {
    /// Creates the plan for a walk that starts at an anchor and its byte offset. `starts` are the current offsets of
    /// the old pieces, and `touched` marks the pieces that were edited.
    pub(super) fn new(
        old: &'o [OutlinePiece],
        starts: &'o [usize],
        touched: &'o [bool],
        (anchor, start): (WalkAnchor, usize),
    ) -> Self {
        let mut pieces = Self { old, starts, touched, candidate: 0, anchor, start, walked: Vec::new() };
        pieces.skip_pieces_until(start + 1);
        pieces
    }

    /// Skips old pieces that start before `byte` or were touched; the walk cannot stop at them.
    fn skip_pieces_until(&mut self, byte: usize) {
        let is_skipped = |index: usize| {
            let start = self.starts.get(index).copied();
            let is_touched = self.touched.get(index).copied().unwrap_or(true);
            start.is_some_and(|start| start < byte || is_touched)
        };
        self.candidate = (self.candidate..).find(|index| !is_skipped(*index)).unwrap_or(self.candidate);
    }

    /// Whether the walk may stop shortly after `start`. A cut at `start` would then leave a small piece, which would
    /// have to merge with the next one, and so on to the end of the text.
    fn may_stop_shortly_after(&self, start: usize) -> bool {
        self.starts
            .get(self.candidate)
            .is_some_and(|stop| *stop < start.saturating_add(MIN_REWALKED_PIECE_BYTES))
    }
}

impl<'a> PiecePlan<'a> for PieceSplitter<'_, 'a> {
    fn next_anchor_offset(&self) -> usize {
        let full = self.start.saturating_add(MIN_PIECE_BYTES);
        self.starts.get(self.candidate).map_or(full, |start| full.min(*start))
    }

    fn action_at_anchor(&mut self, anchor: &WalkAnchor, start: usize) -> WalkAction {
        self.skip_pieces_until(start);
        let is_small = start < self.start.saturating_add(MIN_REWALKED_PIECE_BYTES);
        let is_in_step = self.starts.get(self.candidate) == Some(&start)
            && self.old.get(self.candidate).is_some_and(|old| old.anchor == *anchor);
        if is_in_step && !is_small {
            WalkAction::Stop
        } else if start >= self.start.saturating_add(MIN_PIECE_BYTES) && !self.may_stop_shortly_after(start) {
            WalkAction::Cut
        } else {
            WalkAction::Continue
        }
    }

    fn take_piece(&mut self, findings: WalkFindings<'a>, anchor: WalkAnchor, start: usize) {
        let anchor = std::mem::replace(&mut self.anchor, anchor);
        let start = std::mem::replace(&mut self.start, start);
        self.walked.push(WalkedPiece { anchor, start, findings });
    }

    fn take_last_piece(&mut self, findings: WalkFindings<'a>) {
        self.candidate = self.old.len();
        self.walked.push(WalkedPiece { anchor: self.anchor.clone(), start: self.start, findings });
    }
}
