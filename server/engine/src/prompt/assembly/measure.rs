//! Sizes and limits: the tokens of everything for one model, and the limits of a prompt. Collects nothing.

use crate::conversation::compaction::{RequestSize, Scales};
use crate::conversation::dialect::{self, Breakpoints, pieces_of};
use crate::conversation::history::{ContentBlock, History, Kind, Message, archived_stub};
use crate::conversation::selection::Extent;
use crate::conversation::urls::Page;
use crate::key::FileKey;
use crate::prompt::session::Session;
use crate::prompt::settings::Settings;
use crate::prompt::wire::Tool;
use crate::tokens::calibration::{Calibration, Expected};
use crate::tokens::counting::{ImageSize, UNKNOWN_IMAGE_TOKENS};
use crate::tokens::models::{Model, ModelCertainty, ResolvedModel, Structure};

use super::piece::{self, FileText};
use super::request::PromptRequest;
use super::services::PromptServices;
use crate::prompt::layout::WeighedBlock;

/// Everything about weights: the model's limits and the settings' wishes.
pub(super) struct Measure<'a> {
    model: &'a Model,
    means: PromptServices<'a>,
    calibration: Option<&'a Calibration>,
    max_input_tokens: usize,
    /// Whether the window is that of the model table or of a client, not an assumption.
    is_known: bool,
}

impl<'a> Measure<'a> {
    pub(super) fn new(resolved: &'a ResolvedModel, means: PromptServices<'a>) -> Self {
        let model = &*resolved.model;
        let is_known = resolved.known != ModelCertainty::Unknown;
        Self { model, means, calibration: None, max_input_tokens: model.max_input, is_known }
    }

    /// For a request of a session: its limits, and what reported usage taught about the model.
    pub(super) fn of_request(
        resolved: &'a ResolvedModel,
        ask: &PromptRequest,
        session: &'a Session,
        means: PromptServices<'a>,
    ) -> Self {
        let model = &resolved.model.id;
        let most = [ask.max_input_tokens, session.max_input_tokens, session.refused(model)];
        Self::new(resolved, means)
            .within(most.into_iter().flatten().min())
            .calibrated(session.calibration(model))
    }

    /// Applies a client's limit of input tokens.
    fn within(self, max_input_tokens: Option<usize>) -> Self {
        let Some(most) = max_input_tokens else { return self };
        Self { max_input_tokens: self.max_input_tokens.min(most), is_known: true, ..self }
    }

    /// The same with what reported usage taught about the model.
    fn calibrated(self, calibration: Option<&'a Calibration>) -> Self {
        Self { calibration, ..self }
    }

    /// The expected billed tokens for an estimate.
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

    /// The reserve for the answer: as set, or the model's maximum output up to a sixteenth of the window.
    pub(super) fn output_reserve(&self) -> usize {
        let default = self.model.max_output.min(self.window() / 16);
        self.settings().budget.output_reserve.unwrap_or(default)
    }

    /// Maximum tokens of a prompt by the model's own count: the window less the reserve for the answer (`docs/prompt.md`,
    /// "Budgets").
    pub(super) fn room(&self) -> usize {
        self.window().saturating_sub(self.output_reserve())
    }

    /// Maximum estimated tokens of a prompt: the room minus the error of the estimate.
    pub(super) fn limit(&self) -> usize {
        let (room, tokenizer) = (self.room(), self.model.tokenizer);
        let limit = match self.calibration {
            Some(calibration) => calibration.within(tokenizer, room),
            None => Expected::untaught_within(tokenizer, room),
        };
        limit.min(room)
    }

    /// Compares a request with its limit: `estimated` tokens in full, and `least` after dropping everything that goes before
    /// messages.
    pub(super) fn request_size(&self, estimated: usize, least: usize) -> RequestSize {
        let expected = |tokens| self.expected(tokens).tokens;
        let window = self.is_known.then(|| self.window());
        RequestSize {
            tokens: expected(estimated),
            least: expected(least),
            limit: Some(expected(self.limit())),
            window,
        }
    }

    /// Maximum tokens of the map blocks (`docs/prompt.md`, "Budgets"); at most half of a very small window.
    pub(super) fn map_budget(&self) -> usize {
        let default = (self.window() / 8).clamp(4_000, 64_000).min(self.window() / 2);
        self.settings().symbols.map_budget.unwrap_or(default)
    }

    /// Maximum tokens of the repository file list.
    pub(super) fn list_budget(&self) -> usize {
        self.settings().files.list_budget.min(self.window() / 8)
    }

    /// Tokens of the format itself.
    pub(super) fn structure(&self, structure: Structure) -> usize {
        self.model.structure_tokens(structure)
    }

    /// Tokens of the declared tools.
    pub(super) fn tools(&self, tools: &[Tool]) -> usize {
        let count = self.counter();
        let weigh = |tool: &Tool| {
            count(&tool.name) + count(&tool.description) + count(&tool.input_schema.to_string())
        };
        tools.iter().map(weigh).sum()
    }

    /// Tokens of a content block: the sum of its pieces.
    pub(super) fn block(&self, block: &ContentBlock) -> usize {
        let count = self.counter();
        pieces_of(block)
            .into_iter()
            .map(|piece| match piece {
                dialect::Piece::Text(text) => count(&text),
                dialect::Piece::Picture(size) => self.picture(size),
            })
            .sum()
    }

    /// Tokens of a picture. A model without image support is charged for an unknown one.
    fn picture(&self, size: Option<ImageSize>) -> usize {
        self.model.image.as_ref().map_or(UNKNOWN_IMAGE_TOKENS, |formula| formula.tokens(size))
    }

    /// Blocks with their weights.
    pub(super) fn weighed(&self, blocks: impl IntoIterator<Item = ContentBlock>) -> Vec<WeighedBlock> {
        let weigh = |content| WeighedBlock { tokens: self.block(&content), content };
        blocks.into_iter().map(weigh).collect()
    }

    /// Tokens of a message with its share of the format; for archived results, those of the stub.
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

/// Tokens of the conversation as the model sees it, for the current model.
pub fn history_tokens(history: &History, means: PromptServices<'_>) -> usize {
    of_the_set_model(means, |measure| history.sent().map(|message| measure.message(message)).sum())
}

/// Compares a request of `tokens` by the provider's count with the limit for `ask`.
pub(crate) fn request_size(
    tokens: usize,
    ask: &PromptRequest,
    session: &Session,
    means: PromptServices<'_>,
) -> RequestSize {
    let resolved = means.models.resolve(ask.model.as_deref().unwrap_or(&means.settings.model));
    let size = Measure::of_request(&resolved, ask, session, means).request_size(0, 0);
    RequestSize { tokens, least: tokens, ..size }
}

/// Does `work` with the scales of the model that is set.
pub fn with_scales<T>(means: PromptServices<'_>, work: impl FnOnce(Scales<'_>) -> T) -> T {
    of_the_set_model(means, |measure| {
        let count = measure.counter();
        work(Scales { message: &|message| measure.message(message), text: &count })
    })
}

/// Tokens of the shown part of a file, for the current model.
pub fn weigh_file(key: &FileKey, file: &FileText, extent: &Extent, means: PromptServices<'_>) -> usize {
    let pieces = of_the_set_model(means, |measure| piece::pieces(key, file, extent, &measure.counter()));
    pieces.iter().map(|piece| piece.tokens).sum()
}

/// Tokens of a web page as shown, for the current model.
pub fn weigh_page(page: &Page, means: PromptServices<'_>) -> usize {
    of_the_set_model(means, |measure| piece::page(page, &measure.counter()).tokens)
}

/// Counts tokens for `model`, or for the current one.
pub fn counter<'a>(model: Option<&str>, means: PromptServices<'a>) -> impl Fn(&str) -> usize + use<'a> {
    let resolved = means.models.resolve(model.unwrap_or(&means.settings.model));
    let (counter, tokenizer) = (means.counter, resolved.model.tokenizer);
    move |text| counter.count(tokenizer, text)
}

/// Maximum tokens of the map blocks for the current model.
pub fn map_budget(means: PromptServices<'_>) -> usize {
    let resolved = means.models.resolve(&means.settings.model);
    Measure::new(&resolved, means).map_budget()
}

fn of_the_set_model<T>(means: PromptServices<'_>, work: impl FnOnce(&Measure<'_>) -> T) -> T {
    let resolved = means.models.resolve(&means.settings.model);
    work(&Measure::new(&resolved, means))
}
