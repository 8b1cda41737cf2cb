//! Counts tokens for one model, and computes the limits of a prompt.

use strata_base::key::FileKey;
use strata_conversation::compaction::{ConversationSize, RequestSize, TokenCounters};
use strata_conversation::history::{ContentBlock, History, Message, MessageKind, archived_stub};
use strata_conversation::providers::{self, BreakpointMode, Format, Tool, texts_and_images};
use strata_conversation::selection::Extent;
use strata_conversation::urls::Page;
use strata_tokens::calibration::{Calibration, Expected};
use strata_tokens::cost::Prices;
use strata_tokens::counting::{ImageSize, UNKNOWN_IMAGE_TOKENS};
use strata_tokens::models::{CacheLifetime, Model, ModelCertainty, ResolvedModel, StructureCounts};

use crate::session::Session;
use crate::settings::Settings;

use super::piece::{self, FileText};
use super::request::{PromptRequest, PromptServices};
use crate::layout::CountedBlock;

/// Token limit for the map in a prompt by default. Of the files that people edited in 234 recorded conversations, the
/// excerpts show nine in ten; a map of 64,000 tokens shows the names of another 8 %, for 71 % of a first request's cost.
const DEFAULT_MAP_BUDGET: usize = 1_000;

/// Token counts for one model, and the limits that the model and the settings impose.
pub(super) struct Measure<'a> {
    model: &'a Model,
    services: PromptServices<'a>,
    calibration: Option<&'a Calibration>,
    max_input_tokens: usize,
    /// Whether the window is known, from the model table or the client, and not just assumed.
    is_known: bool,
}

impl<'a> Measure<'a> {
    pub(super) fn new(resolved: &'a ResolvedModel, services: PromptServices<'a>) -> Self {
        let model = &*resolved.model;
        let is_known = resolved.known != ModelCertainty::Unknown;
        Self { model, services, calibration: None, max_input_tokens: model.max_input, is_known }
    }

    /// Creates the measure for a request of `session`. Applies the smallest input limit that the client, the session or
    /// an earlier rejection by the provider imposes, and the session's calibration of the model.
    pub(super) fn for_request(
        resolved: &'a ResolvedModel,
        prompt_request: &PromptRequest,
        session: &'a Session,
        services: PromptServices<'a>,
    ) -> Self {
        let model = &resolved.model.id;
        let limits =
            [prompt_request.max_input_tokens, session.max_input_tokens, session.reduced_limit_for(model)];
        Self::new(resolved, services)
            .with_input_limit(limits.into_iter().flatten().min())
            .with_calibration(session.calibration(model))
    }

    fn with_input_limit(self, max_input_tokens: Option<usize>) -> Self {
        let Some(limit) = max_input_tokens else { return self };
        Self { max_input_tokens: self.max_input_tokens.min(limit), is_known: true, ..self }
    }

    fn with_calibration(self, calibration: Option<&'a Calibration>) -> Self {
        Self { calibration, ..self }
    }

    /// Converts an estimate to the tokens that the provider is expected to bill.
    pub(super) fn predict_bill(&self, estimated: usize) -> Expected {
        let tokenizer = self.model.tokenizer;
        match self.calibration {
            Some(calibration) => calibration.predict_bill(tokenizer, estimated),
            None => Expected::uncalibrated(tokenizer, estimated),
        }
    }

    pub(super) fn settings(&self) -> &Settings {
        self.services.settings
    }

    /// Returns the format of the request body that `prompt_request` or the settings choose, or else that of the model.
    pub(super) fn format(&self, prompt_request: &PromptRequest) -> Format {
        self.settings().format_for(prompt_request.format, self.model)
    }

    pub(super) fn model_id(&self) -> &str {
        &self.model.id
    }

    /// Returns how requests to this model mark the ends of cached prefixes.
    pub(super) fn breakpoint_mode(&self) -> BreakpointMode {
        BreakpointMode::for_model(self.model)
    }

    /// Returns the lifetimes that the setting `cache.ttl` can choose for all cache entries, shortest first.
    pub(super) fn lifetimes(&self) -> Vec<CacheLifetime> {
        Prices::lifetimes(self.model)
    }

    pub(super) fn counter(&self) -> impl Fn(&str) -> usize + use<'a> {
        let (counter, tokenizer) = (self.services.counter, self.model.tokenizer);
        move |text| counter.count(tokenizer, text)
    }

    /// Returns the model's smallest cacheable prefix, in tokens.
    pub(super) fn cache_minimum(&self) -> usize {
        self.model.cache.min_tokens
    }

    /// Returns the input window in tokens: the model's, or the client's limit if that is smaller.
    pub(super) fn input_window(&self) -> usize {
        self.max_input_tokens
    }

    /// Returns the tokens reserved for the answer: the configured reserve, or by default the model's maximum output,
    /// but at most a sixteenth of the window.
    pub(super) fn output_reserve(&self) -> usize {
        let default = self.model.max_output.min(self.input_window() / 16);
        self.settings().budget.output_reserve.unwrap_or(default)
    }

    /// Returns the token limit for a prompt, as the provider counts them: the window minus the reserve for the answer
    /// (`docs/prompt.md`, "Budgets").
    pub(super) fn provider_limit(&self) -> usize {
        self.input_window().saturating_sub(self.output_reserve())
    }

    /// Returns the token limit for a prompt, as Strata estimates them: [`Self::provider_limit`] minus the margin for
    /// estimation error.
    pub(super) fn prompt_limit(&self) -> usize {
        let (provider_limit, tokenizer) = (self.provider_limit(), self.model.tokenizer);
        let limit = match self.calibration {
            Some(calibration) => calibration.max_estimate(tokenizer, provider_limit),
            None => Expected::max_estimate_uncalibrated(tokenizer, provider_limit),
        };
        limit.min(provider_limit)
    }

    /// Compares a request with its limit. `estimated` is the token count of the full request. `least` is that of the
    /// request without the content that is dropped before any message.
    pub(super) fn request_size(&self, estimated: usize, least: usize) -> RequestSize {
        let expected = |tokens| self.predict_bill(tokens).tokens;
        let window = self.is_known.then(|| self.input_window());
        RequestSize {
            tokens: expected(estimated),
            least: expected(least),
            limit: Some(expected(self.prompt_limit())),
            window,
        }
    }

    /// Returns the token limit for the map blocks in a prompt (`docs/prompt.md`, "Budgets").
    pub(super) fn map_budget(&self) -> usize {
        let default = DEFAULT_MAP_BUDGET.min(self.input_window() / 2);
        self.settings().symbols.map_budget.unwrap_or(default)
    }

    /// Returns the token limit for a map that is not part of a prompt.
    fn standalone_map_budget(&self) -> usize {
        let default = (self.input_window() / 8).clamp(4_000, 64_000).min(self.input_window() / 2);
        self.settings().symbols.map_budget.unwrap_or(default)
    }

    /// Returns the token limit for the repository file list, at most an eighth of the window.
    pub(super) fn list_budget(&self) -> usize {
        self.settings().files.list_budget.min(self.input_window() / 8)
    }

    /// Counts the tokens of the request format itself, such as its overhead per message.
    pub(super) fn count_structure(&self, structure: StructureCounts) -> usize {
        self.model.structure_tokens(structure)
    }

    pub(super) fn count_tools(&self, tools: &[Tool]) -> usize {
        let count = self.counter();
        let count_tool = |tool: &Tool| {
            count(&tool.name) + count(&tool.description) + count(&tool.input_schema.to_string())
        };
        tools.iter().map(count_tool).sum()
    }

    /// Counts the tokens of a content block, which are those of its texts and images.
    pub(super) fn count_block(&self, block: &ContentBlock) -> usize {
        let count = self.counter();
        texts_and_images(block)
            .into_iter()
            .map(|piece| match piece {
                providers::TextOrImage::Text(text) => count(&text),
                providers::TextOrImage::Picture(size) => self.count_image(size),
            })
            .sum()
    }

    /// Counts the tokens of an image. A model without a formula for images uses [`UNKNOWN_IMAGE_TOKENS`].
    fn count_image(&self, size: Option<ImageSize>) -> usize {
        self.model.image.as_ref().map_or(UNKNOWN_IMAGE_TOKENS, |formula| formula.tokens(size))
    }

    pub(super) fn counted_blocks(&self, blocks: impl IntoIterator<Item = ContentBlock>) -> Vec<CountedBlock> {
        let counted = |content| CountedBlock { tokens: self.count_block(&content), content };
        blocks.into_iter().map(counted).collect()
    }

    /// Counts the tokens of a message, including the format's overhead per message. An archived tool result counts as
    /// its stub.
    pub(super) fn count_message(&self, message: &Message) -> usize {
        let blocks: usize = if message.body.kind == MessageKind::ToolResultArchived {
            let results = message.body.content.iter().filter(|block| block.is_tool_result()).count();
            results * self.counter()(&archived_stub(message.id))
        } else {
            message.body.content.iter().map(|block| self.count_block(block)).sum()
        };
        blocks + self.model.overheads.message
    }
}

/// Measures the conversation as the configured model sees it.
pub fn history_size(history: &History, services: PromptServices<'_>) -> ConversationSize {
    with_token_counters(services, |scales| ConversationSize::from_history(history, scales))
}

/// Compares a request of `tokens` tokens, as the provider counts them, with the limit that applies to `prompt_request`.
pub(crate) fn request_size(
    tokens: usize,
    prompt_request: &PromptRequest,
    session: &Session,
    services: PromptServices<'_>,
) -> RequestSize {
    let resolved =
        services.models.resolve(prompt_request.model.as_deref().unwrap_or(&services.settings.model));
    let size = Measure::for_request(&resolved, prompt_request, session, services).request_size(0, 0);
    RequestSize { tokens, least: tokens, ..size }
}

/// Calls `work` with functions that count tokens for the configured model.
pub fn with_token_counters<T>(services: PromptServices<'_>, work: impl FnOnce(TokenCounters<'_>) -> T) -> T {
    with_configured_model(services, |measure| {
        let count = measure.counter();
        work(TokenCounters { message: &|message| measure.count_message(message), text: &count })
    })
}

/// Counts the tokens of the selected part of a file, for the configured model.
pub fn count_file_tokens(
    key: &FileKey,
    file: &FileText,
    extent: &Extent,
    services: PromptServices<'_>,
) -> usize {
    let pieces =
        with_configured_model(services, |measure| piece::file_pieces(key, file, extent, &measure.counter()));
    pieces.iter().map(|piece| piece.tokens).sum()
}

/// Counts the tokens of a web page in a prompt, for the configured model.
pub fn count_page_tokens(page: &Page, services: PromptServices<'_>) -> usize {
    with_configured_model(services, |measure| piece::web_page_piece(page, &measure.counter()).tokens)
}

/// Returns a function that counts the tokens of a text for `model`, or for the configured model if it is `None`.
pub fn token_counter<'a>(
    model: Option<&str>,
    services: PromptServices<'a>,
) -> impl Fn(&str) -> usize + use<'a> {
    let resolved = services.models.resolve(model.unwrap_or(&services.settings.model));
    let (counter, tokenizer) = (services.counter, resolved.model.tokenizer);
    move |text| counter.count(tokenizer, text)
}

/// Returns the token limit for a map that is not part of a prompt, for the configured model.
pub fn standalone_map_budget(services: PromptServices<'_>) -> usize {
    let resolved = services.models.resolve(&services.settings.model);
    Measure::new(&resolved, services).standalone_map_budget()
}

/// Returns the token limit for the map blocks in a prompt for the configured model.
pub fn map_budget(services: PromptServices<'_>) -> usize {
    let resolved = services.models.resolve(&services.settings.model);
    Measure::new(&resolved, services).map_budget()
}

fn with_configured_model<T>(services: PromptServices<'_>, work: impl FnOnce(&Measure<'_>) -> T) -> T {
    let resolved = services.models.resolve(&services.settings.model);
    work(&Measure::new(&resolved, services))
}
