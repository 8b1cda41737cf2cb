//! The probability that a block has to leave the prompt at the next turn, learned from the user's behavior. Probabilities are
//! integer millionths, so that all platforms order alike.

use serde::{Deserialize, Serialize};

use crate::hash::ContentHash;

/// Certainty.
pub(super) const ONE: u32 = 1_000_000;

/// A map block only leaves when its file is excluded or vanishes: a block whose file was selected since may linger.
pub(super) const MAP: u32 = 500;

/// Web pages, documents and the file list leave only by a user's decision.
pub(super) const PAGE: u32 = 20_000;

/// An excerpt leaves when it is dismissed, or when its file is excluded: like a map block, one that no question is about any more
/// may linger.
pub(super) const EXCERPT: u32 = 500;

/// Ages beyond the last one count as the last one.
const AGES: usize = 10;

/// How often a file of each age was deselected in the sessions the rule was tuned on.
const PRIOR: [f64; AGES] = [0.02, 0.03, 0.06, 0.10, 0.12, 0.12, 0.12, 0.12, 0.12, 0.12];

/// Turns that the discounted hazard looks ahead, and what each further one counts.
const HORIZON: usize = 12;
const DISCOUNT: f64 = 0.7;

/// How long a selected file has been unchanged.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Clock {
    since: u64,
    hash: ContentHash,
}

impl Clock {
    /// Starts for a newly selected file.
    pub(super) fn started(turn: u64, hash: ContentHash) -> Self {
        Self { since: turn, hash }
    }

    /// Records the current text of the file; a change resets its age.
    pub(super) fn look(&mut self, turn: u64, hash: ContentHash) {
        if self.hash != hash {
            *self = Self::started(turn, hash);
        }
    }

    /// Turns since it was selected or changed.
    pub(super) fn age(self, turn: u64) -> usize {
        usize::try_from(turn.saturating_sub(self.since)).unwrap_or(AGES).min(AGES - 1)
    }
}

/// Whether a selected file is still selected at the next turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fate {
    Stayed,
    /// It was deselected.
    Left,
}

/// How often selected files of each age were seen, and how often they were deselected then.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Ages {
    seen: [u32; AGES],
    left: [u32; AGES],
}

impl Ages {
    /// Records the fate of a file of this age.
    pub(super) fn saw(&mut self, age: usize, fate: Fate) {
        if let (Some(seen), Some(left)) = (self.seen.get_mut(age), self.left.get_mut(age)) {
            *seen = seen.saturating_add(1);
            *left = left.saturating_add(u32::from(fate == Fate::Left));
        }
    }

    /// The current table of hazards.
    pub(super) fn hazards(&self) -> Hazards {
        let counts =
            || self.seen.iter().zip(&self.left).map(|(seen, left)| (f64::from(*seen), f64::from(*left)));
        let gone: f64 = counts().map(|(_, left)| left).sum();
        let foreseen: f64 = counts().zip(PRIOR).map(|((seen, _), prior)| seen * prior).sum();
        let scale = (gone + 3.0) / (foreseen + 3.0);
        let mut next = [0.0; AGES];
        for (slot, ((seen, left), prior)) in next.iter_mut().zip(counts().zip(PRIOR)) {
            *slot = f64::min(1.0, (left + 2.0 * scale * prior) / (seen + 2.0));
        }
        let discounted = std::array::from_fn(|age| millionths(discounted(&next, age)));
        Hazards { next: next.map(millionths), discounted }
    }
}

/// The chance of leaving at the next turn, and the mean over the turns ahead, by age.
#[derive(Clone, Debug)]
pub(super) struct Hazards {
    next: [u32; AGES],
    discounted: [u32; AGES],
}

impl Hazards {
    pub(super) fn next(&self, age: usize) -> u32 {
        self.next[age.min(AGES - 1)]
    }

    pub(super) fn discounted(&self, age: usize) -> u32 {
        self.discounted[age.min(AGES - 1)]
    }
}

/// The mean chance of leaving per turn, later turns counting less: for a constant chance that chance, nearly.
fn discounted(next: &[f64; AGES], age: usize) -> f64 {
    let (mut survival, mut weight, mut sum, mut weights) = (1.0, 1.0, 0.0, 0.0);
    for ahead in 0..HORIZON {
        let hazard = next[(age + ahead).min(AGES - 1)];
        sum += weight * survival * hazard;
        weights += weight;
        survival *= 1.0 - hazard;
        weight *= DISCOUNT;
    }
    f64::min(0.97, sum / weights)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 0..=ONE before")]
fn millionths(probability: f64) -> u32 {
    (probability.clamp(0.0, 1.0) * f64::from(ONE)).round() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_experience_the_prior_counts() {
        let hazards = Ages::default().hazards();
        assert_eq!(
            hazards.next,
            [20_000, 30_000, 60_000, 100_000, 120_000, 120_000, 120_000, 120_000, 120_000, 120_000]
        );
        // A constant chance is its own mean up to its square.
        assert!((90_000..120_000).contains(&hazards.discounted(9)), "{}", hazards.discounted(9));
        assert!(hazards.discounted(0) < hazards.discounted(3));
    }

    #[test]
    fn a_person_who_never_deselects_lowers_every_hazard_and_one_who_always_does_raises_them() {
        let prior = Ages::default().hazards();
        let (mut loyal, mut fickle) = (Ages::default(), Ages::default());
        for turn in 0..200 {
            loyal.saw(turn % AGES, Fate::Stayed);
            fickle.saw(turn % AGES, Fate::Left);
        }
        for age in 0..AGES {
            assert!(loyal.hazards().next(age) < prior.next(age) / 5);
            assert!(fickle.hazards().next(age) > 900_000);
        }
    }

    #[test]
    fn a_change_makes_a_file_young_again() {
        let (one, two) = (ContentHash::of("1"), ContentHash::of("2"));
        let mut clock = Clock::started(3, one);
        assert_eq!((clock.age(3), clock.age(7), clock.age(100)), (0, 4, 9));
        clock.look(5, one);
        assert_eq!(clock.age(7), 4);
        clock.look(6, two);
        assert_eq!(clock.age(7), 1);
    }
}
