//! Evaluates predictions on recorded conversations with bills: how well each estimator would have predicted the
//! size of the next request. Every bill includes content that is missing from the record (the agent's own
//! instructions and tools), and that no estimate includes.

use serde::Serialize;
use strata_conversation::history::{ContentBlock, History, ImageSource, NewMessage, Role};
use strata_conversation::transcript::{PriorHistoryForm, Transcript, TranscriptTurn};
use strata_prompt::assembly::{PromptServices, with_token_counters};
use strata_prompt::settings::Settings;
use strata_tokens::calibration::Calibration;
use strata_tokens::counting::Tokenizer;
use strata_tokens::models::Model;

/// Number of requests from which a calibration learns before its predictions count.
pub(crate) const CALIBRATION_WARMUP_REQUESTS: usize = 3;

/// Error, as a share of the bill, above which a prediction counts as too small or too large.
const MAX_PREDICTION_ERROR: f64 = 0.05;

/// A way to predict the size of a request.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Estimator {
    /// The last bill plus the calibrated estimate of later content.
    Calibrated,
    /// The calibrated estimate of the whole request, as for a new conversation with the same client.
    Whole,
    /// The estimate of the whole request, calibrated with the first requests only.
    Blind,
    /// The estimate from the token ratio of the model's family, plus the amount by which the first bill exceeded its
    /// estimate.
    Ratio,
    /// The token count by `o200k`, plus the amount by which the first bill exceeded its count.
    O200k,
    /// A quarter of the characters, plus the amount by which the first bill exceeded that estimate.
    Chars,
}

impl Estimator {
    pub(crate) const ALL: [Self; 6] =
        [Self::Calibrated, Self::Whole, Self::Blind, Self::Ratio, Self::O200k, Self::Chars];
}

/// One request with its bill and predictions.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct RequestPredictions {
    /// Billed tokens of the request.
    pub billed: usize,
    /// Predicted tokens by estimator, in the order of [`Estimator::ALL`].
    pub told: [f64; Estimator::ALL.len()],
    /// Error margin of the `Calibrated` prediction, in tokens.
    pub error: usize,
    /// Whether the record shows all content added since the last bill.
    pub is_visible: bool,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PredictionStats {
    /// Number of requests in each conversation that only train the calibration.
    pub learnt_from: usize,
    pub requests: usize,
    /// Number of requests for which the record shows all content added since the last bill.
    pub visible: usize,
    /// Share of all requests whose bill is within the error margin.
    pub within_error: f64,
    /// Median error margin, as a share of the bill.
    pub error: f64,
    pub ways: Vec<EstimatorStats>,
}

/// Results of one estimator for the requests whose new content the record shows completely.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EstimatorStats {
    pub way: Estimator,
    /// Median error, as a share of the bill.
    pub median: f64,
    /// 90th percentile of the error, as a share of the bill.
    pub ninth: f64,
    /// Share of requests predicted too small by more than 5 %.
    pub under: f64,
    /// Share of requests predicted too large by more than 5 %.
    pub over: f64,
}

/// Token counts of the same content, estimated in three ways.
#[derive(Clone, Copy, Default, Debug)]
struct Estimates {
    ratio: f64,
    o200k: f64,
    chars: f64,
}

/// State of the estimators within a conversation.
struct EstimatorState {
    model: String,
    weight: Estimates,
    calibration: Calibration,
    /// Calibration from the first requests only.
    blind: Calibration,
    /// Amount by which the first bill exceeded each estimate.
    beyond: Estimates,
    requests: usize,
}

/// Predicts the billed requests of a conversation after the first [`CALIBRATION_WARMUP_REQUESTS`] ones. A compaction or
/// a change of model starts a new conversation.
pub(crate) fn predictions(transcript: &Transcript, services: PromptServices<'_>) -> Vec<RequestPredictions> {
    let mut predicted = Vec::new();
    let mut known: Option<EstimatorState> = None;
    let mut before: Option<&TranscriptTurn> = None;
    for turn in &transcript.turns {
        let of_turn = Settings { model: turn.model.clone(), ..services.settings.clone() };
        let services = PromptServices { settings: &of_turn, ..services };
        let model = services.models.resolve(&turn.model).model;
        let goes_on =
            turn.past == PriorHistoryForm::Kept && before.is_some_and(|before| before.model == turn.model);
        let mut now = match known.take().filter(|known| goes_on && known.model == turn.model) {
            Some(known) => known,
            None => EstimatorState::new(turn.model.clone()),
        };
        let answer = before.filter(|_| goes_on).map(|before| (Role::Assistant, before.answer.as_slice()));
        for (role, blocks) in answer.into_iter().chain([(Role::User, turn.request.as_slice())]) {
            now.weight = now.weight.plus(Estimates::estimate(role, blocks, &model, services));
        }
        if let Some(billed) =
            turn.billed.map(strata_tokens::cost::Usage::input_tokens).filter(|billed| *billed > 0)
        {
            let is_visible = is_fully_recorded(turn, before.filter(|_| goes_on));
            predicted.extend(now.predict(billed, model.tokenizer, is_visible));
            now.learn(billed);
        }
        known = Some(now);
        before = Some(turn);
    }
    predicted
}

impl EstimatorState {
    fn new(model: String) -> Self {
        Self {
            model,
            weight: Estimates::default(),
            calibration: Calibration::default(),
            blind: Calibration::default(),
            beyond: Estimates::default(),
            requests: 0,
        }
    }

    fn predict(&self, billed: usize, tokenizer: Tokenizer, is_visible: bool) -> Option<RequestPredictions> {
        if self.requests < CALIBRATION_WARMUP_REQUESTS {
            return None;
        }
        let Estimates { ratio, o200k, chars } = self.weight;
        let estimated = ratio as usize;
        let expected = self.calibration.predict_bill(tokenizer, estimated);
        let told = Estimator::ALL.map(|way| match way {
            Estimator::Calibrated => expected.tokens as f64,
            Estimator::Whole => {
                self.calibration.for_other_conversation().predict_bill(tokenizer, estimated).tokens as f64
            }
            Estimator::Blind => self.blind.predict_bill(tokenizer, estimated).tokens as f64,
            Estimator::Ratio => ratio + self.beyond.ratio,
            Estimator::O200k => o200k + self.beyond.o200k,
            Estimator::Chars => chars + self.beyond.chars,
        });
        Some(RequestPredictions { billed, told, error: expected.error, is_visible })
    }

    fn learn(&mut self, billed: usize) {
        if self.requests == 0 {
            let beyond = |weight: f64| billed as f64 - weight;
            let Estimates { ratio, o200k, chars } = self.weight;
            self.beyond = Estimates { ratio: beyond(ratio), o200k: beyond(o200k), chars: beyond(chars) };
        }
        self.calibration.learn(self.weight.ratio as usize, billed);
        self.requests += 1;
        if self.requests == CALIBRATION_WARMUP_REQUESTS {
            self.blind = self.calibration.for_other_conversation();
        }
    }
}

impl Estimates {
    /// Estimates the tokens of a message. Only `ratio` counts images, and `chars` does not count structure.
    fn estimate(role: Role, blocks: &[ContentBlock], model: &Model, services: PromptServices<'_>) -> Self {
        if blocks.is_empty() {
            return Self::default();
        }
        let mut history = History::default();
        history.add(NewMessage::new(role, blocks.to_vec()));
        let Some(message) = history.messages().first() else { return Self::default() };
        let structure = model.overheads.message
            + model.overheads.tool_round_trip * blocks.iter().filter(|block| block.is_tool_result()).count();
        let ratio = with_token_counters(services, |scales| (scales.message)(message))
            - model.overheads.message
            + structure;
        let (mut o200k, mut chars) = (structure, 0);
        for piece in blocks.iter().flat_map(strata_conversation::providers::texts_and_images) {
            if let strata_conversation::providers::TextOrImage::Text(text) = piece {
                o200k += services.counter.count(Tokenizer::O200k, &text);
                chars += services.counter.count(Tokenizer::Chars, &text);
            }
        }
        Self { ratio: ratio as f64, o200k: o200k as f64, chars: chars as f64 }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            ratio: self.ratio + other.ratio,
            o200k: self.o200k + other.o200k,
            chars: self.chars + other.chars,
        }
    }
}

/// Whether the record shows all content that a request adds to the one before: it has no images of unknown size and no
/// hidden thinking, and the request is not empty.
fn is_fully_recorded(turn: &TranscriptTurn, before: Option<&TranscriptTurn>) -> bool {
    let answer = before.map_or(&[][..], |before| &before.answer);
    let hidden = |block: &ContentBlock| match block {
        ContentBlock::RedactedThinking { .. } | ContentBlock::Foreign(_) => true,
        ContentBlock::Thinking { text, .. } => text.is_empty(),
        _ => false,
    };
    let unsized_picture =
        |block: &ContentBlock| block.images().any(|image| matches!(image.source, ImageSource::Url { .. }));
    let any = |of: &dyn Fn(&ContentBlock) -> bool| answer.iter().chain(&turn.request).any(of);
    !turn.request.is_empty() && !any(&hidden) && !any(&unsized_picture)
}

impl PredictionStats {
    /// Computes the statistics. Returns `None` if there is no prediction for a request whose new content is
    /// fully visible.
    pub(crate) fn from_predictions<'a>(
        predicted: impl Iterator<Item = &'a RequestPredictions>,
    ) -> Option<Self> {
        let all: Vec<&RequestPredictions> = predicted.collect();
        let visible: Vec<&RequestPredictions> = all.iter().copied().filter(|one| one.is_visible).collect();
        if visible.is_empty() {
            return None;
        }
        let bars = all.iter().map(|one| one.error as f64 / one.billed as f64).collect();
        let is_within = |one: &&&RequestPredictions| {
            let [calibrated, ..] = one.told;
            (calibrated - one.billed as f64).abs() <= one.error as f64
        };
        let ways = Estimator::ALL
            .into_iter()
            .enumerate()
            .map(|(at, way)| EstimatorStats::from_predictions(way, at, &visible));
        Some(Self {
            learnt_from: CALIBRATION_WARMUP_REQUESTS,
            requests: all.len(),
            visible: visible.len(),
            within_error: share(all.iter().filter(is_within).count(), all.len()),
            error: quantile(bars, 5),
            ways: ways.collect(),
        })
    }
}

impl EstimatorStats {
    fn from_predictions(way: Estimator, at: usize, requests: &[&RequestPredictions]) -> Self {
        let off = |one: &&RequestPredictions| {
            let told = one.told.get(at).copied().unwrap_or_default();
            (told - one.billed as f64) / one.billed as f64
        };
        let off: Vec<f64> = requests.iter().map(off).collect();
        let sizes: Vec<f64> = off.iter().map(|off| off.abs()).collect();
        Self {
            way,
            median: quantile(sizes.clone(), 5),
            ninth: quantile(sizes, 9),
            under: share(off.iter().filter(|off| **off < -MAX_PREDICTION_ERROR).count(), off.len()),
            over: share(off.iter().filter(|off| **off > MAX_PREDICTION_ERROR).count(), off.len()),
        }
    }
}

/// Returns the quantile of the values at `tenths` tenths.
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
    use strata_tokens::cost::Usage;
    use strata_tokens::counting::TokenCounter;
    use strata_tokens::models::Models;

    /// Predicts a conversation in which every text is billed at `factor` of its count, plus a fixed amount for the
    /// agent's own instructions.
    fn billed(factor: f64, turns: usize) -> Vec<RequestPredictions> {
        let (models, counter) = (Models::builtin(), TokenCounter::default());
        let settings = Settings { model: "gpt-4o".into(), ..Settings::default() };
        let services = PromptServices { models: &models, counter: &counter, settings: &settings };
        let mut transcript = Transcript::default();
        let mut total = 20_000.0;
        for turn in 0..turns {
            let request = "tell me more of number ".repeat(100 + turn * 7 % 50);
            let answer = "there is more to tell ".repeat(60 + turn * 11 % 40);
            total += factor * counter.count(Tokenizer::O200k, &request) as f64;
            transcript.turns.push(TranscriptTurn {
                request: vec![ContentBlock::text(request)],
                model: "gpt-4o".into(),
                billed: Some(Usage { cache_read: total as u64, ..Usage::default() }),
                answer: vec![ContentBlock::text(answer.as_str())],
                ..TranscriptTurn::default()
            });
            total += factor * counter.count(Tokenizer::O200k, &answer) as f64;
        }
        predictions(&transcript, services)
    }

    fn worst(predicted: &[RequestPredictions], way: Estimator) -> f64 {
        let at = Estimator::ALL.iter().position(|other| *other == way).unwrap();
        let off = |one: &RequestPredictions| (one.told[at] - one.billed as f64).abs() / one.billed as f64;
        predicted.iter().map(off).fold(0.0, f64::max)
    }

    #[test]
    fn what_is_taught_makes_predictions_better() {
        let predicted = billed(1.3, 30);
        assert_eq!(predicted.len(), 30 - CALIBRATION_WARMUP_REQUESTS);
        assert!(predicted.iter().all(|one| one.is_visible));
        let [calibrated, whole, o200k] =
            [Estimator::Calibrated, Estimator::Whole, Estimator::O200k].map(|way| worst(&predicted, way));
        assert!(calibrated < 0.01 && whole < 0.02, "{calibrated} {whole}");
        assert!(o200k > 0.05, "{o200k}");
    }

    #[test]
    fn where_counts_are_right_nothing_has_to_be_learnt() {
        let predicted = billed(1.0, 10);
        for way in
            [Estimator::Calibrated, Estimator::Whole, Estimator::Blind, Estimator::Ratio, Estimator::O200k]
        {
            assert!(worst(&predicted, way) < 0.01, "{way:?}");
        }
    }

    #[test]
    fn errors_are_shares_of_the_bill() {
        let one = |billed: usize, told: f64, is_visible| RequestPredictions {
            billed,
            told: [told; Estimator::ALL.len()],
            error: 30,
            is_visible,
        };
        let requests = [
            one(1_000, 1_000.0, true),
            one(1_000, 1_020.0, true),
            one(1_000, 900.0, true),
            one(1_000, 2_000.0, false),
        ];
        let figures = PredictionStats::from_predictions(requests.iter()).unwrap();
        assert_eq!((figures.requests, figures.visible), (4, 3));
        assert!((figures.within_error - 0.5).abs() < 1e-9);
        let told = &figures.ways[0];
        assert!((told.median - 0.02).abs() < 1e-9 && (told.under - 1.0 / 3.0).abs() < 1e-9, "{told:?}");
        assert!(told.over.abs() < 1e-9);
        assert!(PredictionStats::from_predictions([].iter()).is_none());
    }
}
