//! Chooses which tool results to archive, regardless of the cost.

use std::collections::HashSet;
use std::sync::Arc;

use crate::history::{ContentBlock, Message, Pin, Role, Visibility};

/// Returns the messages to archive, oldest first, so that at most `cutoff` results stay visible. More stay
/// visible if too few messages can be archived.
pub(super) fn messages_to_archive(messages: &[Arc<Message>], cutoff: usize) -> Vec<&Message> {
    let visible = messages.iter().filter(|message| message.body.agent == Visibility::Shown);
    let mut excess = visible.map(|message| count_results(message)).sum::<usize>().saturating_sub(cutoff);
    let mut chosen = Vec::new();
    for message in messages.get(..newest_tool_round_start(messages)).unwrap_or_default() {
        if excess == 0 {
            break;
        }
        if is_archivable(message) {
            excess = excess.saturating_sub(count_results(message));
            chosen.push(&**message);
        }
    }
    chosen
}

/// Whether a message contains only visible, unpinned tool results.
pub(super) fn is_archivable(message: &Message) -> bool {
    let body = &message.body;
    body.agent == Visibility::Shown
        && body.pin == Pin::Free
        && !body.content.is_empty()
        && body.content.iter().all(ContentBlock::is_tool_result)
}

/// Returns the index where the newest round begins: the last run of assistant messages that call tools.
/// Returns the number of messages if no tool was called.
pub(super) fn newest_tool_round_start(messages: &[Arc<Message>]) -> usize {
    let calls = |message: &Arc<Message>| {
        is_visible_assistant_message(message)
            && message.body.content.iter().any(|block| matches!(block, ContentBlock::ToolCall { .. }))
    };
    let Some(last) = messages.iter().rposition(calls) else { return messages.len() };
    let before = messages.get(..last).unwrap_or_default();
    before
        .iter()
        .rposition(|message| !is_visible_assistant_message(message) && is_visible_to_model(message))
        .map_or(0, |at| at + 1)
}

/// Whether a round has unanswered calls that may still be answered because only results follow them.
pub(super) fn waits_for_results(round: &[Arc<Message>]) -> bool {
    let mut open: HashSet<&str> = HashSet::new();
    for message in round.iter().filter(|message| is_visible_to_model(message)) {
        for block in &message.body.content {
            match block {
                ContentBlock::ToolCall { id, .. } => {
                    open.insert(id);
                }
                ContentBlock::ToolResult { call_id, .. } => {
                    open.remove(call_id.as_str());
                }
                _ if message.body.role == Role::User => return false,
                _ => {}
            }
        }
    }
    !open.is_empty()
}

fn is_visible_to_model(message: &Message) -> bool {
    message.body.agent == Visibility::Shown
}

fn is_visible_assistant_message(message: &Message) -> bool {
    is_visible_to_model(message) && message.body.role == Role::Assistant
}

fn count_results(message: &Message) -> usize {
    message.body.content.iter().filter(|block| block.is_tool_result()).count()
}
