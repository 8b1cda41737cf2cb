//! Where a conversation is cut: what a profile keeps word for word and what it summarises. A cut never parts a tool call
//! from its result, and calls that still wait for theirs always stay.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::history::{ContentBlock, History, Kind, Message, Pin};

use super::profile::{First, Profile};
use super::trigger::Pressure;

/// A conversation cut in two. Indices into the messages that the model sees.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Split {
    /// What is summarised, in order.
    pub old: Vec<usize>,
    /// What stays although it stands among what is summarised: the first message, what is pinned.
    pub spared: BTreeSet<usize>,
    /// From here on everything stays.
    pub end: usize,
}

/// Cuts `visible` as `profile` says; nothing when there is nothing to summarise. `weigh` says what a message weighs, in
/// tokens.
pub fn split(
    visible: &[Arc<Message>],
    profile: &Profile,
    pressure: &Pressure,
    weigh: &dyn Fn(&Message) -> usize,
) -> Option<Split> {
    let keep = &profile.keep;
    let by_weight = || {
        let limit = profile.trigger.token_limit(pressure.window);
        let budget = limit.map_or(keep.tokens, |limit| keep.tokens.min(limit / 2));
        let mut sum = 0;
        let newest = visible.iter().rev().take_while(|message| {
            sum += weigh(message);
            sum <= budget
        });
        visible.len() - newest.count()
    };
    let from = if keep.tokens > 0 { by_weight() } else { visible.len().saturating_sub(keep.messages) };
    let with_exchanges = from.min(last_exchanges(visible, keep.exchanges));
    let summarised = |at: &usize| visible.get(*at).is_some_and(|message| message.body.kind == Kind::Summary);
    let cut = split_at(visible, profile, with_exchanges).filter(|cut| !cut.old.iter().all(summarised));
    // A single exchange may outgrow every limit, as agents' do; then it is cut inside.
    let cut = cut.or_else(|| split_at(visible, profile, from));
    // What weighs little may still be many messages.
    let by_number = || visible.len().saturating_sub(keep.messages);
    cut.or_else(|| (keep.messages > 0).then(|| split_at(visible, profile, by_number())).flatten())
}

/// Cuts `visible` in front of the message at `from`, or before that where a call would be parted from its result.
pub(super) fn split_at(visible: &[Arc<Message>], profile: &Profile, from: usize) -> Option<Split> {
    let end = clean_cut(visible, from);
    let first = (profile.keep.first == First::Kept && end > 0).then_some(0);
    let pinned = visible.iter().enumerate().take(end).filter(|(_, message)| message.body.pin == Pin::Kept);
    let spared = with_partners(visible, first.into_iter().chain(pinned.map(|(at, _)| at)).collect());
    let old: Vec<usize> = (0..end).filter(|at| !spared.contains(at)).collect();
    (!old.is_empty()).then_some(Split { old, spared, end })
}

/// Where the last `exchanges` exchanges begin.
fn last_exchanges(visible: &[Arc<Message>], exchanges: usize) -> usize {
    if exchanges == 0 {
        return visible.len();
    }
    let starts: Vec<usize> = visible
        .iter()
        .enumerate()
        .filter(|(_, message)| History::begins_exchange(message))
        .map(|(at, _)| at)
        .collect();
    starts.len().checked_sub(exchanges).and_then(|at| starts.get(at)).copied().unwrap_or_default()
}

/// The last place at or before `from` where no call stands in front whose result, given or still to come, stands behind.
fn clean_cut(visible: &[Arc<Message>], from: usize) -> usize {
    let mut waiting: BTreeSet<&str> = BTreeSet::new();
    let mut clean = 0;
    for (at, message) in visible.iter().enumerate().take(from) {
        if waiting.is_empty() {
            clean = at;
        }
        for block in &message.body.content {
            match block {
                ContentBlock::ToolCall { id, .. } => waiting.insert(id),
                ContentBlock::ToolResult { call_id, .. } => waiting.remove(call_id.as_str()),
                _ => false,
            };
        }
        // What was said after a call without its result shows that none will come.
        if History::begins_exchange(message) {
            waiting.clear();
        }
    }
    if waiting.is_empty() { from.min(visible.len()) } else { clean }
}

/// `spared` with the messages that hold the other half of their tool calls.
fn with_partners(visible: &[Arc<Message>], spared: BTreeSet<usize>) -> BTreeSet<usize> {
    if spared.is_empty() {
        return spared;
    }
    let ids = |message: &Message| -> Vec<String> {
        let id = |block: &ContentBlock| match block {
            ContentBlock::ToolCall { id, .. } => Some(id.clone()),
            ContentBlock::ToolResult { call_id, .. } => Some(call_id.clone()),
            _ => None,
        };
        message.body.content.iter().filter_map(id).collect()
    };
    let mut places: HashMap<String, Vec<usize>> = HashMap::new();
    for (at, message) in visible.iter().enumerate() {
        for id in ids(message) {
            places.entry(id).or_default().push(at);
        }
    }
    let mut all = BTreeSet::new();
    let mut next: Vec<usize> = spared.into_iter().collect();
    while let Some(at) = next.pop() {
        if all.insert(at)
            && let Some(message) = visible.get(at)
        {
            next.extend(ids(message).iter().filter_map(|id| places.get(id)).flatten());
        }
    }
    all
}
