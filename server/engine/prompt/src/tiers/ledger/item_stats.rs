//! Statistics about the items of a log, for reports.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::layout::ItemKey;

use super::hazard::{self, PROBABILITY_ONE};
use super::state::LedgerState;

/// Statistics of policy `ledger` about one item.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(rename = "LedgerItemStats")]
pub(crate) struct LedgerItemStats {
    /// Probability that the item leaves the prompt at the next turn, from 0 to 1.
    pub hazard: f64,
    /// Number of turns since the file was selected or last changed, up to the highest age that Strata distinguishes;
    /// absent for items other than files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age: Option<usize>,
    /// Whether the item is in the prefix kept from the previous prompt.
    pub kept: bool,
}

impl LedgerState {
    /// Returns statistics about every item of the last prompt. Those of an item that occurs more than once describe its
    /// first position.
    pub(crate) fn item_stats(&self) -> BTreeMap<ItemKey, LedgerItemStats> {
        let hazards = self.ages.hazards();
        // Committing a prompt has already incremented the turn.
        let turn = self.turn.saturating_sub(1);
        let mut item_stats = BTreeMap::new();
        let mut end = 0;
        for log_block in &self.log {
            end += log_block.tokens;
            let kept = end <= self.expected_read();
            for key in log_block.blocks.iter().flat_map(|block| &block.items) {
                let age = self.files.get(key).map(|clock| clock.age(turn));
                let hazard = match key {
                    ItemKey::System | ItemKey::History(_) => 0,
                    ItemKey::Symbol(_) => hazard::MAP_HAZARD,
                    ItemKey::Url(_) => hazard::PAGE_HAZARD,
                    ItemKey::Excerpt(_) => hazard::EXCERPT_HAZARD,
                    ItemKey::File(_) | ItemKey::Lines(..) => hazards.next_hazard(age.unwrap_or_default()),
                };
                let hazard = f64::from(hazard) / f64::from(PROBABILITY_ONE);
                item_stats.entry(key.clone()).or_insert(LedgerItemStats { hazard, age, kept });
            }
        }
        item_stats
    }
}
