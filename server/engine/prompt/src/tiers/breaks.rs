//! Records what each prompt broke in the provider's cache, and why. Under every policy, each recorded prompt is
//! compared with the previous one.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_conversation::selection::{Choice, Selection};
use strata_tokens::cost::{CacheAccount, CacheShortfall, SentRequest};

use crate::layout::{ItemKey, Layout, LayoutBlock, Part};

/// Why the prefix that a prompt shares with the previous one ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "BreakReason")]
pub(crate) enum BreakReason {
    /// The prompt is the session's first one.
    First,
    /// Nothing broke: the previous prompt is a prefix of this prompt.
    None,
    /// The model, the dialect or the tools changed.
    Model,
    /// The whole cache expired during a pause.
    Expired,
    /// The system prompt changed.
    System,
    /// A file was deselected.
    Deselected,
    /// A file was excluded.
    Excluded,
    /// A file was selected, and its full text replaced its outline.
    Selected,
    /// A text changed, and the new version replaced the old one.
    Changed,
    /// Content disappeared or no longer fit.
    Vanished,
    /// The conversation was edited, replaced or shortened.
    History,
    /// The same content moved to another position.
    Moved,
}

/// A cache break: the end of the prefix that two consecutive prompts share.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Break {
    /// One-based number of the prompt that caused the break.
    pub turn: u64,
    /// Time of the prompt that caused the break, in milliseconds since 1970.
    pub at_ms: u64,
    /// Reason for the break.
    pub(crate) reason: BreakReason,
    /// Items in the first block that did not stay in place.
    pub items: Vec<ItemKey>,
    /// Tokens of the unchanged prefix.
    pub kept: usize,
    /// Tokens after the prefix, which the provider had to process again.
    pub rewritten: usize,
    /// Unchanged items after the break that had to be written again.
    pub moved: Vec<ItemKey>,
    /// Part of `rewritten`, in tokens, that would have been read from the cache without the break.
    pub lost: usize,
    /// Extra cost of writing the `lost` tokens instead of reading them, in tokens of uncached input.
    pub cost: f64,
    /// Tokens that the provider was expected to read from its cache for this prompt, and those that it read; absent if
    /// there was no clear shortfall or no usage was reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) missed: Option<CacheShortfall>,
}

/// Cache breaks caused by a session's prompts.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Breaks {
    /// Number of recorded prompts.
    pub turn: u64,
    /// Break caused by the last recorded prompt.
    pub last: Option<Break>,
    /// Turn and reason of the last break that began with each item. Entries of files and outlines are kept forever, and
    /// those of other items only as long as prompts show them.
    by_item: BTreeMap<ItemKey, (u64, BreakReason)>,
}

impl Breaks {
    /// Returns the turn and the reason of the last break that began with an item.
    pub(crate) fn last_item_break(&self, key: &ItemKey) -> Option<(u64, BreakReason)> {
        self.by_item.get(key).copied()
    }

    /// Records the cache shortfall of the last prompt, or `None` if the provider read as much as expected.
    pub(crate) fn record_shortfall(&mut self, missed: Option<CacheShortfall>) {
        if let Some(last) = &mut self.last {
            last.missed = missed;
        }
    }

    /// Compares a prompt that is being recorded with the previous one. `before` and `account` describe the state after
    /// the previous prompt.
    pub(crate) fn record(
        &mut self,
        previous: Option<&Layout>,
        current: &Layout,
        account: Option<&CacheAccount>,
        sent: &SentRequest,
        selection: &Selection,
    ) {
        self.turn += 1;
        let cache_break = find_break(previous, current, account, sent, selection);
        let cache_break =
            Break { turn: self.turn, at_ms: sent.at_ms, ..cache_break.with_cost(account, sent) };
        if !matches!(cache_break.reason, BreakReason::None | BreakReason::First) {
            let entry = (self.turn, cache_break.reason);
            self.by_item.extend(cache_break.items.iter().map(|key| (key.clone(), entry)));
            // Files can return to the prompt. Deleted messages cannot, and a conversation keeps adding new ones.
            let shown: BTreeSet<&ItemKey> = current.blocks().flat_map(|block| &block.items).collect();
            let can_return = |key: &ItemKey| matches!(key, ItemKey::File(_) | ItemKey::Symbol(_));
            self.by_item.retain(|key, _| can_return(key) || shown.contains(key));
        }
        self.last = Some(cache_break);
    }
}

impl Break {
    /// Sets the lost tokens and their cost.
    fn with_cost(self, account: Option<&CacheAccount>, sent: &SentRequest) -> Self {
        let cached = match self.reason {
            BreakReason::None | BreakReason::First => 0,
            _ => account
                .and_then(|account| account.cached_prefix(sent.at_ms))
                .map_or(0, |cached| cached.tokens),
        };
        let lost = cached.saturating_sub(self.kept).min(self.rewritten);
        let prices = &sent.prices;
        let token_cost = (prices.write - prices.read) * prices.input_price(self.kept + self.rewritten);
        Self { lost, cost: lost as f64 * token_cost, ..self }
    }
}

fn find_break(
    previous: Option<&Layout>,
    current: &Layout,
    account: Option<&CacheAccount>,
    sent: &SentRequest,
    selection: &Selection,
) -> Break {
    let total = current.tokens();
    let full_break = |reason| Break {
        turn: 0,
        at_ms: 0,
        reason,
        items: Vec::new(),
        kept: 0,
        rewritten: total,
        moved: Vec::new(),
        lost: 0,
        cost: 0.0,
        missed: None,
    };
    let (Some(previous), Some(account)) = (previous, account) else { return full_break(BreakReason::First) };
    if account.cache_identity() != sent.identity {
        return full_break(BreakReason::Model);
    }
    if account.has_expired(sent.at_ms) {
        return full_break(BreakReason::Expired);
    }
    let mut old: Vec<&LayoutBlock> = previous.blocks().collect();
    while old.last().is_some_and(|block| is_volatile(block)) {
        old.pop();
    }
    let new: Vec<&LayoutBlock> = current.blocks().collect();
    let same = old.iter().zip(&new).take_while(|(old, new)| old.content == new.content).count();
    let kept = new.iter().take(same).map(|block| block.tokens).sum();
    // Headings and acknowledgements come and go with the content they belong to.
    let shows = |block: &&&LayoutBlock| {
        !block.items.is_empty() || matches!(block.part, Part::Prompt | Part::FileList | Part::Updates)
    };
    let after_prefix = old.get(same..).unwrap_or_default();
    let first = after_prefix.iter().find(shows).or(after_prefix.first());
    let later: BTreeSet<&ItemKey> = new.iter().skip(same).flat_map(|block| &block.items).collect();
    let moved = old.iter().skip(same).flat_map(|block| &block.items);
    let moved: BTreeSet<ItemKey> = moved.filter(|key| later.contains(*key)).cloned().collect();
    let (reason, items) = match first {
        None => (BreakReason::None, Vec::new()),
        Some(block) => break_cause(block, &new, &later, selection),
    };
    let moved = moved.into_iter().filter(|key| !items.contains(key)).collect();
    Break { reason, items, kept, rewritten: total - kept, moved, ..full_break(reason) }
}

/// Returns why a block of the last prompt is no longer in its position, and which of its items caused the change.
fn break_cause(
    block: &LayoutBlock,
    new: &[&LayoutBlock],
    later: &BTreeSet<&ItemKey>,
    selection: &Selection,
) -> (BreakReason, Vec<ItemKey>) {
    match block.part {
        Part::System => return (BreakReason::System, block.items.clone()),
        Part::History | Part::Prompt => return (BreakReason::History, block.items.clone()),
        _ => {}
    }
    if new.iter().any(|other| other.content == block.content) {
        return (BreakReason::Moved, block.items.clone());
    }
    let items_where = |is_blamed: &dyn Fn(&ItemKey) -> bool| -> Vec<ItemKey> {
        block.items.iter().filter(|key| is_blamed(key)).cloned().collect()
    };
    let choice = |key: &ItemKey| key.path().map(|path| selection.choice(path));
    let excluded = items_where(&|key| choice(key) == Some(Choice::Excluded));
    if !excluded.is_empty() {
        return (BreakReason::Excluded, excluded);
    }
    let is_full_text = |key: &ItemKey| matches!(key, ItemKey::File(_) | ItemKey::Lines(..));
    let deselected = items_where(&|key| is_full_text(key) && choice(key) == Some(Choice::Deselected));
    if !deselected.is_empty() {
        return (BreakReason::Deselected, deselected);
    }
    let is_outline = |key: &ItemKey| matches!(key, ItemKey::Symbol(_));
    let selected =
        items_where(&|key| is_outline(key) && !later.contains(key) && choice(key) == Some(Choice::Selected));
    if !selected.is_empty() {
        return (BreakReason::Selected, selected);
    }
    let missing = items_where(&|key| !later.contains(key));
    if missing.is_empty() {
        (BreakReason::Changed, block.items.clone())
    } else {
        (BreakReason::Vanished, missing)
    }
}

/// Whether a block follows the request and is not expected to stay in place.
fn is_volatile(block: &LayoutBlock) -> bool {
    matches!(block.part, Part::SessionState | Part::ContextFrame)
        || (block.part == Part::Updates && block.items.is_empty())
}

#[cfg(test)]
mod tests {
    use strata_base::hash::ContentHash;
    use strata_conversation::history::{ContentBlock, MessageId};
    use strata_conversation::providers::Speaker;
    use strata_tokens::cost::Prices;

    use super::*;
    use crate::layout::{Tier, spans};

    fn layout(keys: &[ItemKey]) -> Layout {
        let mut layout = Layout::default();
        for key in keys {
            let part = if key.path().is_some() { Part::Files } else { Part::History };
            let content = ContentBlock::text(key.to_wire_string());
            let items = vec![key.clone()];
            layout.push(
                Speaker::User,
                LayoutBlock { content, part, items, tier: Tier::Active, tokens: 1, mark: None },
            );
        }
        layout
    }

    #[test]
    fn breaks_of_deleted_messages_are_forgotten() {
        let (file, message) = (ItemKey::File("a.rs".into()), |n| ItemKey::History(MessageId(n)));
        let prompts: Vec<Layout> = [layout(std::slice::from_ref(&file))]
            .into_iter()
            .chain((0..20).map(|n| layout(&[message(n), message(100)])))
            .chain([layout(&[message(100)])])
            .collect();
        let (mut breaks, mut account, mut before) = (Breaks::default(), None, None);
        for prompt in &prompts {
            let sent = SentRequest {
                spans: spans(prompt, 0),
                at_ms: 0,
                identity: ContentHash::NONE,
                prices: Prices::uncached(),
                lifetimes: Vec::new(),
            };
            breaks.record(before, prompt, account.as_ref(), &sent, &Selection::default());
            account = Some(CacheAccount::after_request(account.as_ref(), &sent, None));
            before = Some(prompt);
        }
        assert_eq!(breaks.last_item_break(&file), Some((2, BreakReason::Deselected)));
        assert_eq!(breaks.by_item.len(), 1, "{:?}", breaks.by_item);
    }
}
