//! Cuts recorded conversations after a message and compacts them there, as if they had reached their limit. Checks
//! whether a provider would accept the result together with the next messages, and measures what the result still
//! mentions. `compaction` decides what to keep.

use std::sync::Arc;
use std::time::Instant;

use strata_conversation::compaction::{
    CompactionRun, CompactionStrategy, ConversationSize, DraftRefusal, LAST_REQUEST, NotCompacted, Profile,
    Summariser,
};
use strata_conversation::history::{
    ContentBlock, History, Message, MessageId, MessageKind, NewMessage, Visibility,
};
use strata_conversation::providers::{Violation, violations};
use strata_prompt::assembly::{PromptServices, with_token_counters};
use strata_prompt::session::Session;

use super::fidelity::{Fidelity, FidelityReference, as_text};
use crate::runner::nanos_since;

/// Number of messages after a cut that are sent with the compacted conversation, to check that both fit together. Later
/// messages are not affected by the cut.
const CHECKED_MESSAGES_AFTER_CUT: usize = 12;

/// A recorded conversation that can be cut after any message.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recording {
    /// What the model saw between two compactions by the recording agent. Each history begins with the agent's summary,
    /// if any.
    stretches: Vec<History>,
}

#[derive(Clone, Debug)]
pub(crate) struct CutConversation {
    before: History,
    /// The first messages after the cut.
    following: Vec<Arc<Message>>,
    /// Calls before the cut whose results follow it, as message id and call id. Different calls may have the same call
    /// id.
    waiting: Vec<(MessageId, String)>,
    yardstick: FidelityReference,
}

/// The result of compacting a conversation.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct CompactionResult {
    pub(crate) strategy: CompactionStrategy,
    pub(crate) before: ConversationSize,
    pub(crate) after: ConversationSize,
    /// Tokens of the summary message. Includes fixed sentences and pinned paths, but not the goal, the last request and
    /// the open tasks, which the message repeats verbatim.
    pub(crate) summary: usize,
    pub(crate) fidelity: Fidelity,
    /// Provider rules that the result violates, alone or with the next messages.
    pub(crate) violations: Vec<Violation>,
    /// Number of calls that were summarized away while they waited for their results.
    pub(crate) parted: usize,
}

/// Why a conversation was not compacted.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub(crate) enum CompactionError {
    /// The conversation cannot be shortened.
    #[error(transparent)]
    NotCompacted(#[from] NotCompacted),
    /// The draft was refused.
    #[error(transparent)]
    Refused(#[from] DraftRefusal),
}

impl Recording {
    /// Creates a recording of these messages, including hidden ones. Each summary among them begins a new stretch.
    pub(crate) fn new(messages: impl IntoIterator<Item = NewMessage>) -> Self {
        let mut stretches: Vec<History> = Vec::new();
        for message in messages {
            let message = NewMessage { agent: Visibility::Shown, ..message };
            match stretches.last_mut().filter(|_| message.kind != MessageKind::Summary) {
                Some(stretch) => stretch.add(message),
                None => {
                    stretches.push(History::default());
                    stretches.last_mut().map_or(MessageId(0), |stretch| stretch.add(message))
                }
            };
        }
        Self { stretches }
    }

    /// Returns the number of possible cuts: one after each message.
    pub(crate) fn message_count(&self) -> usize {
        self.stretches.iter().map(|history| history.messages().len()).sum()
    }

    /// Cuts the conversation after the message with index `place`. Returns `None` if there is no such message.
    pub(crate) fn cut(&self, place: usize, services: PromptServices<'_>) -> Option<CutConversation> {
        let mut end = place + 1;
        for (at, stretch) in self.stretches.iter().enumerate() {
            if end > stretch.messages().len() {
                end -= stretch.messages().len();
                continue;
            }
            let (past, rest) = stretch.messages().split_at(end);
            let mut before = stretch.clone();
            if let Some(next) = rest.first() {
                before.truncate(next.id).ok()?;
            }
            let later = self.stretches.iter().skip(at + 1).flat_map(History::messages);
            let after: Vec<Arc<Message>> = rest.iter().chain(later).cloned().collect();
            return Some(CutConversation {
                waiting: stretch.calls_answered_after(end),
                yardstick: FidelityReference::new(past, &after, &services.settings.tools),
                following: rest.iter().take(CHECKED_MESSAGES_AFTER_CUT).cloned().collect(),
                before,
            });
        }
        None
    }
}

impl CutConversation {
    /// Compacts everything before the cut without a model, even if the profile would wait. Returns the result, and the
    /// time in nanoseconds.
    pub(crate) fn compact(
        &self,
        profile: &Profile,
        services: PromptServices<'_>,
    ) -> (Result<CompactionResult, CompactionError>, u64) {
        let started = Instant::now();
        let committed = self.run_compaction(profile, services);
        let nanos = nanos_since(started);
        (committed.map(|(sizes, session)| self.evaluate(sizes, &session.history, services)), nanos)
    }

    fn run_compaction(
        &self,
        profile: &Profile,
        services: PromptServices<'_>,
    ) -> Result<((CompactionStrategy, ConversationSize, ConversationSize), Session), CompactionError> {
        let mut session = Session::new("cut");
        session.history = self.before.clone();
        let pressure = session.pressure(None, services, 0);
        let tools = &services.settings.tools;
        let draft = with_token_counters(services, |scales| {
            let (history, summariser) = (&session.history, Summariser::Extractive);
            CompactionRun::new(history, profile.clone(), pressure, summariser, tools.clone(), scales)?
                .finish(scales)
        })?;
        let sizes = (draft.strategy, draft.before, draft.after);
        session.compact(draft, profile, tools, 0)?;
        Ok((sizes, session))
    }

    fn evaluate(
        &self,
        (strategy, before, after): (CompactionStrategy, ConversationSize, ConversationSize),
        history: &History,
        services: PromptServices<'_>,
    ) -> CompactionResult {
        let left: Vec<&Message> = history.sent_messages().map(|message| &**message).collect();
        let added = |message: &Message| message.id >= self.before.next_id();
        let summary = left
            .iter()
            .filter(|message| added(message))
            .filter(|message| message.body.kind == MessageKind::Summary);
        let weigh = |message: &&Message| {
            with_token_counters(services, |scales| (scales.text)(&strip_verbatim_parts(&message.text())))
        };
        let summary = summary.map(weigh).sum();
        // The compacted conversation alone is valid, because a commit refuses any other.
        let with_next = left.iter().copied().chain(self.following.iter().map(AsRef::as_ref));
        let with_next: Vec<&Message> = with_next.collect();
        // A message that the compaction added may be a shortened message that still contains its calls.
        let is_left = |(of, id): &(MessageId, String)| {
            let mut holders = left.iter().filter(|message| message.id == *of || added(message));
            holders.any(|message| call_ids(message).any(|call| call == id))
        };
        CompactionResult {
            strategy,
            before,
            after,
            summary,
            fidelity: self.yardstick.measure_fidelity(&as_text(left.iter().copied())),
            violations: violations(&with_next),
            parted: self.waiting.iter().filter(|call| !is_left(call)).count(),
        }
    }
}

/// Returns a summary without the parts that a compaction repeats verbatim.
fn strip_verbatim_parts(summary: &str) -> String {
    let past_goal = summary.strip_prefix("# Goal\n").and_then(|rest| rest.split_once("\n\n# "));
    let text = past_goal.map_or(summary, |(_, rest)| rest);
    let text = text.rsplit_once(LAST_REQUEST).map_or(text, |(before, _)| before);
    let text = text.rsplit_once("\n\n## Open tasks\n").map_or(text, |(before, _)| before);
    let Some((before, request)) = text.rsplit_once("\n\n## Last request\n") else { return text.to_owned() };
    let paths = request.rfind("\n\n## Files edited\n").and_then(|at| request.get(at..));
    format!("{before}{}", paths.unwrap_or_default())
}

fn call_ids(message: &Message) -> impl Iterator<Item = &str> {
    message.body.content.iter().filter_map(|block| match block {
        ContentBlock::ToolCall { id, .. } => Some(id.as_str()),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use strata_conversation::compaction::BuiltinProfile;
    use strata_conversation::history::{ResultPart, Role, ToolOutcome};
    use strata_prompt::settings::Settings;
    use strata_tokens::counting::TokenCounter;
    use strata_tokens::models::Models;

    fn call(id: &str) -> NewMessage {
        let input = json!({ "file_path": format!("/w/{id}.rs") });
        let call = ContentBlock::ToolCall { id: id.into(), name: "Edit".into(), input };
        NewMessage::new(Role::Assistant, vec![call])
    }

    fn result(id: &str) -> NewMessage {
        let content = vec![ResultPart::Text { text: "a line of what the tool said\n".repeat(40) }];
        let result = ContentBlock::ToolResult { call_id: id.into(), content, outcome: ToolOutcome::Ok };
        NewMessage { kind: MessageKind::ToolResult, ..NewMessage::new(Role::User, vec![result]) }
    }

    /// Two requests, each of which edits a file, then a summary of both and a third request.
    fn recorded() -> Vec<NewMessage> {
        let ask = |text: &str| NewMessage { agent: Visibility::Hidden, ..NewMessage::text(Role::User, text) };
        let summary =
            NewMessage { kind: MessageKind::Summary, ..NewMessage::text(Role::User, "Edited two files.") };
        let first = [ask("Edit the first"), call("a"), result("a")];
        let second = [ask("Edit the second"), call("b"), result("b")];
        let third = [summary, call("a2"), result("a2")];
        first.into_iter().chain(second).chain(third).collect()
    }

    fn at(place: usize, builtin: BuiltinProfile) -> Option<Result<CompactionResult, CompactionError>> {
        let (models, counter, settings) = (Models::builtin(), TokenCounter::default(), Settings::default());
        let services = PromptServices { models: &models, counter: &counter, settings: &settings };
        let cut = Recording::new(recorded()).cut(place, services)?;
        Some(cut.compact(&builtin.profile(), services).0)
    }

    #[test]
    fn a_recording_can_be_cut_behind_each_message_and_a_summary_hides_what_stands_before_it() {
        let recording = Recording::new(recorded());
        assert_eq!(recording.message_count(), 9);
        let (models, counter, settings) = (Models::builtin(), TokenCounter::default(), Settings::default());
        let services = PromptServices { models: &models, counter: &counter, settings: &settings };
        let seen = (0..10).map(|place| recording.cut(place, services).map(|cut| cut.before.messages().len()));
        let expected = [1, 2, 3, 4, 5, 6, 1, 2, 3].map(Some);
        assert_eq!(seen.collect::<Vec<_>>(), [&expected[..], &[None]].concat());
    }

    #[test]
    fn what_is_left_is_held_against_what_was_there() {
        let shortened = at(5, BuiltinProfile::Handoff).unwrap().unwrap();
        assert_eq!(shortened.strategy, CompactionStrategy::Extractive);
        assert_eq!((shortened.before.messages, shortened.after.messages), (6, 1));
        assert!(shortened.summary > 0 && shortened.summary < shortened.after.tokens + 1);
        let edited = shortened.fidelity.edited.full;
        assert_eq!((edited.kept, edited.of), (2, 2));
        assert_eq!((shortened.violations.len(), shortened.parted), (0, 0));
    }

    #[test]
    fn what_is_repeated_word_for_word_is_not_weighed_with_a_summary() {
        let parts = [
            "# Goal\nfly\n\n# Progress Summary\nrose",
            "rose\n\n## Last request\n\nland\n\n## Files edited\n\na.rs\n\n## Open tasks\n\n- turn",
            "rose\n\nLast request from user was: land",
            "rose",
        ];
        let left = parts.map(strip_verbatim_parts);
        let expected = ["Progress Summary\nrose", "rose\n\n## Files edited\n\na.rs", "rose\n\n", "rose"];
        assert_eq!(left, expected);
    }

    #[test]
    fn a_call_that_waits_for_its_result_is_not_summarised_away() {
        // Cut after the second call, whose result comes next.
        for builtin in BuiltinProfile::ALL {
            if let Ok(shortened) = at(4, builtin).unwrap() {
                assert_eq!((shortened.violations.len(), shortened.parted), (0, 0), "{builtin:?}");
            }
        }
    }

    #[test]
    fn an_id_that_comes_again_is_another_call() {
        let (models, counter, settings) = (Models::builtin(), TokenCounter::default(), Settings::default());
        let services = PromptServices { models: &models, counter: &counter, settings: &settings };
        let ask = || NewMessage::text(Role::User, "Edit it");
        let waiting = |messages: &[NewMessage]| -> Vec<Vec<u64>> {
            let recording = Recording::new(messages.iter().cloned());
            let cuts = (0..messages.len()).filter_map(|place| recording.cut(place, services));
            cuts.map(|cut| cut.waiting.iter().map(|(of, _)| of.0).collect()).collect()
        };
        let twice = [ask(), call("a"), result("a"), ask(), call("a"), result("a")];
        let expected: [Vec<u64>; 6] = [vec![], vec![1], vec![], vec![], vec![4], vec![]];
        assert_eq!(waiting(&twice), expected);
        let given_up = [ask(), call("a"), ask(), call("a"), result("a")];
        let expected: [Vec<u64>; 5] = [vec![], vec![], vec![], vec![3], vec![]];
        assert_eq!(waiting(&given_up), expected);
    }

    #[test]
    fn a_profile_that_keeps_everything_is_no_failure() {
        assert!(matches!(
            at(1, BuiltinProfile::Rolling).unwrap(),
            Err(CompactionError::NotCompacted(NotCompacted::NothingOld { .. }))
        ));
    }
}
