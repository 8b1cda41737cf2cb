//! The layout of the next prompt, with reasons and expected cost: one format for all policies, each with its own statistics.
//! Changes nothing.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::conversation::selection::{Choice, LineRange};
use crate::key::FileKey;
use crate::prompt::assembly::{
    AssembleError, PreparedPrompt, PromptServices, TierReport, Titles, Workspace, weigh,
};
use crate::prompt::layout::{ItemKey, LayoutBlock, Tier};
use crate::prompt::session::{LastTurn, Session};
use crate::tokens::cost::Charge;

use super::{PolicyChoice, Reason, TierState, ledger, ripple};

/// The reply of `tiers.report`: the next prompt before its request.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TiersReport<Item = ItemReport> {
    /// The model.
    pub model: String,
    /// The policy, and who decided on it.
    #[serde(flatten)]
    pub chosen: PolicyChoice,
    /// Prompts that were recorded so far.
    pub turns: u64,
    /// The last recorded prompt, whichever process recorded it; absent before any was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_turn: Option<LastTurn>,
    /// The content of each nonempty tier.
    pub tiers: Vec<TierReport>,
    /// Every item in prompt order, then those that only keep a position.
    pub items: Vec<Item>,
    /// Tokens of everything.
    pub tokens: usize,
    /// The expected charge, as far as the provider's cache is known. `read` is the expected cached read.
    pub predicted: Charge,
    /// `predicted.read` as a share of all its tokens, in percent, rounded to one decimal.
    pub expected_percent: f64,
    /// The share of the input billed so far that was read from the cache, in percent; absent before anything was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_percent: Option<f64>,
}

/// One item.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ItemReport {
    /// Its name.
    pub key: ItemKey,
    /// Display title: a file's path, a message's speaker and beginning, a web page's title.
    pub title: String,
    /// The file it belongs to, if it belongs to one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<FileKey>,
    /// The lines of that file that it shows, when it is not the whole file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<Vec<LineRange>>,
    /// The selection state of that file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<Choice>,
    /// Its tier.
    pub tier: Tier,
    /// Its tokens, including updates.
    pub tokens: usize,
    /// The content block of the prompt that shows it first, counted from 0; absent when it is not shown but keeps its
    /// place, as an outline after the full text of its file does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<usize>,
    /// The policy's statistics.
    #[serde(flatten)]
    pub(crate) figures: Option<ItemStats>,
    /// The last break that began with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) last_break: Option<LastBreak>,
}

/// A policy's statistics about an item.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum ItemStats {
    /// Policy `ledger`.
    Ledger(ledger::ItemStats),
    /// Policy `ripple`.
    Ripple(ripple::ItemStats),
}

/// When something was broken, and why.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub(crate) struct LastBreak {
    /// The prompt that broke it, counted from 1.
    pub turn: u64,
    /// Why.
    pub reason: Reason,
}

impl<Item> TiersReport<Item> {
    /// The same with other items.
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

/// Lays out the next request at the time `now_ms` (milliseconds since 1970), and reports the layout.
///
/// # Errors
/// Like [`weigh`].
pub fn report(
    workspace: &Workspace<'_>,
    session: &Session,
    now_ms: u64,
    means: PromptServices<'_>,
) -> Result<TiersReport, AssembleError> {
    let prepared = weigh(workspace, session, &session.next_ask(now_ms), means)?;
    let tokenizer = means.models.resolve(&prepared.reply.model).model.tokenizer;
    let outline = |key: &ItemKey| match key {
        ItemKey::Symbol(path) => {
            let member = prepared.members.iter().find(|member| member.path == *path);
            let text = member.and_then(|member| member.text_in(workspace.symbols));
            text.map_or(0, |text| means.counter.count(tokenizer, &text))
        }
        _ => 0,
    };
    let items = items(&prepared, session, &outline);
    let PreparedPrompt { reply, chosen, .. } = prepared;
    let read = reply.predicted.read as f64 * 1_000.0 / reply.predicted.total().max(1) as f64;
    Ok(TiersReport {
        model: reply.model,
        chosen,
        turns: session.breaks.turn,
        last_turn: session.last_turn.as_deref().cloned(),
        tiers: reply.tiers,
        items,
        tokens: reply.tokens.total,
        predicted: reply.predicted,
        expected_percent: read.round() / 10.0,
        cached_percent: session.totals.cached_percent(),
    })
}

/// The position and tokens of an item.
struct ItemPlacement {
    position: usize,
    tier: Tier,
    tokens: usize,
}

/// Every item of a prompt, then those that its policy remembers without showing. `outline` counts a map block on its own, since
/// several share a content block.
fn items(
    prepared: &PreparedPrompt,
    session: &Session,
    outline: &dyn Fn(&ItemKey) -> usize,
) -> Vec<ItemReport> {
    let mut places: BTreeMap<&ItemKey, ItemPlacement> = BTreeMap::new();
    for (position, block) in prepared.layout.blocks().enumerate() {
        for key in &block.items {
            let place = places.entry(key).or_insert(ItemPlacement { position, tier: block.tier, tokens: 0 });
            place.tokens += share(key, block, outline);
        }
    }
    let titles = Titles::of(session);
    let figures = PolicyItemStats::of(&session.tiers, &prepared.tiers);
    let item = |key: &ItemKey, tier, tokens, position| ItemReport {
        key: key.clone(),
        title: titles.item(key),
        path: key.path().cloned(),
        lines: match key {
            ItemKey::Lines(_, lines) => Some(vec![*lines]),
            _ => None,
        },
        state: key.path().map(|path| session.selection.choice(path)),
        tier,
        tokens,
        position,
        figures: figures.of_item(key, tier),
        last_break: session.breaks.of(key).map(|(turn, reason)| LastBreak { turn, reason }),
    };
    let mut items: Vec<ItemReport> =
        places.iter().map(|(key, place)| item(key, place.tier, place.tokens, Some(place.position))).collect();
    items.sort_by_key(|item| item.position);
    if let (TierState::Ripple(before), TierState::Ripple(after)) = (&session.tiers, &prepared.tiers) {
        let waiting = before
            .items()
            .iter()
            .filter(|(key, _)| !places.contains_key(*key) && after.items().contains_key(*key));
        items.extend(waiting.map(|(key, tracked)| item(key, tracked.tier, tracked.tokens, None)));
    }
    items
}

/// Tokens of an item in a block it may share.
fn share(key: &ItemKey, block: &LayoutBlock, outline: &dyn Fn(&ItemKey) -> usize) -> usize {
    if block.items.len() > 1 { outline(key).min(block.tokens) } else { block.tokens }
}

/// Where figures are found: what `ripple` counts was remembered before the prompt, what `ledger` reckons comes with it.
enum PolicyItemStats<'a> {
    Ledger(BTreeMap<ItemKey, ledger::ItemStats>),
    Ripple(&'a TierState),
    None,
}

impl<'a> PolicyItemStats<'a> {
    fn of(before: &'a TierState, after: &TierState) -> Self {
        match after {
            TierState::Ledger(state) => Self::Ledger(state.item_stats()),
            TierState::Ripple(_) => Self::Ripple(before),
            TierState::Untracked => Self::None,
        }
    }

    fn of_item(&self, key: &ItemKey, tier: Tier) -> Option<ItemStats> {
        match self {
            Self::Ledger(figures) => figures.get(key).copied().map(ItemStats::Ledger),
            Self::Ripple(_) if *key == ItemKey::System => None,
            Self::Ripple(TierState::Ripple(state)) => Some(ItemStats::Ripple(state.figures(key, tier))),
            Self::Ripple(_) => Some(ItemStats::Ripple(ripple::State::default().figures(key, tier))),
            Self::None => None,
        }
    }
}
