//! How well the size of recorded requests was told before they were billed, summed up over all conversations. What each way
//! tells the engine says.

use super::{LEARNT_FROM, Predicted, Visible, Way};
use serde::Serialize;

/// A prediction under the bill by more than this share of it is too low.
const TOO_FAR: f64 = 0.05;

/// How well requests were told.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Predictions {
    /// Requests of each conversation that only teach.
    pub learnt_from: usize,
    pub requests: usize,
    /// Those of which the record shows everything that came since the bill before.
    pub visible: usize,
    /// How many of all lay within the error bar, as a share.
    pub within_error: f64,
    /// The median error bar, as a share of the bill.
    pub error: f64,
    pub ways: Vec<Told>,
}

/// What one way told of the requests that are fully visible. Shares of the bill, or of the requests.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Told {
    pub way: Way,
    /// The median of how far off it was.
    pub median: f64,
    /// In nine of ten requests it was not further off.
    pub ninth: f64,
    /// How many requests were told too small by more than 5 %.
    pub under: f64,
    /// How many were told too large by more than 5 %.
    pub over: f64,
}

impl Predictions {
    /// The figures; nothing when no request was billed behind the first ones.
    pub(crate) fn of<'a>(predicted: impl Iterator<Item = &'a Predicted>) -> Option<Self> {
        let all: Vec<&Predicted> = predicted.collect();
        let visible: Vec<&Predicted> =
            all.iter().copied().filter(|one| one.visible == Visible::Yes).collect();
        if visible.is_empty() {
            return None;
        }
        let bars = all.iter().map(|one| one.error as f64 / one.billed as f64).collect();
        let is_within = |one: &&&Predicted| {
            let [calibrated, ..] = one.told;
            (calibrated - one.billed as f64).abs() <= one.error as f64
        };
        let ways = Way::ALL.into_iter().enumerate().map(|(at, way)| Told::of(way, at, &visible));
        Some(Self {
            learnt_from: LEARNT_FROM,
            requests: all.len(),
            visible: visible.len(),
            within_error: share(all.iter().filter(is_within).count(), all.len()),
            error: quantile(bars, 5),
            ways: ways.collect(),
        })
    }
}

impl Told {
    fn of(way: Way, at: usize, requests: &[&Predicted]) -> Self {
        let off = |one: &&Predicted| {
            let told = one.told.get(at).copied().unwrap_or_default();
            (told - one.billed as f64) / one.billed as f64
        };
        let off: Vec<f64> = requests.iter().map(off).collect();
        let sizes: Vec<f64> = off.iter().map(|off| off.abs()).collect();
        Self {
            way,
            median: quantile(sizes.clone(), 5),
            ninth: quantile(sizes, 9),
            under: share(off.iter().filter(|off| **off < -TOO_FAR).count(), off.len()),
            over: share(off.iter().filter(|off| **off > TOO_FAR).count(), off.len()),
        }
    }
}

/// The value that so many tenths of the values stay below.
fn quantile(mut values: Vec<f64>, tenths: usize) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() * tenths / 10).copied().unwrap_or_default()
}

fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_shares_of_the_bill() {
        let one = |billed: usize, told: f64, visible| Predicted {
            billed,
            told: [told; Way::ALL.len()],
            error: 30,
            visible,
        };
        let requests = [
            one(1_000, 1_000.0, Visible::Yes),
            one(1_000, 1_020.0, Visible::Yes),
            one(1_000, 900.0, Visible::Yes),
            one(1_000, 2_000.0, Visible::No),
        ];
        let figures = Predictions::of(requests.iter()).unwrap();
        assert_eq!((figures.requests, figures.visible), (4, 3));
        assert!((figures.within_error - 0.5).abs() < 1e-9);
        let told = &figures.ways[0];
        assert!((told.median - 0.02).abs() < 1e-9 && (told.under - 1.0 / 3.0).abs() < 1e-9, "{told:?}");
        assert!(told.over.abs() < 1e-9);
        assert!(Predictions::of([].iter()).is_none());
    }
}
