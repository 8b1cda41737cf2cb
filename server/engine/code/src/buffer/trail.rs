//! The edits that lead from the last parsed text to the current one. Clones share them, because every keystroke copies
//! the buffer and up to a thousand edits may be waiting for a slow parse.

use std::sync::Arc;

use crate::outline::TreeEdit;

/// A sequence of edits, each leading from one generation of a text to the next.
#[derive(Clone, Debug)]
pub(super) struct EditTrail {
    /// Generation of the text before the first edit.
    start: u64,
    last: Option<Arc<TrailEntry>>,
}

#[derive(Debug)]
struct TrailEntry {
    edit: TreeEdit,
    /// Generation of the text after the edit.
    generation: u64,
    previous: Option<Arc<TrailEntry>>,
    /// Number of edits in the trail up to and including this one.
    count: usize,
}

impl EditTrail {
    /// Creates an empty trail that starts at `generation`.
    pub(super) fn starting_at(generation: u64) -> Self {
        Self { start: generation, last: None }
    }

    pub(super) fn len(&self) -> usize {
        self.last.as_ref().map_or(0, |step| step.count)
    }

    /// Appends an edit that led to `generation`.
    pub(super) fn push(&mut self, generation: u64, edit: TreeEdit) {
        let count = self.len() + 1;
        let previous = self.last.take();
        self.last = Some(Arc::new(TrailEntry { edit, generation, previous, count }));
    }

    /// Returns the edits after a generation, oldest first, or `None` if the trail does not contain the
    /// generation.
    pub(super) fn edits_since(&self, generation: u64) -> Option<Vec<TreeEdit>> {
        let steps = self.entries_since(generation)?;
        Some(steps.into_iter().rev().map(|step| step.edit).collect())
    }

    /// Drops the edits before a generation. Returns `false` and changes nothing if the trail does not contain it.
    pub(super) fn discard_before(&mut self, generation: u64) -> bool {
        let Some(steps) = self.entries_since(generation) else { return false };
        let mut rest = Self::starting_at(generation);
        steps.into_iter().rev().for_each(|step| rest.push(step.generation, step.edit));
        *self = rest;
        true
    }

    /// Returns the steps after a generation, newest first, or `None` if the trail does not contain the generation.
    fn entries_since(&self, generation: u64) -> Option<Vec<&TrailEntry>> {
        let mut steps = Vec::new();
        let mut next = self.last.as_deref();
        while let Some(step) = next {
            if step.generation == generation {
                return Some(steps);
            }
            steps.push(step);
            next = step.previous.as_deref();
        }
        (self.start == generation).then_some(steps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outline::TreePoint;

    fn edit(byte: usize) -> TreeEdit {
        let point = TreePoint { byte, row: 0, column: byte };
        TreeEdit { start: point, old_end: point, new_end: point }
    }

    fn start_bytes(trail: &EditTrail, generation: u64) -> Option<Vec<usize>> {
        Some(trail.edits_since(generation)?.iter().map(|edit| edit.start.byte).collect())
    }

    #[test]
    fn a_trail_lists_the_edits_since_each_of_its_generations() {
        let mut trail = EditTrail::starting_at(10);
        for (generation, byte) in [(11, 1), (15, 2), (20, 3)] {
            trail.push(generation, edit(byte));
        }
        let snapshot = trail.clone();
        assert_eq!(start_bytes(&trail, 10), Some(vec![1, 2, 3]));
        assert_eq!(start_bytes(&trail, 15), Some(vec![3]));
        assert_eq!(start_bytes(&trail, 20), Some(vec![]));
        assert_eq!(start_bytes(&trail, 12), None);

        assert!(trail.discard_before(11) && !trail.discard_before(10));
        assert_eq!(
            (trail.len(), start_bytes(&trail, 11), start_bytes(&trail, 10)),
            (2, Some(vec![2, 3]), None)
        );
        assert_eq!(
            (snapshot.len(), start_bytes(&snapshot, 10)),
            (3, Some(vec![1, 2, 3])),
            "the clone is unchanged"
        );
    }
}
