//! Reports the layout of the next prompt, with reasons and expected cost. All policies share one format, and each adds
//! its own statistics.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use strata_base::key::FileKey;
use strata_conversation::selection::{Choice, LineRange};
use strata_tokens::cost::Charge;

use crate::assembly::{
    AssembleError, PreparedPrompt, PromptServices, TierReport, Titles, Workspace, assemble_allowing_empty,
};
use crate::layout::{ItemKey, LayoutBlock, Tier};
use crate::session::{LastTurn, Session};

use super::{BreakReason, PolicyChoice, TierState, ledger, ripple};

/// The reply to `tiers.report`: the layout of the next prompt without its message.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TiersReport<Item = ItemReport> {
    /// Model that the prompt was laid out for.
    pub model: String,
    /// Layout policy, and what decided the choice.
    #[serde(flatten)]
    pub chosen: PolicyChoice,
    /// Number of prompts recorded so far.
    pub turns: u64,
    /// Summary of the last recorded prompt, which may come from another process; absent if none was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_turn: Option<LastTurn>,
    /// Items and tokens of each nonempty tier.
    pub tiers: Vec<TierReport>,
    /// Items in prompt order, followed by items that are not shown but keep their positions.
    pub items: Vec<Item>,
    /// Tokens of the whole prompt.
    pub tokens: usize,
    /// Expected charge, given what the provider's cache is believed to contain.
    pub predicted: Charge,
    /// Percentage of the prompt's tokens that is expected to be read from the cache (`predicted.read`), rounded to one
    /// decimal.
    pub expected_percent: f64,
    /// Percentage of the input billed so far that was read from the cache; absent before the first bill.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_percent: Option<f64>,
}

/// An item of a prompt.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ItemReport {
    /// Id of the item.
    pub key: ItemKey,
    /// Title for display: a file's path, a message's speaker and first words, or a web page's title.
    pub title: String,
    /// File that the item belongs to, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<FileKey>,
    /// Selected lines that the item shows; absent for a whole file, an excerpt, or an item without a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<Vec<LineRange>>,
    /// Selection state of the file that the item belongs to; absent if the item belongs to no file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<Choice>,
    /// Tier that the item is in.
    pub tier: Tier,
    /// Tokens of the item, including updates.
    pub tokens: usize,
    /// Zero-based index of the first content block that shows the item. Absent if the item is not shown but keeps its
    /// position, such as an outline of a file that is shown in full.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<usize>,
    /// Statistics of the layout policy about the item.
    #[serde(flatten)]
    pub(crate) stats: Option<ItemStats>,
    /// Last cache break that began with the item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) last_break: Option<LastBreak>,
}

/// Statistics of a layout policy about an item.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum ItemStats {
    /// Statistics of policy `ledger`.
    Ledger(ledger::LedgerItemStats),
    /// Statistics of policy `ripple`.
    Ripple(ripple::RippleItemStats),
}

/// A cache break that began with an item.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub(crate) struct LastBreak {
    /// One-based number of the prompt that caused the break.
    pub turn: u64,
    /// Reason for the break.
    pub reason: BreakReason,
}

impl<Item> TiersReport<Item> {
    /// Converts each item of the report with `to`.
    pub fn map_items<Other>(self, to: impl FnMut(Item) -> Other) -> TiersReport<Other> {
        TiersReport {
            model: self.model,
            chosen: self.chosen,
            turns: self.turns,
            last_turn: self.last_turn,
            tiers: self.tiers,
            items: self.items.into_iter().map(to).collect(),
            tokens: self.tokens,
            predicted: self.predicted,
            expected_percent: self.expected_percent,
            cached_percent: self.cached_percent,
        }
    }
}

/// Lays out the next request at `now_ms` (milliseconds since 1970) and reports the layout.
///
/// # Errors
/// Returns the errors of [`assemble_allowing_empty`].
pub fn report(
    workspace: &Workspace<'_>,
    session: &Session,
    now_ms: u64,
    services: PromptServices<'_>,
) -> Result<TiersReport, AssembleError> {
    let prepared = assemble_allowing_empty(workspace, session, &session.next_request(now_ms), services)?;
    let tokenizer = services.models.resolve(&prepared.reply.model).model.tokenizer;
    let outline = |key: &ItemKey| match key {
        ItemKey::Symbol(path) => {
            let member = prepared.members.iter().find(|member| member.path == *path);
            let text = member.and_then(|member| member.current_block_text(workspace.symbols));
            text.map_or(0, |text| services.counter.count(tokenizer, &text))
        }
        _ => 0,
    };
    let items = items(&prepared, session, &outline);
    let PreparedPrompt { reply, chosen, .. } = prepared;
    let read = reply.predicted.read as f64 * 1_000.0 / reply.predicted.total().max(1) as f64;
    Ok(TiersReport {
        model: reply.model,
        chosen,
        turns: session.cache.breaks.turn,
        last_turn: session.last_turn.as_deref().cloned(),
        tiers: reply.tiers,
        items,
        tokens: reply.tokens.total,
        predicted: reply.predicted,
        expected_percent: read.round() / 10.0,
        cached_percent: session.bill.usage().cached_percent(),
    })
}

/// First position and tier of an item, and its tokens in all blocks.
struct ItemPlacement {
    position: usize,
    tier: Tier,
    tokens: usize,
}

/// Returns the items of a prompt, then the items that its policy remembers without showing them. `outline` counts the
/// tokens of a single map block, because several map blocks share a content block.
fn items(
    prepared: &PreparedPrompt,
    session: &Session,
    outline: &dyn Fn(&ItemKey) -> usize,
) -> Vec<ItemReport> {
    let mut placements: BTreeMap<&ItemKey, ItemPlacement> = BTreeMap::new();
    for (position, block) in prepared.layout.blocks().enumerate() {
        for key in &block.items {
            let placement =
                placements.entry(key).or_insert(ItemPlacement { position, tier: block.tier, tokens: 0 });
            placement.tokens += item_tokens(key, block, outline);
        }
    }
    let titles = Titles::new(session);
    let stats = PolicyItemStats::new(&session.cache.tiers, &prepared.tiers);
    let item = |key: &ItemKey, tier, tokens, position| ItemReport {
        key: key.clone(),
        title: titles.item_title(key),
        path: key.path().cloned(),
        lines: match key {
            ItemKey::Lines(_, lines) => Some(vec![*lines]),
            _ => None,
        },
        state: key.path().map(|path| session.selection.choice(path)),
        tier,
        tokens,
        position,
        stats: stats.item_stats(key, tier),
        last_break: session
            .cache
            .breaks
            .last_item_break(key)
            .map(|(turn, reason)| LastBreak { turn, reason }),
    };
    let mut items: Vec<ItemReport> = placements
        .iter()
        .map(|(key, placement)| item(key, placement.tier, placement.tokens, Some(placement.position)))
        .collect();
    items.sort_by_key(|item| item.position);
    if let (TierState::Ripple(before), TierState::Ripple(after)) = (&session.cache.tiers, &prepared.tiers) {
        let hidden = before
            .items()
            .iter()
            .filter(|(key, _)| !placements.contains_key(*key) && after.items().contains_key(*key));
        items.extend(hidden.map(|(key, tracked)| item(key, tracked.tier, tracked.tokens, None)));
    }
    items
}

/// Returns the tokens of an item in a block that the item may share with others.
fn item_tokens(key: &ItemKey, block: &LayoutBlock, outline: &dyn Fn(&ItemKey) -> usize) -> usize {
    if block.items.len() > 1 { outline(key).min(block.tokens) } else { block.tokens }
}

/// Statistics of the policy about items. Those of `ripple` come from the state before the prompt, and those of `ledger`
/// from the state after it.
enum PolicyItemStats<'a> {
    Ledger(BTreeMap<ItemKey, ledger::LedgerItemStats>),
    Ripple(&'a TierState),
    None,
}

impl<'a> PolicyItemStats<'a> {
    fn new(before: &'a TierState, after: &TierState) -> Self {
        match after {
            TierState::Ledger(state) => Self::Ledger(state.item_stats()),
            TierState::Ripple(_) => Self::Ripple(before),
            TierState::Untracked => Self::None,
        }
    }

    fn item_stats(&self, key: &ItemKey, tier: Tier) -> Option<ItemStats> {
        match self {
            Self::Ledger(stats) => stats.get(key).copied().map(ItemStats::Ledger),
            Self::Ripple(_) if *key == ItemKey::System => None,
            Self::Ripple(TierState::Ripple(state)) => Some(ItemStats::Ripple(state.item_stats(key, tier))),
            Self::Ripple(_) => Some(ItemStats::Ripple(ripple::RippleState::default().item_stats(key, tier))),
            Self::None => None,
        }
    }
}
