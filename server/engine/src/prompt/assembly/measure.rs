//! Weights and limits: what things weigh for one model, and how much of each a prompt may hold. Collects nothing.

use crate::conversation::compaction::Scales;
use crate::conversation::dialect::{self, Breakpoints, pieces_of};
use crate::conversation::history::{ContentBlock, History, Kind, Message, Sides, archived_stub};
use crate::conversation::selection::Extent;
use crate::conversation::urls::Page;
use crate::key::FileKey;
use crate::prompt::settings::Settings;
use crate::prompt::wire::Tool;
use crate::tokens::calibration::{Calibration, Expected};
use crate::tokens::counting::{ImageSize, UNKNOWN_IMAGE_TOKENS};
use crate::tokens::models::{Model, Structure};

use super::piece::{self, FileText};
use super::services::PromptServices;
use crate::prompt::layout::WeighedBlock;

/// Everything about weights: the model's limits and the settings' wishes.
pub(super) struct Measure<'a> {
    model: &'a Model,
    means: PromptServices<'a>,
    calibration: Option<&'a Calibration>,
    max_input_tokens: usize,
}

impl<'a> Measure<'a> {
    pub(super) fn new(model: &'a Model, means: PromptServices<'a>) -> Self {
        Self { model, means, calibration: None, max_input_tokens: model.max_input }
    }

    /// The same for a client that passes on at most so many tokens of input.
    pub(super) fn within(self, max_input_tokens: Option<usize>) -> Self {
        let most = max_input_tokens.unwrap_or(usize::MAX);
        Self { max_input_tokens: self.max_input_tokens.min(most), ..self }
    }

    /// The same with what reported usage taught about the model.
    pub(super) fn calibrated(self, calibration: Option<&'a Calibration>) -> Self {
        Self { calibration, ..self }
    }

    /// What a prompt of this estimate is expected to be billed for.
    pub(super) fn expected(&self, estimated: usize) -> Expected {
        let tokenizer = self.model.tokenizer;
        match self.calibration {
            Some(calibration) => calibration.expected(tokenizer, estimated),
            None => Expected::untaught(tokenizer, estimated),
        }
    }

    pub(super) fn settings(&self) -> &Settings {
        self.means.settings
    }

    pub(super) fn model_id(&self) -> &str {
        &self.model.id
    }

    /// How the model is told where cached prefixes end.
    pub(super) fn breakpoints(&self) -> Breakpoints {
        Breakpoints::of(self.model)
    }

    pub(super) fn counter(&self) -> impl Fn(&str) -> usize + use<'a> {
        let (counter, tokenizer) = (self.means.counter, self.model.tokenizer);
        move |text| counter.count(tokenizer, text)
    }

    /// The model's smallest cacheable prefix, in tokens.
    pub(super) fn cache_minimum(&self) -> usize {
        self.model.cache.min_tokens
    }

    /// The input window in tokens: the model's, or the client's where that is smaller.
    pub(super) fn window(&self) -> usize {
        self.max_input_tokens
    }

    /// What is kept free for the answer: as set, or the model's largest output up to a sixteenth of the
    /// window.
    pub(super) fn output_reserve(&self) -> usize {
        let default = self.model.max_output.min(self.window() / 16);
        self.settings().budget.output_reserve.unwrap_or(default)
    }

    /// What a prompt may be by the model's own count: 90 % of the window (`docs/prompt.md`, "Budgets"), less when the
    /// answer needs more room than that leaves.
    pub(super) fn room(&self) -> usize {
        (self.window() / 10 * 9).min(self.window().saturating_sub(self.output_reserve()))
    }

    /// What a prompt may weigh by our estimate: less than the room when reported usage says that estimates are too low.
    pub(super) fn limit(&self) -> usize {
        let room = self.room();
        self.calibration.map_or(room, |calibration| calibration.within(room).min(room))
    }

    /// What map blocks may weigh together (`docs/prompt.md`, "Budgets"); never
    /// more than half of a very small window.
    pub(super) fn map_budget(&self) -> usize {
        let default = (self.window() / 8).clamp(4_000, 64_000).min(self.window() / 2);
        self.settings().symbols.map_budget.unwrap_or(default)
    }

    /// What the repository file list may weigh.
    pub(super) fn list_budget(&self) -> usize {
        self.settings().files.list_budget.min(self.window() / 8)
    }

    /// What the format itself costs.
    pub(super) fn structure(&self, structure: Structure) -> usize {
        self.model.structure_tokens(structure)
    }

    /// What the texts of the declared tools weigh.
    pub(super) fn tools(&self, tools: &[Tool]) -> usize {
        let count = self.counter();
        let weigh = |tool: &Tool| {
            count(&tool.name) + count(&tool.description) + count(&tool.input_schema.to_string())
        };
        tools.iter().map(weigh).sum()
    }

    /// What a content block weighs: the sum of its pieces.
    pub(super) fn block(&self, block: &ContentBlock) -> usize {
        let count = self.counter();
        pieces_of(block)
            .into_iter()
            .map(|piece| match piece {
                dialect::Piece::Text(text) => count(&text),
                dialect::Piece::Picture(sides) => self.picture(sides),
            })
            .sum()
    }

    /// What a picture weighs; a model that takes none is charged what an unknown one costs.
    fn picture(&self, sides: Option<Sides>) -> usize {
        let size = sides.map(|Sides { width, height }| ImageSize { width, height });
        self.model.image.as_ref().map_or(UNKNOWN_IMAGE_TOKENS, |formula| formula.tokens(size))
    }

    /// Blocks with their weights.
    pub(super) fn weighed(&self, blocks: impl IntoIterator<Item = ContentBlock>) -> Vec<WeighedBlock> {
        let weigh = |content| WeighedBlock { tokens: self.block(&content), content };
        blocks.into_iter().map(weigh).collect()
    }

    /// What a message weighs, its share of the format included; of archived results, what stands for them.
    pub(super) fn message(&self, message: &Message) -> usize {
        let blocks: usize = if message.body.kind == Kind::ToolResultArchived {
            let results = message.body.content.iter().filter(|block| block.is_tool_result()).count();
            results * self.counter()(&archived_stub(message.id))
        } else {
            message.body.content.iter().map(|block| self.block(block)).sum()
        };
        blocks + self.model.overheads.message
    }
}

/// What the conversation weighs, as far as the model sees it, in tokens of the model that is set.
pub fn history_tokens(history: &History, means: PromptServices<'_>) -> usize {
    of_the_set_model(means, |measure| history.sent().map(|message| measure.message(message)).sum())
}

/// Does `work` with the scales of the model that is set.
pub fn with_scales<T>(means: PromptServices<'_>, work: impl FnOnce(Scales<'_>) -> T) -> T {
    of_the_set_model(means, |measure| {
        let count = measure.counter();
        work(Scales { message: &|message| measure.message(message), text: &count })
    })
}

/// What the shown part of a file weighs, in tokens of the model that is set.
pub fn weigh_file(key: &FileKey, file: &FileText, extent: &Extent, means: PromptServices<'_>) -> usize {
    let pieces = of_the_set_model(means, |measure| piece::pieces(key, file, extent, &measure.counter()));
    pieces.iter().map(|piece| piece.tokens).sum()
}

/// What a web page weighs as it is shown, in tokens of the model that is set.
pub fn weigh_page(page: &Page, means: PromptServices<'_>) -> usize {
    of_the_set_model(means, |measure| piece::page(page, &measure.counter()).tokens)
}

/// What a text weighs, in tokens of the model that is set.
pub fn weigh_text(text: &str, means: PromptServices<'_>) -> usize {
    of_the_set_model(means, |measure| measure.counter()(text))
}

/// What map blocks may weigh together for the model that is set, in tokens.
pub fn map_budget(means: PromptServices<'_>) -> usize {
    let resolved = means.models.resolve(&means.settings.model);
    Measure::new(&resolved.model, means).map_budget()
}

fn of_the_set_model<T>(means: PromptServices<'_>, work: impl FnOnce(&Measure<'_>) -> T) -> T {
    let resolved = means.models.resolve(&means.settings.model);
    work(&Measure::new(&resolved.model, means))
}
