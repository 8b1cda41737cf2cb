//! Policy `ledger`: the prompt as an append-only log (`docs/tiers.md`). Each turn keeps the longest prefix that is
//! valid and still cached, byte for byte, and writes all other content again, with short-lived and small items last.
//! Diffs update files in the kept prefix. The policy learns from the user's behavior and the usage that providers
//! report.

mod commit;
mod draft;
pub(super) mod edits;
mod fixups;
mod hazard;
mod item_stats;
mod listing;
mod log;
mod log_contents;
mod marks;
mod state;
#[cfg(test)]
mod tests;
mod wording;

use crate::layout::{Layout, LayoutContent, Tier};

use super::policy::{Policy, PolicyOutput};
use super::rules::LayoutRules;
use super::state::TierState;

use draft::LogDraft;
use strata_tokens::cost::BreakpointLifetime;
use strata_tokens::models::Ttl;

pub(crate) use item_stats::LedgerItemStats;
pub(crate) use state::LedgerState;

pub(super) struct LedgerPolicy;

impl Policy for LedgerPolicy {
    fn lay_out(&self, state: &TierState, content: &LayoutContent<'_>, rules: &LayoutRules) -> PolicyOutput {
        let mut state = match state {
            TierState::Ledger(state) => LedgerState::clone(state),
            _ => LedgerState::default(),
        };
        state.update_for_content(content, rules);
        let draft = LogDraft::new(&state, content, rules);
        let marks = marks::choose_breakpoints(&draft, &state, rules);
        let layout = build_layout(&draft, &marks, content, rules);
        let (file_list, expected_cached) =
            (draft.file_list_coverage(), Some(draft.expected_cached_tokens(rules)));
        state.commit(draft, &marks, &layout, rules);
        PolicyOutput { layout, new_state: TierState::Ledger(state.into()), file_list, expected_cached }
    }
}

/// Lays out the log, then the volatile content. Blocks up to the first breakpoint are in L0, those up to the next in
/// L1, and so on. Blocks after the last breakpoint are active.
fn build_layout(
    draft: &LogDraft,
    marks: &marks::BreakpointPositions,
    content: &LayoutContent<'_>,
    rules: &LayoutRules,
) -> Layout {
    const TIERS: [Tier; 4] = [Tier::L0, Tier::L1, Tier::L2, Tier::L3];
    let mut layout = Layout::default();
    let mut passed = 0;
    let last = marks.last();
    for (at, log_block) in draft.log.iter().enumerate() {
        let tier = match last {
            Some(last) if at <= last => TIERS[passed.min(TIERS.len() - 1)],
            _ => Tier::Active,
        };
        for block in &log_block.blocks {
            layout.push(log_block.speaker, crate::layout::LayoutBlock { tier, ..block.clone() });
        }
        if let Some(breakpoint) = marks.get(at) {
            let ttl = match breakpoint {
                BreakpointLifetime::Short => rules.ttl,
                BreakpointLifetime::Extended => Ttl::OneHour,
            };
            layout.set_end_breakpoint(ttl, rules.carriers);
            passed += 1;
        }
    }
    for block in draft.blocks_after_log(content) {
        layout.push_volatile(block);
    }
    layout
}
