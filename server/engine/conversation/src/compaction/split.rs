//! Splits a conversation into messages to summarize and messages to keep. Never separates a tool call from
//! its result, and always keeps calls without a result.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::history::{ContentBlock, History, Message, OpenCalls, Pin};

use super::profile::{FirstMessageRetention, Profile};
use super::trigger::ContextPressure;

/// The split of a conversation, as indices into the messages that the model sees.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ConversationSplit {
    /// Indices of the messages to summarize, in order.
    pub old: Vec<usize>,
    /// Indices of the messages before `end` that are kept: the first message, if the profile keeps it, and
    /// pinned ones.
    pub spared: BTreeSet<usize>,
    /// Index of the first message of the tail that is kept whole.
    pub end: usize,
}

/// Multiple of `KeepRules::tokens` up to which the newest exchanges are kept whole.
const MAX_WHOLE_EXCHANGES_FACTOR: usize = 6;

/// Splits `visible` according to `profile`; `None` if there is nothing to summarize. `count_tokens` returns the
/// tokens of a message.
pub(crate) fn split(
    visible: &[Arc<Message>],
    profile: &Profile,
    pressure: &ContextPressure,
    count_tokens: &dyn Fn(&Message) -> usize,
) -> Option<ConversationSplit> {
    let keep = &profile.keep;
    let limit = profile.trigger.token_limit(pressure.window, pressure.limit);
    let half = pressure.limit.map(|limit| limit / 2);
    let by_tokens = |budget| newest_messages_start(visible, budget, count_tokens);
    let by_number = || visible.len().saturating_sub(keep.messages);
    let from = if keep.tokens > 0 {
        by_tokens(limit.map_or(keep.tokens, |limit| keep.tokens.min(limit / 2)))
    } else {
        half.map_or(0, by_tokens).max(by_number())
    };
    // The window may be smaller than the trigger limit, and the request also needs space for the summary and
    // the next question.
    let newest = (keep.tokens > 0).then(|| keep.tokens.saturating_mul(MAX_WHOLE_EXCHANGES_FACTOR));
    let max_tokens = [limit, pressure.window, half, newest].into_iter().flatten().min();
    let from = from.min(last_exchanges_start(visible, keep.exchanges, max_tokens, count_tokens));
    let cut = split_before_index(visible, profile, from);
    // Many short messages can fit in the token budget, so also try the number of messages.
    cut.or_else(|| (keep.messages > 0).then(|| split_before_index(visible, profile, by_number())).flatten())
}

impl Profile {
    /// Returns the messages that a compaction would summarize. `count_tokens` returns the tokens of a message.
    pub fn old_messages(
        &self,
        history: &History,
        pressure: &ContextPressure,
        count_tokens: &dyn Fn(&Message) -> usize,
    ) -> Vec<Arc<Message>> {
        let visible: Vec<_> = history.sent_messages().cloned().collect();
        let old = split(&visible, self, pressure, count_tokens).map(|split| split.old).unwrap_or_default();
        old.iter().filter_map(|at| visible.get(*at).cloned()).collect()
    }
}

/// Splits `visible` before index `from`, or earlier to keep calls with their results. `None` if there is
/// nothing to summarize.
pub(super) fn split_before_index(
    visible: &[Arc<Message>],
    profile: &Profile,
    from: usize,
) -> Option<ConversationSplit> {
    let end = cut_without_splitting_calls(visible, from);
    let first = (profile.keep.first == FirstMessageRetention::Kept && end > 0).then_some(0);
    let pinned = visible.iter().enumerate().take(end).filter(|(_, message)| message.body.pin == Pin::Kept);
    let spared = with_call_partners(visible, first.into_iter().chain(pinned.map(|(at, _)| at)).collect());
    let old: Vec<usize> = (0..end).filter(|at| !spared.contains(at)).collect();
    (!old.is_empty()).then_some(ConversationSplit { old, spared, end })
}

/// Returns the index of the first of the newest messages that together fit in `budget` tokens.
fn newest_messages_start(
    visible: &[Arc<Message>],
    budget: usize,
    count_tokens: &dyn Fn(&Message) -> usize,
) -> usize {
    let mut sum = 0;
    let newest = visible.iter().rev().take_while(|message| {
        sum += count_tokens(message);
        sum <= budget
    });
    visible.len() - newest.count()
}

/// Returns the index where the last `exchanges` exchanges start, or where fewer start if they exceed `limit`
/// tokens, because larger ones would trigger the next compaction immediately. Returns the length of `visible`
/// if not even one exchange fits.
pub(super) fn last_exchanges_start(
    visible: &[Arc<Message>],
    exchanges: usize,
    limit: Option<usize>,
    count_tokens: &dyn Fn(&Message) -> usize,
) -> usize {
    let (mut sum, mut exchange_count, mut start) = (0_usize, 0, visible.len());
    for (at, message) in visible.iter().enumerate().rev() {
        if exchange_count == exchanges {
            return start;
        }
        sum = sum.saturating_add(count_tokens(message));
        if limit.is_some_and(|limit| sum > limit) {
            return start;
        }
        if History::begins_exchange(message) {
            (exchange_count, start) = (exchange_count + 1, at);
        }
    }
    0
}

/// Returns the last index at or before `from` where a cut separates no call from its result. Calls whose
/// results are pending stay after the cut.
fn cut_without_splitting_calls(visible: &[Arc<Message>], from: usize) -> usize {
    let from = from.min(visible.len());
    let mut pairs_by_result: Vec<CallPair> = call_pairs(visible);
    pairs_by_result.sort_unstable_by_key(|pair| std::cmp::Reverse(pair.result));
    let mut clean = from;
    for pair in pairs_by_result {
        if pair.call < clean && clean <= pair.result {
            clean = pair.call;
        }
    }
    clean
}

/// Indices of the messages that contain a call and its result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct CallPair {
    call: usize,
    /// Index of the message with the result, or the number of messages if the result is still pending.
    result: usize,
}

/// Pairs calls with their results. Omits unanswered calls if the assistant has continued without their results.
fn call_pairs(visible: &[Arc<Message>]) -> Vec<CallPair> {
    let mut pairs = Vec::new();
    let mut open = OpenCalls::default();
    for (at, message) in visible.iter().enumerate() {
        open.begin_message(message);
        for block in &message.body.content {
            match block {
                ContentBlock::ToolCall { id, .. } => open.add_call(id.as_str(), at),
                ContentBlock::ToolResult { call_id, .. } => {
                    pairs.extend(open.close_call(call_id).map(|call| CallPair { call, result: at }));
                }
                _ => {}
            }
        }
    }
    let waiting = open.into_unanswered().waiting.into_iter();
    pairs.extend(waiting.map(|call| CallPair { call, result: visible.len() }));
    pairs.sort_unstable_by_key(|pair| (pair.call, pair.result));
    pairs
}

/// Adds to `spared` the messages that answer its tool calls or contain the calls that it answers.
fn with_call_partners(visible: &[Arc<Message>], spared: BTreeSet<usize>) -> BTreeSet<usize> {
    if spared.is_empty() {
        return spared;
    }
    let mut partners: HashMap<usize, Vec<usize>> = HashMap::new();
    for CallPair { call, result } in call_pairs(visible) {
        partners.entry(call).or_default().push(result);
        partners.entry(result).or_default().push(call);
    }
    let mut all = BTreeSet::new();
    let mut next: Vec<usize> = spared.into_iter().collect();
    while let Some(at) = next.pop() {
        if at < visible.len() && all.insert(at) {
            next.extend(partners.get(&at).into_iter().flatten());
        }
    }
    all
}
