//! Archives old tool results of a session. `tool_result_archival` decides which results to archive and when, given the
//! cached content that this module reports.

use strata_conversation::compaction::BuiltinProfile;
use strata_conversation::history::MessageId;
use strata_conversation::settings::ArchivalMode;
use strata_conversation::tool_result_archival::{
    Archival, ArchivalPlan, CacheState, WarmCache, plan_archival, turns_until_next_archival,
};
use strata_tokens::cost::Prices;

use crate::assembly::{PromptServices, with_token_counters};
use crate::layout::{ItemKey, Layout};

use super::Session;

/// Whether the prompt fits into the window without archiving.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PromptFit {
    /// The prompt fits, so archiving can wait until it saves more than it costs.
    Fits,
    /// The prompt does not fit, so all results beyond `tool_output.cutoff` are archived regardless of the cost.
    TooLarge,
}

impl Session {
    /// Plans which tool results to archive now. Returns `None` if there is nothing to archive.
    pub fn plan_archival(
        &self,
        fit: PromptFit,
        services: PromptServices<'_>,
        now_ms: u64,
    ) -> Option<ArchivalPlan> {
        let mut settings = services.settings.tool_output.clone();
        if services.settings.compaction.active_profile(&settings).builtin == BuiltinProfile::Checkpoint {
            settings.ageing = ArchivalMode::Eager;
        }
        let settings = &settings;
        let plan = |state: &CacheState<'_>| plan_archival(self.history.messages(), settings, state);
        let cached = self.cached_prefix(now_ms).filter(|cached| cached.tokens > 0);
        let (cached, layout) = match (fit, cached, self.last_layout()) {
            (PromptFit::TooLarge, _, _) => return plan(&CacheState::Forced),
            (PromptFit::Fits, Some(cached), Some(layout)) => (cached, layout),
            (PromptFit::Fits, _, _) => return plan(&CacheState::Cold),
        };
        let model = &services.models.resolve(&services.settings.model).model;
        let Prices { read, write, .. } = Prices::for_model(model, services.settings.cache.ttl);
        let turns = turns_until_next_archival(self.cache.pace.prompt_count());
        let behind = |id: MessageId| cached_tokens_from(layout, cached.tokens, id);
        with_token_counters(services, |scales| {
            plan(&CacheState::Warm(WarmCache { read, write, turns, behind: &behind, counters: scales }))
        })
    }

    pub fn apply_archival(&mut self, archival: Archival) {
        let revision = self.cache.revision;
        if !archival.apply_to_history(&mut self.history).changed.is_empty() {
            self.reset_after_history_change();
            self.mark_changes_automatic_since(revision);
        }
    }
}

/// Counts the cached tokens from `message` onward, given that the first `cached` tokens of the prompt are cached.
/// Returns 0 if the prompt does not contain the message.
fn cached_tokens_from(layout: &Layout, cached: usize, message: MessageId) -> usize {
    let mut before = 0;
    for block in layout.blocks() {
        if block.items.contains(&ItemKey::History(message)) {
            return cached.saturating_sub(before);
        }
        before += block.tokens;
    }
    0
}
