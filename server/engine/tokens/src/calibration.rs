//! Corrects token estimates from reported usage. Learns the ratio of a model's tokens to Strata's estimate,
//! the overhead per request, and the error of predictions. Does not count tokens itself.
//!
//! The ratio, or factor, is learned from the growth between two requests, where constant parts such as a
//! client's own instructions and tools cancel out. The remainder is the overhead. Predictions start from the
//! last bill, so only later changes are estimated.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::counting::Tokenizer;

/// Lower and upper bound of the ratio between a model's tokens and Strata's estimate. Tokenizers differ by less than
/// that on text of the same kind.
const FACTOR_RANGE: (f64, f64) = (0.5, 2.0);
/// Maximum relative change to the factor per usage report.
const MAX_FACTOR_STEP: f64 = 0.1;
/// Minimum growth from one request to the next, in tokens, from which to learn the factor. Smaller growth is mostly
/// overhead.
const MIN_REQUEST_GROWTH_TOKENS: f64 = 200.0;
/// Minimum divisor, in tokens, when a prediction error is expressed as a share of the growth. Dividing by less would
/// exaggerate the error.
const MIN_ERROR_DIVISOR: f64 = 256.0;
/// Maximum number of growth measurements kept per model: enough for a median that ignores outliers, few enough to
/// follow a change of topic.
const MAX_GROWTH_SAMPLES: usize = 24;
/// Maximum number of bills kept per model.
const MAX_BILLED_ESTIMATES: usize = 8;
/// Maximum number of prediction errors kept per model.
const MAX_ERROR_SAMPLES: usize = 16;
/// Minimum number of recorded errors from which to compute the error bound.
const MIN_ERROR_SAMPLES: usize = 4;
/// Maximum share of a token limit that is attributed to overhead, since a usage report may be wrong.
const MAX_OVERHEAD_SHARE: f64 = 0.75;
/// Maximum number of calibrated models. When full, the one with the fewest reports is dropped.
const MAX_CALIBRATED_MODELS: usize = 32;

/// Calibrations, keyed by model name. Cheap to clone.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Calibrations(BTreeMap<String, Arc<Calibration>>);

/// What usage reports have shown about Strata's token estimates for one model.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct Calibration {
    /// Ratio of the model's tokens to estimated tokens.
    factor: f64,
    /// Number of usage reports.
    reports: u32,
    /// Growth between consecutive requests, newest last.
    growths: Vec<BilledEstimate>,
    /// Estimates and bills of complete requests, newest last.
    bills: Vec<BilledEstimate>,
    /// Prediction errors as shares of the estimated growth, newest last.
    misses: Vec<f64>,
    /// Whether the newest bill belongs to the current conversation.
    #[serde(rename = "anchored")]
    newest_bill: NewestBillSource,
}

/// Estimated and billed tokens of a request, or of the growth between two requests.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
struct BilledEstimate {
    estimated: f64,
    billed: f64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
enum NewestBillSource {
    #[default]
    #[serde(rename = "no")]
    OtherConversation,
    #[serde(rename = "yes")]
    CurrentConversation,
}

/// The expected bill of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Expected {
    /// Number of input tokens expected to be billed.
    pub tokens: usize,
    /// Error bound, in tokens: nine of ten bills differ from `tokens` by at most this much.
    pub error: usize,
}

/// Calibration of a model, as reported to clients.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Taught")]
pub struct CalibrationReport {
    /// Ratio of the model's tokens to estimated tokens.
    pub factor: f64,
    /// Tokens per request beyond the estimate; negative if estimates are too high.
    pub overhead: i64,
    /// Number of usage reports.
    pub reports: u32,
}

impl Calibrations {
    pub fn for_model(&self, model: &str) -> Option<&Calibration> {
        self.0.get(model).map(AsRef::as_ref)
    }

    /// Whether no usage has been reported for any model.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns only the calibrations that include a bill of the current conversation.
    #[must_use]
    pub fn billed_in_current_conversation(&self) -> Self {
        let current = self
            .0
            .iter()
            .filter(|(_, calibration)| calibration.newest_bill == NewestBillSource::CurrentConversation);
        Self(current.map(|(model, calibration)| (model.clone(), Arc::clone(calibration))).collect())
    }

    /// Records the estimated and billed tokens of a request to `model`.
    pub fn learn(&mut self, model: &str, estimated: usize, billed: usize) {
        if self.0.len() >= MAX_CALIBRATED_MODELS && !self.0.contains_key(model) {
            let least = self
                .0
                .iter()
                .min_by_key(|(_, calibration)| calibration.reports)
                .map(|(name, _)| name.clone());
            least.map(|name| self.0.remove(&name));
        }
        Arc::make_mut(self.0.entry(model.to_owned()).or_default()).learn(estimated, billed);
    }

    /// Returns a copy for another conversation: keeps what was learned, but no longer predicts from the last bill.
    #[must_use]
    pub fn for_other_conversation(&self) -> Self {
        Self(
            self.0
                .iter()
                .map(|(model, calibration)| (model.clone(), Arc::new(calibration.for_other_conversation())))
                .collect(),
        )
    }
}

impl Default for Calibration {
    fn default() -> Self {
        Self {
            factor: 1.0,
            reports: 0,
            growths: Vec::new(),
            bills: Vec::new(),
            misses: Vec::new(),
            newest_bill: NewestBillSource::OtherConversation,
        }
    }
}

impl Calibration {
    /// Returns the ratio of the model's tokens to estimated tokens.
    pub fn factor(&self) -> f64 {
        self.factor
    }

    /// Returns a copy for another conversation: keeps what was learned, but no longer predicts from the last bill.
    #[must_use]
    pub fn for_other_conversation(&self) -> Self {
        Self { newest_bill: NewestBillSource::OtherConversation, ..self.clone() }
    }

    /// Returns the factor, the overhead and the number of reports.
    pub fn report(&self) -> CalibrationReport {
        // Bills are far smaller than 2^53, so `f64` represents them exactly.
        CalibrationReport {
            factor: self.factor,
            overhead: self.overhead().round() as i64,
            reports: self.reports,
        }
    }

    /// Predicts the bill of a request from its estimated tokens.
    pub fn predict_bill(&self, tokenizer: Tokenizer, estimated: usize) -> Expected {
        let estimated = estimated as f64;
        let tokens = (self.factor * estimated + self.constant_tokens()).max(0.0);
        let growth = match (self.newest_bill, self.bills.last()) {
            (NewestBillSource::CurrentConversation, Some(last)) => {
                (estimated - last.estimated).abs().max(MIN_ERROR_DIVISOR)
            }
            _ => estimated,
        };
        let error = self.error_share(tokenizer) * self.factor * growth;
        Expected { tokens: tokens.round() as usize, error: error.ceil() as usize }
    }

    /// Returns the largest estimate whose bill stays within `limit` in nine of ten requests. Both are in
    /// tokens.
    pub fn max_estimate(&self, tokenizer: Tokenizer, limit: usize) -> usize {
        let limit = limit as f64;
        let share = self.error_share(tokenizer);
        let likely_estimate = (limit - self.constant_tokens().min(limit * MAX_OVERHEAD_SHARE)) / self.factor;
        // Only the growth since the last bill is uncertain.
        let billed_estimate = match (self.newest_bill, self.bills.last()) {
            (NewestBillSource::CurrentConversation, Some(last)) => last.estimated,
            _ => 0.0,
        };
        let growth = ((likely_estimate - billed_estimate) / (1.0 + share)).max(MIN_ERROR_DIVISOR);
        (likely_estimate - share * growth).max(0.0) as usize
    }

    /// Records the estimated and billed tokens of a request.
    pub fn learn(&mut self, estimated: usize, billed: usize) {
        let bill = BilledEstimate { estimated: estimated as f64, billed: billed as f64 };
        // Ignore an implausibly low bill: the client reported only part of the input.
        if bill.billed < bill.estimated * FACTOR_RANGE.0 * (1.0 - MAX_FACTOR_STEP) || billed == 0 {
            return;
        }
        if let (NewestBillSource::CurrentConversation, Some(last)) = (self.newest_bill, self.bills.last()) {
            let growth = BilledEstimate {
                estimated: bill.estimated - last.estimated,
                billed: bill.billed - last.billed,
            };
            let missed = (growth.billed - self.factor * growth.estimated).abs();
            push_bounded(
                &mut self.misses,
                missed / growth.estimated.abs().max(MIN_ERROR_DIVISOR),
                MAX_ERROR_SAMPLES,
            );
            if growth.estimated.abs() >= MIN_REQUEST_GROWTH_TOKENS && growth.estimated * growth.billed > 0.0 {
                push_bounded(&mut self.growths, growth, MAX_GROWTH_SAMPLES);
                self.adjust_factor();
            }
        }
        push_bounded(&mut self.bills, bill, MAX_BILLED_ESTIMATES);
        self.newest_bill = NewestBillSource::CurrentConversation;
        self.reports = self.reports.saturating_add(1);
    }

    /// Moves the factor toward the median ratio of billed to estimated growth, weighted by the size of the
    /// growth.
    fn adjust_factor(&mut self) {
        let ratios =
            self.growths.iter().map(|growth| (growth.billed / growth.estimated, growth.estimated.abs()));
        let Some(target) = weighted_median(ratios) else { return };
        let next_factor =
            target.clamp(self.factor * (1.0 - MAX_FACTOR_STEP), self.factor * (1.0 + MAX_FACTOR_STEP));
        self.factor = next_factor.clamp(FACTOR_RANGE.0, FACTOR_RANGE.1);
    }

    /// Returns the tokens billed beyond the scaled estimate: those of the conversation's last bill, or else
    /// the usual overhead.
    fn constant_tokens(&self) -> f64 {
        match (self.newest_bill, self.bills.last()) {
            (NewestBillSource::CurrentConversation, Some(last)) => self.unexplained_tokens(last),
            _ => self.overhead(),
        }
    }

    /// Returns the median of tokens billed beyond the scaled estimate in recent requests.
    fn overhead(&self) -> f64 {
        weighted_median(self.bills.iter().map(|bill| (self.unexplained_tokens(bill), 1.0))).unwrap_or(0.0)
    }

    fn unexplained_tokens(&self, bill: &BilledEstimate) -> f64 {
        bill.billed - self.factor * bill.estimated
    }

    /// Returns the error bound that nine of ten predictions meet, as a share of the estimated growth.
    fn error_share(&self, tokenizer: Tokenizer) -> f64 {
        if self.misses.len() < MIN_ERROR_SAMPLES {
            return uncalibrated_error_share(tokenizer);
        }
        let mut misses = self.misses.clone();
        misses.sort_by(f64::total_cmp);
        misses.get(misses.len() * 9 / 10).copied().unwrap_or_else(|| uncalibrated_error_share(tokenizer))
    }
}

impl Expected {
    /// Returns the expected bill for a model without usage reports.
    pub fn uncalibrated(tokenizer: Tokenizer, estimated: usize) -> Self {
        let error = uncalibrated_error_share(tokenizer) * estimated as f64;
        Self { tokens: estimated, error: error.ceil() as usize }
    }

    /// Returns the largest estimate whose bill stays within `limit` in nine of ten requests, for a model
    /// without usage reports.
    pub fn max_estimate_uncalibrated(tokenizer: Tokenizer, limit: usize) -> usize {
        (limit as f64 / (1.0 + uncalibrated_error_share(tokenizer))) as usize
    }
}

/// Returns the error bound for a model without usage reports, as a share of the estimate. For exact counts,
/// the tokens that a provider adds for structure are uncertain. For Claude, the ratios of single requests in
/// recorded sessions are within 15 % of the median.
fn uncalibrated_error_share(tokenizer: Tokenizer) -> f64 {
    match tokenizer {
        Tokenizer::O200k | Tokenizer::Cl100k | Tokenizer::Given(_) => 0.03,
        Tokenizer::O200kTimes(_) => 0.15,
        Tokenizer::Chars => 0.4,
    }
}

fn push_bounded<T>(list: &mut Vec<T>, item: T, max_length: usize) {
    list.push(item);
    let excess = list.len().saturating_sub(max_length);
    list.drain(..excess);
}

/// Returns the weighted median of `(value, weight)` pairs.
fn weighted_median(values: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let mut values: Vec<(f64, f64)> = values.collect();
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = values.iter().map(|(_, weight)| weight).sum::<f64>() / 2.0;
    let mut sum = 0.0;
    let middle = values.iter().find(|(_, weight)| {
        sum += weight;
        sum >= half
    });
    middle.map(|(value, _)| *value)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn calibrated(bills: impl IntoIterator<Item = (usize, usize)>) -> Calibration {
        let mut calibration = Calibration::default();
        bills.into_iter().for_each(|(estimated, billed)| calibration.learn(estimated, billed));
        calibration
    }

    #[test]
    fn the_factor_and_the_overhead_are_separated() {
        let calibration = calibrated((1..30).map(|turn| (turn * 3_000, 20_000 + turn * 3_600)));
        let CalibrationReport { factor, overhead, reports } = calibration.report();
        assert!((factor - 1.2).abs() < 0.001, "{factor}");
        assert_eq!((overhead, reports), (20_000, 29));
        let next = calibration.predict_bill(Tokenizer::O200k, 90_000);
        assert_eq!(next.tokens, 20_000 + 108_000);
        assert!(next.error < 50, "{}", next.error);
        let max_estimate = calibration.max_estimate(Tokenizer::O200k, 20_000 + 108_000);
        assert!(max_estimate <= 90_000 && max_estimate + 50 > 90_000, "{max_estimate}");
    }

    #[test]
    fn predictions_start_from_the_first_bill() {
        let calibration = calibrated([(1_000, 26_000)]);
        let next = calibration.predict_bill(Tokenizer::O200k, 3_000);
        assert_eq!((next.tokens, next.error), (28_000, 60));
        assert_eq!(Expected::uncalibrated(Tokenizer::O200k, 3_000), Expected { tokens: 3_000, error: 90 });
    }

    #[test]
    fn one_outlier_moves_the_factor_by_at_most_a_tenth() {
        let calibration = calibrated([(1_000, 1_000), (2_000, 2_000), (3_000, 9_000)]);
        assert!(calibration.factor() <= 1.1, "{}", calibration.factor());
        let steady = calibrated((1..20).map(|turn| (turn * 1_000, turn * 1_000)).chain([(20_000, 90_000)]));
        assert!((steady.factor() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_report_of_only_a_part_of_the_input_is_ignored() {
        assert_eq!(calibrated([(10_000, 12), (20_000, 0)]), Calibration::default());
    }

    #[test]
    fn another_conversation_keeps_the_calibration_but_not_the_last_bill() {
        let mut calibrations = Calibrations::default();
        for turn in 1..10 {
            calibrations.learn("m", turn * 1_000, 5_000 + turn * 1_500);
        }
        let other_calibrations = calibrations.for_other_conversation();
        let (current, other) =
            (calibrations.for_model("m").unwrap(), other_calibrations.for_model("m").unwrap());
        assert_eq!(current.report(), other.report());
        assert!(
            other.predict_bill(Tokenizer::O200k, 10_000).error
                > current.predict_bill(Tokenizer::O200k, 10_000).error
        );
        let stored = serde_json::to_string(&calibrations).unwrap();
        assert_eq!(serde_json::from_str::<Calibrations>(&stored).unwrap(), calibrations);
    }

    proptest! {
        /// For any reports, the factor stays within its bounds, predictions are finite, and an estimate
        /// within a limit is not predicted to exceed it unless nothing more can be dropped.
        #[test]
        fn predictions_stay_within_bounds_for_any_reports(
            bills in prop::collection::vec((0_usize..2_000_000, 0_usize..4_000_000), 0..40),
            limit in 1_000_usize..2_000_000,
        ) {
            let calibration = calibrated(bills);
            prop_assert!((FACTOR_RANGE.0..=FACTOR_RANGE.1).contains(&calibration.factor()));
            let max_estimate = calibration.max_estimate(Tokenizer::O200k, limit);
            let expected = calibration.predict_bill(Tokenizer::O200k, max_estimate);
            let mostly_overhead = calibration.constant_tokens() > limit as f64 * MAX_OVERHEAD_SHARE;
            prop_assert!(expected.tokens <= limit + 1 || mostly_overhead || max_estimate == 0);
        }
    }
}
