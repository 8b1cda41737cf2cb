//! Archives old tool results of a session. `tool_result_archival` decides which results to archive and when, given the
//! cached content that this module reports.

use strata_conversation::compaction::Family;
use strata_conversation::history::MessageId;
use strata_conversation::settings::ArchivalMode;
use strata_conversation::tool_result_archival::{
    Archival, ArchivalPlan, CacheState, Warm, plan_archival, turns_until_next_archival,
};
use strata_tokens::cost::Prices;

use crate::assembly::{PromptServices, with_scales};
use crate::layout::{ItemKey, Layout};

use super::Session;

/// Whether the prompt fits into the window without archiving.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Room {
    /// The prompt fits, so archiving can wait until it saves more than it costs.
    Left,
    /// The prompt does not fit, so all results beyond `tool_output.cutoff` are archived regardless of the cost.
    None,
}

impl Session {
    /// Plans which tool results to archive now. Returns `None` if there is nothing to archive.
    pub fn plan_archival(&self, room: Room, means: PromptServices<'_>, now_ms: u64) -> Option<ArchivalPlan> {
        let mut settings = means.settings.tool_output.clone();
        if means.settings.compaction.profile(&settings).family == Family::Checkpoint {
            settings.ageing = ArchivalMode::Eager;
        }
        let settings = &settings;
        let plan = |state: &CacheState<'_>| plan_archival(self.history.messages(), settings, state);
        let cached = self.cached(now_ms).filter(|cached| cached.tokens > 0);
        let (cached, layout) = match (room, cached, self.last_layout()) {
            (Room::None, _, _) => return plan(&CacheState::Forced),
            (Room::Left, Some(cached), Some(layout)) => (cached, layout),
            (Room::Left, _, _) => return plan(&CacheState::Cold),
        };
        let model = &means.models.resolve(&means.settings.model).model;
        let Prices { read, write, .. } = Prices::of(model, means.settings.cache.ttl);
        let turns = turns_until_next_archival(self.cache.pace.prompts());
        let behind = |id: MessageId| cached_behind(layout, cached.tokens, id);
        with_scales(means, |scales| {
            plan(&CacheState::Warm(Warm { read, write, turns, behind: &behind, scales }))
        })
    }

    /// Archives the tool results of a plan.
    pub fn age(&mut self, aged: Archival) {
        let revision = self.cache.revision;
        if !aged.enter(&mut self.history).changed.is_empty() {
            self.rewritten();
            self.changed_by_itself(revision);
        }
    }
}

/// Counts the cached tokens from `message` onward, given that the first `cached` tokens of the prompt are cached.
/// Returns 0 if the prompt does not contain the message.
fn cached_behind(layout: &Layout, cached: usize, message: MessageId) -> usize {
    let mut before = 0;
    for block in layout.blocks() {
        if block.items.contains(&ItemKey::History(message)) {
            return cached.saturating_sub(before);
        }
        before += block.tokens;
    }
    0
}
