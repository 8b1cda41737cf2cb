//! Builds the conversation after a compaction from the summary, fixed sentences, kept messages and digests.

use std::collections::HashMap;
use std::sync::Arc;

use strata_base::text::{clip, clip_middle};

use crate::history::{
    ContentBlock, History, Message, MessageId, MessageKind, NewMessage, Pin, RebuildStep, ResultPart, Role,
    Visibility, answered_calls,
};

use super::pins::{LAST_REQUEST, last_request};
use super::profile::{BuiltinProfile, Profile};
use super::split::ConversationSplit;

/// First sentences of a `continuation` summary.
pub(crate) const CONTINUED: &str = "This session is being continued from a previous conversation that ran out of context. The \
summary below covers the earlier portion of the conversation.";
/// Last sentence of a `continuation` summary, because file contents are no longer in the conversation.
pub(crate) const READ_AGAIN: &str = "I can re-read any files if I need their exact content.";
/// First line of a `checkpoint` summary.
pub(crate) const PREVIOUS_SUMMARY: &str = "[Previous conversation summary]";
/// First line of the digest of tool results in a `checkpoint`.
pub(crate) const TOOL_DIGEST: &str = "[Compaction tool digest]";
/// Message that replaces old messages dropped without a summary.
pub(crate) const LEFT_OUT: &str =
    "[Earlier messages were left out: they were too long, and there is no summary of them.]";

const TOPIC_HEADING: &str = "Summary of the conversation so far:";
const TOPIC_ANSWER: &str = "I have read the summary and will continue from there.";

/// Maximum characters of the goal in a `rolling` summary.
const GOAL_CHARS: usize = 4_000;
/// Maximum characters of a kept tool result if the compacted prompt is too large.
const MAX_FORCED_RESULT_CHARS: usize = 400;

pub(super) struct Rebuilder<'a> {
    pub(super) visible: &'a [Arc<Message>],
    pub(super) profile: &'a Profile,
    pub(super) split: &'a ConversationSplit,
}

impl Rebuilder<'_> {
    /// Builds the compacted conversation: `summary`, followed by the facts in `missing` that it does not
    /// mention, and the kept messages.
    pub(super) fn rebuild_with_summary(&self, summary: &str, missing: &str) -> Vec<RebuildStep> {
        let summary = summary.trim();
        let mut entries = Vec::new();
        let spared: Vec<MessageId> = self
            .split
            .spared
            .iter()
            .filter(|at| **at < self.split.end)
            .filter_map(|at| self.message_id(*at))
            .collect();
        // A kept first message precedes the summary, and pinned messages follow it. A first message that
        // contains half of a tool call also follows, because nothing may separate a call from its result.
        let first = self.visible.first().filter(|message| History::begins_exchange(message));
        let first = first.map(|message| message.id).filter(|id| spared.contains(id));
        entries.extend(first.map(RebuildStep::Keep));
        match self.profile.builtin {
            BuiltinProfile::Topic => {
                entries.push(summary_step(Role::User, format!("{TOPIC_HEADING}\n\n{summary}{missing}")));
                entries.push(summary_step(Role::Assistant, TOPIC_ANSWER.to_owned()));
            }
            BuiltinProfile::Continuation => {
                let text = format!("{CONTINUED}\n\n{summary}{missing}\n\n{READ_AGAIN}");
                entries.push(summary_step(Role::User, text));
            }
            BuiltinProfile::Checkpoint => {
                entries.push(summary_step(Role::User, format!("{PREVIOUS_SUMMARY}\n\n{summary}{missing}")));
            }
            BuiltinProfile::Rolling => {
                let goal =
                    self.first_user_text().map(|goal| format!("# Goal\n{goal}\n\n")).unwrap_or_default();
                let text = format!("{goal}# Progress Summary\n{summary}{missing}");
                entries.push(summary_step(Role::User, text));
            }
            BuiltinProfile::Handoff => {
                let request = last_request(self.visible).map(|text| format!("\n\n{LAST_REQUEST}{text}"));
                let text = format!("{summary}{missing}{}", request.unwrap_or_default());
                entries.push(summary_step(Role::User, text));
            }
        }
        entries.extend(spared.into_iter().filter(|id| Some(*id) != first).map(RebuildStep::Keep));
        entries.extend(self.newest_message_steps());
        entries
    }

    /// Builds the compacted conversation without a summary of the old messages. If `opening` or the facts in
    /// `missing` are not empty, they are added as a message before the newest ones.
    pub(super) fn rebuild_without_summary(&self, opening: &str, missing: &str) -> Vec<RebuildStep> {
        let spared =
            self.split.spared.iter().filter(|at| **at < self.split.end).filter_map(|at| self.message_id(*at));
        let spared: Vec<RebuildStep> = spared.map(RebuildStep::Keep).collect();
        let text = format!("{opening}{missing}");
        let opening_message =
            (!text.trim().is_empty()).then(|| summary_step(Role::User, text.trim().to_owned()));
        spared.into_iter().chain(opening_message).chain(self.newest_message_steps()).collect()
    }

    /// Returns the text of the first user message, clipped to [`GOAL_CHARS`]; `None` if it contains no text.
    fn first_user_text(&self) -> Option<&str> {
        let first = self.visible.iter().find(|message| message.body.role == Role::User)?;
        let text = first.body.content.iter().find_map(|block| match block {
            ContentBlock::Text { text } => Some(text.trim()),
            _ => None,
        })?;
        // After an earlier `rolling` compaction, the first message starts with the goal.
        let text =
            text.strip_prefix("# Goal\n").map_or(text, |rest| rest.split("\n\n# ").next().unwrap_or(rest));
        Some(clip(text, GOAL_CHARS))
    }

    fn message_id(&self, at: usize) -> Option<MessageId> {
        self.visible.get(at).map(|message| message.id)
    }

    /// Returns the messages kept at the end, with older tool results digested if the profile requires it.
    fn newest_message_steps(&self) -> Vec<RebuildStep> {
        let newest = self.visible.get(self.split.end..).unwrap_or_default();
        // Archived results are already stubs.
        let results = |message: &Message| match message.body.kind {
            MessageKind::ToolResultArchived => 0,
            _ => message.body.content.iter().filter(|block| block.is_tool_result()).count(),
        };
        let total: usize = newest.iter().map(|message| results(message)).sum();
        let rules = self.profile.summary.digest.filter(|digest| digest.kept_results > 0);
        let mut excess = rules.map_or(0, |digest| total.saturating_sub(digest.kept_results));
        let calls = match excess {
            0 => HashMap::new(),
            _ => answered_calls(self.visible.iter().map(|message| &**message)),
        };
        let mut digest = Vec::new();
        let mut entries: Vec<RebuildStep> = Vec::with_capacity(newest.len() + 1);
        for message in newest {
            let result_count = results(message);
            let is_free = message.body.pin == Pin::Free && result_count == message.body.content.len();
            if result_count > 0 && result_count <= excess && is_free {
                excess -= result_count;
                let line_chars = rules.map_or(0, |digest| digest.line_chars);
                digest.extend(message.body.content.iter().enumerate().map(|(place, block)| {
                    let tool = calls.get(&(message.id, place)).map_or("tool", |&(name, _)| name);
                    digest_line(tool, block, line_chars)
                }));
                entries.push(RebuildStep::Archive(message.id));
            } else {
                entries.push(RebuildStep::Keep(message.id));
            }
        }
        if !digest.is_empty() {
            let left_out = digest.len().saturating_sub(rules.map_or(0, |digest| digest.lines));
            let mut text = String::from(TOOL_DIGEST);
            if left_out > 0 {
                text.push_str(&format!("\n- ({left_out} older results)"));
            }
            for line in digest.iter().skip(left_out) {
                text.push_str("\n- ");
                text.push_str(line);
            }
            let message = NewMessage {
                kind: MessageKind::ToolSummary,
                user: Visibility::Hidden,
                ..NewMessage::text(Role::User, text)
            };
            entries.push(RebuildStep::Add(message));
        }
        entries
    }
}

/// Clips kept tool results in `entries`, oldest first, to save `excess` tokens, and returns the tokens still to
/// be saved. Does not change pinned messages. `visible` contains the kept messages.
pub(super) fn clip_kept_results(
    entries: &mut [RebuildStep],
    visible: &[Arc<Message>],
    excess: usize,
    count: &dyn Fn(&str) -> usize,
) -> usize {
    let mut excess = excess;
    let bodies: HashMap<MessageId, &NewMessage> = visible
        .iter()
        .filter(|message| {
            message.body.pin == Pin::Free && message.body.kind != MessageKind::ToolResultArchived
        })
        .map(|message| (message.id, &message.body))
        .collect();
    for entry in entries.iter_mut() {
        if excess == 0 {
            break;
        }
        let RebuildStep::Keep(id) = entry else { continue };
        let Some(body) = bodies.get(id) else { continue };
        let (clipped, saved) = clip_results(body, count);
        if saved > 0 {
            excess = excess.saturating_sub(saved);
            // The user still sees the full message.
            *entry = RebuildStep::Add(NewMessage { user: Visibility::Hidden, ..clipped });
        }
    }
    excess
}

fn clip_results(message: &NewMessage, count: &dyn Fn(&str) -> usize) -> (NewMessage, usize) {
    let mut clipped = message.clone();
    let mut saved = 0;
    for block in &mut clipped.content {
        let ContentBlock::ToolResult { content, .. } = block else { continue };
        for part in content {
            if let ResultPart::Text { text } = part {
                let before = count(text);
                let short = clip_middle(text, MAX_FORCED_RESULT_CHARS);
                let after = count(&short);
                if after < before {
                    saved += before - after;
                    *text = short;
                }
            }
        }
    }
    (clipped, saved)
}

fn digest_line(tool: &str, block: &ContentBlock, chars: usize) -> String {
    let ContentBlock::ToolResult { content, .. } = block else { return String::new() };
    let text = content.iter().find_map(|part| match part {
        ResultPart::Text { text } => text.lines().map(str::trim).find(|line| !line.is_empty()),
        ResultPart::Image(_) => Some("[picture]"),
        ResultPart::Foreign(foreign) => foreign.text(),
    });
    format!("{tool}: {}", clip(text.unwrap_or("(nothing)"), chars))
}

fn summary_step(role: Role, text: String) -> RebuildStep {
    RebuildStep::Add(NewMessage { kind: MessageKind::Summary, ..NewMessage::text(role, text) })
}
