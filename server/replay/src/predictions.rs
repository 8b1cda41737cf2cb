//! Recorded conversations whose requests were billed: how well each way to estimate would have told the size of the next
//! request. What the record does not hold (the agent's own instructions and tools) is in every bill and in no estimate.

use serde::Serialize;

use strata_engine::conversation::history::{ContentBlock, History, ImageSource, NewMessage, Role};
use strata_engine::prompt::assembly::{PromptServices, with_scales};
use strata_engine::prompt::settings::Settings;
use strata_engine::tokens::calibration::Calibration;
use strata_engine::tokens::counting::Tokenizer;
use strata_engine::tokens::models::Model;

use strata_engine::conversation::transcript::{Past, Transcript, Turn};

pub(crate) mod stats;

/// Requests from which a calibration learns before its predictions count.
pub(crate) const LEARNT_FROM: usize = 3;

/// A way to tell the size of a request.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// The last bill, and the estimate of what came since, corrected by what was taught.
    Calibrated,
    /// The whole estimate, corrected by what was taught, as for a new conversation with the same client.
    Whole,
    /// The same by what the first requests taught, and nothing since.
    Blind,
    /// The ratio of the model's family, with what the first bill was beyond it.
    Ratio,
    /// The count by `o200k`, alike.
    O200k,
    /// A quarter of the characters, alike.
    Chars,
}

impl Way {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Calibrated, Self::Whole, Self::Blind, Self::Ratio, Self::O200k, Self::Chars];
}

/// One request with what was billed for it and what each way told before.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Predicted {
    /// Tokens.
    pub billed: usize,
    /// By way, in the order of [`Way::ALL`]. Tokens.
    pub told: [f64; Way::ALL.len()],
    /// The error bar of the first. Tokens.
    pub error: usize,
    /// Whether the record shows everything that came since the bill before.
    pub visible: Visible,
}

/// Whether a record shows everything that a request had beyond the one before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Visible {
    /// It does.
    Yes,
    /// There are pictures of unknown size, thoughts that are not told, or a request without a word.
    No,
}

/// Tokens of something, by each estimate.
#[derive(Clone, Copy, Default, Debug)]
struct Weight {
    ratio: f64,
    o200k: f64,
    chars: f64,
}

/// What is known of the conversation so far.
struct Known {
    model: String,
    weight: Weight,
    calibration: Calibration,
    /// What the first requests taught.
    blind: Calibration,
    /// What the first bill was beyond each estimate.
    beyond: Weight,
    requests: usize,
}

/// What each way told of each request behind the first of its kind. A conversation that was compacted, or goes on with another
/// model, begins anew.
pub(crate) fn predictions(transcript: &Transcript, means: PromptServices<'_>) -> Vec<Predicted> {
    let mut predicted = Vec::new();
    let mut known: Option<Known> = None;
    let mut before: Option<&Turn> = None;
    for turn in &transcript.turns {
        let of_turn = Settings { model: turn.model.clone(), ..means.settings.clone() };
        let means = PromptServices { settings: &of_turn, ..means };
        let model = means.models.resolve(&turn.model).model;
        let goes_on = turn.past == Past::Kept && before.is_some_and(|before| before.model == turn.model);
        let mut now = match known.take().filter(|known| goes_on && known.model == turn.model) {
            Some(known) => known,
            None => Known::new(turn.model.clone()),
        };
        let answer = before.filter(|_| goes_on).map(|before| (Role::Assistant, before.answer.as_slice()));
        for (role, blocks) in answer.into_iter().chain([(Role::User, turn.request.as_slice())]) {
            now.weight = now.weight.and(Weight::of(role, blocks, &model, means));
        }
        if let Some(billed) =
            turn.billed.map(strata_engine::tokens::cost::Usage::input_tokens).filter(|billed| *billed > 0)
        {
            let visible = visible(turn, before.filter(|_| goes_on));
            predicted.extend(now.predict(billed, model.tokenizer, visible));
            now.learn(billed);
        }
        known = Some(now);
        before = Some(turn);
    }
    predicted
}

impl Known {
    fn new(model: String) -> Self {
        Self {
            model,
            weight: Weight::default(),
            calibration: Calibration::default(),
            blind: Calibration::default(),
            beyond: Weight::default(),
            requests: 0,
        }
    }

    fn predict(&self, billed: usize, tokenizer: Tokenizer, visible: Visible) -> Option<Predicted> {
        if self.requests < LEARNT_FROM {
            return None;
        }
        let Weight { ratio, o200k, chars } = self.weight;
        let estimated = ratio as usize;
        let expected = self.calibration.expected(tokenizer, estimated);
        let told = Way::ALL.map(|way| match way {
            Way::Calibrated => expected.tokens as f64,
            Way::Whole => self.calibration.elsewhere().expected(tokenizer, estimated).tokens as f64,
            Way::Blind => self.blind.expected(tokenizer, estimated).tokens as f64,
            Way::Ratio => ratio + self.beyond.ratio,
            Way::O200k => o200k + self.beyond.o200k,
            Way::Chars => chars + self.beyond.chars,
        });
        Some(Predicted { billed, told, error: expected.error, visible })
    }

    fn learn(&mut self, billed: usize) {
        if self.requests == 0 {
            let beyond = |weight: f64| billed as f64 - weight;
            let Weight { ratio, o200k, chars } = self.weight;
            self.beyond = Weight { ratio: beyond(ratio), o200k: beyond(o200k), chars: beyond(chars) };
        }
        self.calibration.learn(self.weight.ratio as usize, billed);
        self.requests += 1;
        if self.requests == LEARNT_FROM {
            self.blind = self.calibration.elsewhere();
        }
    }
}

impl Weight {
    /// What a message weighs. Pictures and what belongs to no text weigh the same by every estimate but the last.
    fn of(role: Role, blocks: &[ContentBlock], model: &Model, means: PromptServices<'_>) -> Self {
        if blocks.is_empty() {
            return Self::default();
        }
        let mut history = History::new();
        history.add(NewMessage::new(role, blocks.to_vec()));
        let Some(message) = history.messages().first() else { return Self::default() };
        let structure = model.overheads.message
            + model.overheads.tool_round_trip * blocks.iter().filter(|block| block.is_tool_result()).count();
        let ratio =
            with_scales(means, |scales| (scales.message)(message)) - model.overheads.message + structure;
        let (mut o200k, mut chars) = (structure, 0);
        for piece in blocks.iter().flat_map(strata_engine::conversation::dialect::pieces_of) {
            if let strata_engine::conversation::dialect::Piece::Text(text) = piece {
                o200k += means.counter.count(Tokenizer::O200k, &text);
                chars += means.counter.count(Tokenizer::Chars, &text);
            }
        }
        Self { ratio: ratio as f64, o200k: o200k as f64, chars: chars as f64 }
    }

    fn and(self, other: Self) -> Self {
        Self {
            ratio: self.ratio + other.ratio,
            o200k: self.o200k + other.o200k,
            chars: self.chars + other.chars,
        }
    }
}

fn visible(turn: &Turn, before: Option<&Turn>) -> Visible {
    let answer = before.map_or(&[][..], |before| &before.answer);
    let hidden = |block: &ContentBlock| match block {
        ContentBlock::RedactedThinking { .. } | ContentBlock::Foreign(_) => true,
        ContentBlock::Thinking { text, .. } => text.is_empty(),
        _ => false,
    };
    let unsized_picture =
        |block: &ContentBlock| block.images().any(|image| matches!(image.source, ImageSource::Url { .. }));
    let any = |of: &dyn Fn(&ContentBlock) -> bool| answer.iter().chain(&turn.request).any(of);
    if turn.request.is_empty() || any(&hidden) || any(&unsized_picture) { Visible::No } else { Visible::Yes }
}

#[cfg(test)]
mod tests {
    use super::*;
    use strata_engine::tokens::cost::Usage;
    use strata_engine::tokens::counting::TokenCounter;
    use strata_engine::tokens::models::Models;

    /// A conversation in which every text is billed at `factor` of its count, on top of what the agent says itself.
    fn billed(factor: f64, turns: usize) -> Vec<Predicted> {
        let (models, counter) = (Models::builtin(), TokenCounter::new());
        let settings = Settings { model: "gpt-4o".into(), ..Settings::default() };
        let means = PromptServices { models: &models, counter: &counter, settings: &settings };
        let mut transcript = Transcript::default();
        let mut total = 20_000.0;
        for turn in 0..turns {
            let request = "tell me more of number ".repeat(100 + turn * 7 % 50);
            let answer = "there is more to tell ".repeat(60 + turn * 11 % 40);
            total += factor * counter.count(Tokenizer::O200k, &request) as f64;
            transcript.turns.push(Turn {
                request: vec![ContentBlock::text(request)],
                model: "gpt-4o".into(),
                billed: Some(Usage { cache_read: total as u64, ..Usage::default() }),
                answer: vec![ContentBlock::text(answer.as_str())],
                ..Turn::default()
            });
            total += factor * counter.count(Tokenizer::O200k, &answer) as f64;
        }
        predictions(&transcript, means)
    }

    fn worst(predicted: &[Predicted], way: Way) -> f64 {
        let at = Way::ALL.iter().position(|other| *other == way).unwrap();
        let off = |one: &Predicted| (one.told[at] - one.billed as f64).abs() / one.billed as f64;
        predicted.iter().map(off).fold(0.0, f64::max)
    }

    #[test]
    fn what_is_taught_makes_predictions_better() {
        let predicted = billed(1.3, 30);
        assert_eq!(predicted.len(), 30 - LEARNT_FROM);
        assert!(predicted.iter().all(|one| one.visible == Visible::Yes));
        let [calibrated, whole, o200k] =
            [Way::Calibrated, Way::Whole, Way::O200k].map(|way| worst(&predicted, way));
        assert!(calibrated < 0.01 && whole < 0.02, "{calibrated} {whole}");
        assert!(o200k > 0.05, "{o200k}");
    }

    #[test]
    fn where_counts_are_right_nothing_has_to_be_learnt() {
        let predicted = billed(1.0, 10);
        for way in [Way::Calibrated, Way::Whole, Way::Blind, Way::Ratio, Way::O200k] {
            assert!(worst(&predicted, way) < 0.01, "{way:?}");
        }
    }
}
