//! Estimates the hazard of a block: the probability that the block leaves the prompt at the next turn. Hazards are
//! learned from the user's behavior. They are integers in millionths, so that all platforms order items the same way.

use serde::{Deserialize, Serialize};
use strata_base::hash::ContentHash;

/// Probability 1, in millionths.
pub(super) const PROBABILITY_ONE: u32 = 1_000_000;

/// Hazard of a map block, in millionths. A map block leaves only if its file is excluded or disappears. It may be kept
/// when its file is selected.
pub(super) const MAP_HAZARD: u32 = 500;

/// Hazard of web pages and the file list, in millionths. They leave only if the user decides so.
pub(super) const PAGE_HAZARD: u32 = 20_000;

/// Hazard of an excerpt, in millionths. An excerpt leaves if it is dismissed or its file is excluded. Like a map block,
/// it may be kept when it is no longer relevant to a question.
pub(super) const EXCERPT_HAZARD: u32 = 500;

/// Number of distinct ages. Higher ages count as the highest one.
const SELECTION_AGE_COUNT: usize = 10;

/// Share of files deselected at each age, in the sessions used for tuning.
const DESELECTION_PRIOR: [f64; SELECTION_AGE_COUNT] =
    [0.02, 0.03, 0.06, 0.10, 0.12, 0.12, 0.12, 0.12, 0.12, 0.12];

/// Number of turns that the discounted hazard looks ahead. Each turn weighs `HAZARD_DISCOUNT` times as much as the one
/// before.
const HAZARD_HORIZON_TURNS: usize = 12;
const HAZARD_DISCOUNT: f64 = 0.7;

/// The age of a selected file: the turns since it was selected or last changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct SelectionClock {
    since: u64,
    hash: ContentHash,
}

impl SelectionClock {
    /// Starts the clock of a newly selected file.
    pub(super) fn new(turn: u64, hash: ContentHash) -> Self {
        Self { since: turn, hash }
    }

    /// Compares the current text with the last one. A change resets the age.
    pub(super) fn restart_if_changed(&mut self, turn: u64, hash: ContentHash) {
        if self.hash != hash {
            *self = Self::new(turn, hash);
        }
    }

    /// Returns the number of turns since the file was selected or last changed, up to the highest age.
    pub(super) fn age(self, turn: u64) -> usize {
        usize::try_from(turn.saturating_sub(self.since))
            .unwrap_or(SELECTION_AGE_COUNT)
            .min(SELECTION_AGE_COUNT - 1)
    }
}

/// Whether a selected file is still selected at the next turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SelectionOutcome {
    Stayed,
    /// The file was deselected.
    Left,
}

/// Counts, by age, of the selected files that were seen and of those that were deselected by the next turn.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct DeselectionCounts {
    seen: [u32; SELECTION_AGE_COUNT],
    left: [u32; SELECTION_AGE_COUNT],
}

impl DeselectionCounts {
    /// Records whether a file of this age was deselected by the next turn.
    pub(super) fn record(&mut self, age: usize, fate: SelectionOutcome) {
        if let (Some(seen), Some(left)) = (self.seen.get_mut(age), self.left.get_mut(age)) {
            *seen = seen.saturating_add(1);
            *left = left.saturating_add(u32::from(fate == SelectionOutcome::Left));
        }
    }

    pub(super) fn hazards(&self) -> DeselectionHazards {
        let counts =
            || self.seen.iter().zip(&self.left).map(|(seen, left)| (f64::from(*seen), f64::from(*left)));
        let total_left: f64 = counts().map(|(_, left)| left).sum();
        let expected_left: f64 = counts().zip(DESELECTION_PRIOR).map(|((seen, _), prior)| seen * prior).sum();
        let scale = (total_left + 3.0) / (expected_left + 3.0);
        let mut next = [0.0; SELECTION_AGE_COUNT];
        for (slot, ((seen, left), prior)) in next.iter_mut().zip(counts().zip(DESELECTION_PRIOR)) {
            *slot = f64::min(1.0, (left + 2.0 * scale * prior) / (seen + 2.0));
        }
        let discounted = std::array::from_fn(|age| to_millionths(discounted_hazard(&next, age)));
        DeselectionHazards { next: next.map(to_millionths), discounted }
    }
}

/// Hazards by age, in millionths: the probability of leaving at the next turn, and its discounted mean over later
/// turns.
#[derive(Clone, Debug)]
pub(super) struct DeselectionHazards {
    next: [u32; SELECTION_AGE_COUNT],
    discounted: [u32; SELECTION_AGE_COUNT],
}

impl DeselectionHazards {
    pub(super) fn next_hazard(&self, age: usize) -> u32 {
        self.next[age.min(SELECTION_AGE_COUNT - 1)]
    }

    pub(super) fn discounted_hazard(&self, age: usize) -> u32 {
        self.discounted[age.min(SELECTION_AGE_COUNT - 1)]
    }
}

/// Returns the mean probability of leaving per turn, with less weight on later turns. If the probability is constant,
/// the mean is close to it.
fn discounted_hazard(next: &[f64; SELECTION_AGE_COUNT], age: usize) -> f64 {
    let (mut survival, mut weight, mut sum, mut weights) = (1.0, 1.0, 0.0, 0.0);
    for ahead in 0..HAZARD_HORIZON_TURNS {
        let hazard = next[(age + ahead).min(SELECTION_AGE_COUNT - 1)];
        sum += weight * survival * hazard;
        weights += weight;
        survival *= 1.0 - hazard;
        weight *= HAZARD_DISCOUNT;
    }
    f64::min(0.97, sum / weights)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to 0..=PROBABILITY_ONE before"
)]
fn to_millionths(probability: f64) -> u32 {
    (probability.clamp(0.0, 1.0) * f64::from(PROBABILITY_ONE)).round() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_observations_hazards_equal_the_prior() {
        let hazards = DeselectionCounts::default().hazards();
        assert_eq!(
            hazards.next,
            [20_000, 30_000, 60_000, 100_000, 120_000, 120_000, 120_000, 120_000, 120_000, 120_000]
        );
        // For a constant probability, the mean is that probability, up to its square.
        assert!(
            (90_000..120_000).contains(&hazards.discounted_hazard(9)),
            "{}",
            hazards.discounted_hazard(9)
        );
        assert!(hazards.discounted_hazard(0) < hazards.discounted_hazard(3));
    }

    #[test]
    fn hazards_follow_how_often_files_are_deselected() {
        let prior = DeselectionCounts::default().hazards();
        let (mut loyal, mut fickle) = (DeselectionCounts::default(), DeselectionCounts::default());
        for turn in 0..200 {
            loyal.record(turn % SELECTION_AGE_COUNT, SelectionOutcome::Stayed);
            fickle.record(turn % SELECTION_AGE_COUNT, SelectionOutcome::Left);
        }
        for age in 0..SELECTION_AGE_COUNT {
            assert!(loyal.hazards().next_hazard(age) < prior.next_hazard(age) / 5);
            assert!(fickle.hazards().next_hazard(age) > 900_000);
        }
    }

    #[test]
    fn a_change_resets_the_age_of_a_file() {
        let (one, two) = (ContentHash::from_text("1"), ContentHash::from_text("2"));
        let mut clock = SelectionClock::new(3, one);
        assert_eq!((clock.age(3), clock.age(7), clock.age(100)), (0, 4, 9));
        clock.restart_if_changed(5, one);
        assert_eq!(clock.age(7), 4);
        clock.restart_if_changed(6, two);
        assert_eq!(clock.age(7), 1);
    }
}
