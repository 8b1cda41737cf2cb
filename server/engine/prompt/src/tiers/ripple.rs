//! Policy `ripple`: content that stays unchanged for N requests moves up through four cached tiers. Promotions only
//! enter a tier whose cache is broken anyway (`docs/tiers.md`). The policy neither predicts changes nor learns from
//! usage.

mod cycle;
mod seed;
mod state;
#[cfg(test)]
mod tests;

use strata_conversation::providers::Speaker;

use crate::layout::{
    FileListCoverage, ItemKey, Layout, LayoutBuilder, LayoutContent, Part, PromptPiece, SentMessage, Tier,
    WORKING_FILES,
};

use super::policy::{Policy, PolicyOutput};
use super::rules::LayoutRules;
use super::state::TierState;

pub(crate) use state::RippleItemStats;
pub(crate) use state::RippleState;
#[cfg(test)]
pub(crate) use state::TrackedItem;

use state::PlacementState;

pub(super) struct RipplePolicy;

/// Minimum size of a tier that is worth a breakpoint, in tokens, unless the model's shortest cacheable prefix is longer.
const MIN_TIER_TOKENS: usize = 1_024;

const CACHED_TIERS: [Tier; 4] = [Tier::L0, Tier::L1, Tier::L2, Tier::L3];

impl Policy for RipplePolicy {
    fn lay_out(&self, state: &TierState, content: &LayoutContent<'_>, rules: &LayoutRules) -> PolicyOutput {
        let mut state = match state {
            TierState::Ripple(state) => state.clone(),
            TierState::Untracked | TierState::Ledger(_) => RippleState::default(),
        };
        match state.seeded {
            PlacementState::NotYet if !content.map.is_empty() => {
                seed::place_new_map_blocks(&mut state, content, rules);
            }
            PlacementState::Again => seed::rebuild(&mut state, content, rules),
            PlacementState::NotYet | PlacementState::Done => {}
        }
        let mut broken = state.forget_missing(content);
        let pages = state.admit_pages(content);
        let (layout, file_list) = build_layout(&state, content, rules);
        cycle::update_tiers(&mut state, content, rules, &mut broken, pages);
        PolicyOutput { layout, new_state: TierState::Ripple(state), file_list, expected_cached: None }
    }
}

/// Computes the target size of a tier: the larger of [`MIN_TIER_TOKENS`] and the model's minimum, plus a tenth. The tenth
/// ensures that a tier that just reaches the target is really cached (`docs/tiers.md`).
pub(crate) fn tier_target(model_minimum: usize) -> usize {
    MIN_TIER_TOKENS.max(model_minimum).saturating_mul(11).div_ceil(10)
}

fn build_layout(
    state: &RippleState,
    content: &LayoutContent<'_>,
    rules: &LayoutRules,
) -> (Layout, FileListCoverage) {
    let mut composer = LayoutBuilder::new(content.count);
    let history = HistoryTiers::new(state, &content.history);
    let in_tier = |tier: Tier| TierContents {
        map: content.map.iter().filter(|piece| state.tier_of_piece(piece) == tier).collect(),
        files: content.files.iter().filter(|piece| state.tier_of_piece(piece) == tier).collect(),
        urls: content.urls.iter().filter(|piece| state.tier_of_piece(piece) == tier).collect(),
        history: history.in_tier(tier),
    };

    for tier in CACHED_TIERS {
        composer.set_tier(tier);
        let section = in_tier(tier);
        if tier == Tier::L0 {
            composer.add_system_prompt(&content.system);
            if !content.map.is_empty() {
                composer.add_first_map(content.workspace_speaker(), &section.map);
            }
            if !section.files.is_empty() {
                composer.add_files(content.workspace_speaker(), reference_heading(tier), &section.files);
            }
            composer.add_web_pages(&section.urls);
        } else {
            section.add_context(&mut composer, tier);
        }
        section.history.iter().for_each(|message| composer.add_message(message));
        if !section.is_empty() || (tier == Tier::L0 && composer.has_blocks()) {
            composer.set_end_breakpoint(rules.ttl, rules.carriers);
        }
    }

    composer.set_tier(Tier::Active);
    let active = in_tier(Tier::Active);
    if !active.map.is_empty() {
        composer.add_later_map(&active.map);
        composer.add_acknowledgement(Part::Map);
    }
    let file_list = composer.add_file_list(&content.tree);
    composer.add_web_pages(&active.urls);
    if !active.files.is_empty() {
        composer.add_files(Speaker::User, WORKING_FILES, &active.files);
        composer.add_acknowledgement(Part::Files);
    }
    active.history.iter().for_each(|message| composer.add_message(message));
    composer.add_volatile_parts(content);
    composer.add_request(&content.request);
    (composer.finish(), file_list)
}

fn reference_heading(tier: Tier) -> &'static str {
    match tier {
        Tier::L0 => "# Reference Files (Stable)",
        Tier::L2 => "# Reference Files (L2)",
        Tier::L3 => "# Reference Files (L3)",
        Tier::L1 | Tier::Active => "# Reference Files",
    }
}

struct TierContents<'a> {
    map: Vec<&'a PromptPiece>,
    files: Vec<&'a PromptPiece>,
    urls: Vec<&'a PromptPiece>,
    history: Vec<&'a SentMessage>,
}

impl TierContents<'_> {
    fn is_empty(&self) -> bool {
        self.map.is_empty() && self.files.is_empty() && self.urls.is_empty() && self.history.is_empty()
    }

    /// Adds the map blocks, files and web pages of a tier below L0 as user messages with acknowledgements.
    fn add_context(&self, composer: &mut LayoutBuilder<'_>, tier: Tier) {
        if !self.map.is_empty() {
            composer.add_later_map(&self.map);
        }
        if !self.files.is_empty() {
            composer.add_files(Speaker::User, reference_heading(tier), &self.files);
        }
        if !self.map.is_empty() || !self.files.is_empty() {
            composer.add_acknowledgement(if self.map.is_empty() { Part::Files } else { Part::Map });
        }
        composer.add_web_pages(&self.urls);
    }
}

/// The effective tier of each message. The conversation must stay in order, with calls next to their results.
/// Therefore, a message is never in a more stable tier than an older message, and all messages of a run (see
/// [`indivisible_runs`]) are in the same tier.
struct HistoryTiers<'a>(Vec<(Tier, &'a SentMessage)>);

impl<'a> HistoryTiers<'a> {
    fn new(state: &RippleState, history: &'a [SentMessage]) -> Self {
        let mut placed = Vec::with_capacity(history.len());
        let mut least_stable_so_far = Tier::L0;
        for run in indivisible_runs(history) {
            let least_stable = run.iter().map(|message| state.tier_of(&ItemKey::History(message.id))).max();
            least_stable_so_far = least_stable_so_far.max(least_stable.unwrap_or(Tier::Active));
            placed.extend(run.iter().map(|message| (least_stable_so_far, message)));
        }
        Self(placed)
    }

    fn in_tier(&self, tier: Tier) -> Vec<&'a SentMessage> {
        self.0.iter().filter(|(item_tier, _)| *item_tier == tier).map(|(_, message)| *message).collect()
    }
}

/// Splits a history into runs, between which tiers may change. Consecutive assistant messages form one run with
/// everything up to the last result of their calls.
fn indivisible_runs(history: &[SentMessage]) -> impl Iterator<Item = &[SentMessage]> {
    // Whether the assistant has called a tool since the last user message.
    let mut has_called_tool = false;
    history.chunk_by(move |one, next| {
        has_called_tool = one.speaker == Speaker::Assistant && (has_called_tool || one.has_tool_call());
        one.id == next.id
            || (one.speaker == Speaker::Assistant && next.speaker == Speaker::Assistant)
            || (has_called_tool && next.has_tool_result())
            || (one.has_tool_result() && next.has_tool_result())
    })
}
