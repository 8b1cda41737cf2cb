//! Compacts a session's conversation and undoes compactions. `compaction` decides what to shorten.

use std::sync::Arc;

use strata_conversation::compaction::{
    ActivityListUpdate, CompactionDraft, CompactionRecord, CompactionStatus, ContextPressure, DraftRefusal,
    Profile, RequestSize, commit,
};
use strata_conversation::conversation_facts::ToolPatterns;
use strata_conversation::history::History;
use strata_conversation::providers::reply::ContextSize;
use strata_conversation::settings::{CompactionSettings, SummariserKind};
use strata_conversation::tool_result_archival::expected_turns;
use strata_tokens::calibration::Calibration;
use strata_tokens::cost::{Prices, expected_reuse_price};
use strata_tokens::models::{CacheKind, Model, Models};

use crate::assembly::{
    PromptRequest, PromptServices, history_size, largest_parts, request_size, with_token_counters,
};

use super::cache_memory::{CacheMemory, LastPromptSize, PromptToRecord};
use super::{ContextLimitRecovery, Session, SessionError};

/// Number of exploration steps to keep when a compaction shortens the list (`docs/compaction.md`, "The five profiles").
const KEPT_EXPLORATION_STEPS: usize = 10;

/// Number of turns for which a compaction counts as saving money, for each exchange that it summarizes. The next compaction
/// could summarize the same exchanges a few turns later, so without this limit, conversations of long answers would be
/// compacted after each of them. Twice and four times cost the least in recorded conversations, and twice is as good if
/// cache entries live for an hour.
const SAVING_TURNS_PER_EXCHANGE: f64 = 2.0;

/// Before a prompt, a conversation is not compacted if that frees less than its size divided by this number.
const MIN_FREED_DIVISOR: usize = 4;

/// Price of an output token in tokens of uncached input: the ratio in most price lists.
const OUTPUT_PRICE_RATIO: f64 = 5.0;

/// Smallest stated limit that is believed. No model has a smaller window.
const MIN_PLAUSIBLE_LIMIT: u64 = 1_024;

/// What a compaction is expected to change. Prices are relative to uncached input.
struct CompactionEffect {
    /// Tokens by which the conversation becomes shorter.
    freed: usize,
    /// Price of the freed tokens in further turns.
    saved_later: f64,
    /// Price of writing the summary.
    summary_cost: f64,
    prices: Prices,
}

impl Session {
    /// Checks that the conversation may be compacted because a provider rejected a prompt as too long.
    ///
    /// # Errors
    /// Returns [`SessionError::AlreadyRecovered`] if the conversation was already compacted for this reason and no
    /// prompt has been answered since.
    pub fn check_recovery_allowed(&self) -> Result<(), SessionError> {
        match self.recovery {
            ContextLimitRecovery::Used => Err(SessionError::AlreadyRecovered(Vec::new())),
            ContextLimitRecovery::Possible | ContextLimitRecovery::Requested => Ok(()),
        }
    }

    /// Records that a provider rejected a prompt as too long. The next prompt uses a compacted conversation and a lower
    /// limit.
    pub(super) fn record_rejection(&mut self, turn: &PromptToRecord) -> Result<(), SessionError> {
        if self.recovery == ContextLimitRecovery::Used {
            return Err(SessionError::AlreadyRecovered(largest_parts(turn.layout.part_tokens())));
        }
        self.recovery = ContextLimitRecovery::Requested;
        self.rejection = Some((turn.model.as_str().into(), turn.estimated / 10 * 9));
        Ok(())
    }

    /// Lowers the limit after a rejected prompt to the one that the provider stated, if it is lower. A stated size of
    /// the request converts the provider's tokens to estimated ones.
    pub fn apply_stated_limit(&mut self, stated: ContextSize) {
        let limit = stated.limit.filter(|limit| *limit >= MIN_PLAUSIBLE_LIMIT);
        let (Some((_, reduced)), Some(limit)) = (&mut self.rejection, limit) else { return };
        let estimated = (*reduced / 9).saturating_mul(10) as u64;
        let fits = match stated.requested {
            Some(requested) if requested > limit => estimated.saturating_mul(limit) / requested,
            _ => limit,
        };
        *reduced = (*reduced).min(usize::try_from(fits).unwrap_or(usize::MAX));
    }

    /// Whether the next prompt must use a compacted conversation, because the last one was rejected as too long.
    pub fn must_recover(&self) -> bool {
        self.recovery == ContextLimitRecovery::Requested
    }

    /// Returns the maximum input tokens for a model that rejected a prompt as too long, or `None` for other models.
    pub(crate) fn reduced_limit_for(&self, model: &str) -> Option<usize> {
        self.rejection
            .as_ref()
            .filter(|(rejected_model, _)| &**rejected_model == model)
            .map(|(_, tokens)| *tokens)
    }

    /// Records that the conversation was compacted after a rejected prompt.
    pub fn record_recovery(&mut self) {
        self.recovery = ContextLimitRecovery::Used;
    }

    /// Returns the compaction pressure of a request of this size, or of a request like the last one, at `now_ms`
    /// (milliseconds since 1970).
    pub fn pressure(
        &self,
        size: Option<RequestSize>,
        services: PromptServices<'_>,
        now_ms: u64,
    ) -> ContextPressure {
        let size = size.unwrap_or_else(|| self.request_size(&self.next_request(now_ms), services));
        let history = history_size(&self.history, services).tokens;
        let exchanges =
            self.history.visible_messages().filter(|message| History::begins_exchange(message)).count();
        let messages = self.history.visible_messages().count();
        let pressure =
            ContextPressure { messages, exchanges, ..ContextPressure::from_request(size, history) };
        ContextPressure { pays: self.is_compaction_worthwhile(&pressure, services, now_ms), ..pressure }
    }

    /// Estimates the size of the next request with the options of `prompt_request`. The estimate is the size of the
    /// last prompt plus later messages or, if that size is unknown, the conversation alone.
    pub fn request_size(&self, prompt_request: &PromptRequest, services: PromptServices<'_>) -> RequestSize {
        let tokens = self
            .size_from_last_prompt(services)
            .unwrap_or_else(|| history_size(&self.history, services).tokens);
        request_size(tokens, prompt_request, self, services)
    }

    /// Reports how close the conversation is to a compaction with the active profile.
    pub fn compaction_status(
        &self,
        size: RequestSize,
        services: PromptServices<'_>,
        now_ms: u64,
    ) -> CompactionStatus {
        let settings = &services.settings.compaction;
        let pressure = self.pressure(Some(size), services, now_ms);
        let profile = settings.active_profile(&services.settings.tool_output);
        CompactionStatus::new(settings.auto_compaction(), &profile, &pressure, self.compactions.last())
    }

    /// Whether compacting now is expected to save more than it costs. Later requests become shorter, but what remains of
    /// this one is written to the cache again, since the conversation precedes the files.
    fn is_compaction_worthwhile(
        &self,
        pressure: &ContextPressure,
        services: PromptServices<'_>,
        now_ms: u64,
    ) -> bool {
        let compaction = &services.settings.compaction;
        let profile = compaction.active_profile(&services.settings.tool_output);
        if profile.trigger.pays_over.is_none_or(|limit| pressure.history <= limit) {
            return false;
        }
        let CompactionEffect { freed, saved_later, summary_cost, prices } =
            self.compaction_effect(pressure, services);
        let is_warm = self.cached_prefix(now_ms).is_some_and(|cached| cached.tokens > 0);
        // If the cache has expired, the whole prompt is written again, with or without a compaction.
        let rewritten = if is_warm { pressure.context.saturating_sub(freed) } else { 0 };
        let saved_once = if is_warm { 0 } else { freed };
        let rewriting = prices.write - prices.read;
        saved_later + saved_once as f64 * rewriting > rewritten as f64 * rewriting + summary_cost
    }

    /// Whether compacting before a prompt that would read `read` tokens from the cache is expected to save more than it
    /// costs. What the prompt does not read is written again in any case: the conversation after a deselected file, or
    /// everything after a long pause. The compacted prompt reads nothing.
    pub fn is_compaction_worthwhile_before_prompt(
        &self,
        pressure: &ContextPressure,
        read: usize,
        services: PromptServices<'_>,
    ) -> bool {
        let CompactionEffect { freed, saved_later, summary_cost, prices } =
            self.compaction_effect(pressure, services);
        // Without a cache, the prompt writes nothing.
        let writes_again = prices.kind != CacheKind::None && self.cache.pace.prompt_count() > 0;
        let is_effective = freed >= pressure.history / MIN_FREED_DIVISOR;
        let saved = freed as f64 * prices.write + saved_later;
        writes_again && is_effective && saved > read as f64 * (prices.write - prices.read) + summary_cost
    }

    /// Estimates the effect of a compaction with the active profile. `compaction.model`, if set, reads the conversation
    /// once.
    fn compaction_effect(
        &self,
        pressure: &ContextPressure,
        services: PromptServices<'_>,
    ) -> CompactionEffect {
        let compaction = &services.settings.compaction;
        let profile = compaction.active_profile(&services.settings.tool_output);
        let model = &services.models.resolve(&services.settings.model).model;
        let prices = Prices::for_model(model, services.settings.cache.ttl);
        let (summarized, tokens) = with_token_counters(services, |scales| {
            let summarized = profile.old_messages(&self.history, pressure, scales.message);
            let tokens: usize = summarized.iter().map(|message| (scales.message)(message)).sum();
            (summarized, tokens)
        });
        let freed = tokens.saturating_sub(profile.summary.tokens);
        let summary_cost = summarizer_price(compaction, model, services.models)
            * (pressure.history as f64 + OUTPUT_PRICE_RATIO * profile.summary.tokens as f64);
        let saved_per_token_turn = expected_reuse_price(self.cache.pace.trend().pauses_ms, &prices);
        let exchanges = summarized.iter().filter(|message| History::begins_exchange(message)).count();
        let turns =
            expected_turns(self.cache.pace.prompt_count()).min(SAVING_TURNS_PER_EXCHANGE * exchanges as f64);
        let saved_later = freed as f64 * saved_per_token_turn * turns;
        CompactionEffect { freed, saved_later, summary_cost, prices }
    }

    /// Replaces the conversation with a compacted draft of it.
    ///
    /// # Errors
    /// Returns a [`DraftRefusal`] if the draft no longer applies. The session is then unchanged.
    pub fn compact(
        &mut self,
        draft: CompactionDraft,
        profile: &Profile,
        tools: &ToolPatterns,
        now_ms: u64,
    ) -> Result<&CompactionRecord, DraftRefusal> {
        let CompactionDraft { strategy, before, after, ref summarised_by, .. } = draft;
        let summarised_by = summarised_by.clone();
        let (history, rebuilt) = commit(&self.history, draft, profile)?;
        let revision = self.cache.revision;
        self.history = history;
        match profile.lists {
            ActivityListUpdate::Keep => {}
            ActivityListUpdate::Shorten => {
                Arc::make_mut(&mut self.saved).trail.keep_last_steps(
                    KEPT_EXPLORATION_STEPS,
                    &self.history,
                    tools,
                );
            }
            ActivityListUpdate::Clear => Arc::make_mut(&mut self.saved).trail.clear(&self.history),
        }
        self.reset_after_history_change();
        self.mark_changes_automatic_since(revision);
        let profile = profile.name.clone();
        let record =
            CompactionRecord { profile, strategy, before, after, summarised_by, time_ms: now_ms, rebuilt };
        let compactions = Arc::make_mut(&mut self.compactions);
        compactions.push(record);
        compactions.last().ok_or(DraftRefusal::Changed)
    }

    /// Undoes the last compaction: the model sees the hidden messages again, before newer ones.
    ///
    /// # Errors
    /// Returns [`SessionError::NothingToUndo`] if there is no compaction to undo.
    pub fn undo_compaction(&mut self) -> Result<CompactionRecord, SessionError> {
        if self.compactions.is_empty() {
            return Err(SessionError::NothingToUndo);
        }
        let record = Arc::make_mut(&mut self.compactions).pop().ok_or(SessionError::NothingToUndo)?;
        self.history.undo_rebuild(&record.rebuilt);
        self.reset_after_history_change();
        Ok(record)
    }

    /// Returns the compactions that were committed and not undone, oldest first.
    #[cfg(test)]
    pub(crate) fn compactions(&self) -> &[CompactionRecord] {
        &self.compactions
    }

    /// Updates the session after earlier messages changed: resets their tiers, and forgets the size of the last prompt.
    pub(super) fn reset_after_history_change(&mut self) {
        self.cache_mut().anchor = None;
        self.reset_history_tiers();
        self.mark_changed();
    }

    /// Marks the changes since revision `since` as automatic, so that pending prompts of that revision remain valid.
    pub(super) fn mark_changes_automatic_since(&mut self, since: u64) {
        let CacheMemory { revision, pending, .. } = self.cache_mut();
        for pending in pending.iter_mut().filter(|pending| pending.same_until == since) {
            pending.same_until = *revision;
        }
    }

    fn size_from_last_prompt(&self, services: PromptServices<'_>) -> Option<usize> {
        let LastPromptSize { tokens, next } = self.cache.anchor?;
        let later = self.history.sent_messages().filter(|message| message.id >= next);
        let later: usize =
            with_token_counters(services, |scales| later.map(|message| (scales.message)(message)).sum());
        let model = &services.models.resolve(&services.settings.model).model.id;
        let factor = self.calibration(model).map_or(1.0, Calibration::factor);
        Some(tokens.saturating_add((later as f64 * factor).ceil() as usize))
    }
}

/// Returns what a token of input costs the model that writes summaries, relative to `model`. Rules cost nothing, and so
/// does a model of the client, whose price is not known.
fn summarizer_price(compaction: &CompactionSettings, model: &Model, models: &Models) -> f64 {
    let Some(name) = compaction.model.as_deref() else { return 0.0 };
    if compaction.summariser == SummariserKind::Extractive {
        return 0.0;
    }
    let prices = models.resolve(name).model.price.zip(model.price);
    prices
        .filter(|(_, model_price)| model_price.input > 0.0)
        .map_or(1.0, |(summarizer, model_price)| summarizer.input / model_price.input)
}
