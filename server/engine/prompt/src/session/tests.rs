//! Compactions of a session, and what it tracks besides its messages.

use serde_json::json;
use strata_conversation::compaction::{
    BuiltinProfile, CompactionDraft, CompactionRun, ContextPressure, DraftRefusal, Profile, RequestSize,
    Summariser, TokenCounters, TopicDetection,
};
use strata_conversation::conversation_facts::ToolPatterns;
use strata_conversation::history::{Message, MessageKind, ResultPart, Role, ToolOutcome};
use strata_conversation::providers::{TextOrImage, texts_and_images};
use strata_tokens::counting::TokenCounter;
use strata_tokens::models::Models;

use super::*;
use crate::assembly::PromptServices;
use crate::settings::Settings;

const SUMMARY: &str =
    "## Done\n## Next Steps\n## Summary\n## 7. Immediate Next Step\nThey looked, and nothing is open.";

fn user(text: &str) -> NewMessage {
    NewMessage::text(Role::User, text)
}

fn assistant(text: &str) -> NewMessage {
    NewMessage::text(Role::Assistant, text)
}

/// Returns a call of a tool on a file, and its result.
fn tool_call(id: &str, tool: &str, path: &str) -> [NewMessage; 2] {
    let call =
        ContentBlock::ToolCall { id: id.into(), name: tool.into(), input: json!({ "file_path": path }) };
    let content = vec![ResultPart::Text { text: "text ".repeat(50) }];
    let result = ContentBlock::ToolResult { call_id: id.into(), content, outcome: ToolOutcome::Ok };
    [
        NewMessage::new(Role::Assistant, vec![call]),
        NewMessage { kind: MessageKind::ToolResult, ..NewMessage::new(Role::User, vec![result]) },
    ]
}

/// Returns exchanges of two messages with `tokens` each.
fn exchanges(number: usize, tokens: usize) -> Vec<NewMessage> {
    let text = |kind: &str, n: usize| format!("{:x<width$}", format!("{kind} {n} "), width = tokens * 4);
    (0..number).flat_map(|n| [user(&text("question", n)), assistant(&text("answer", n))]).collect()
}

fn session(messages: impl IntoIterator<Item = NewMessage>) -> Session {
    let mut session = Session::new("test");
    session.set_history(messages);
    session
}

/// Counts one token for every four characters.
fn count(text: &str) -> usize {
    text.len().div_ceil(4)
}

fn count_message(message: &Message) -> usize {
    let tokens = |piece: TextOrImage<'_>| match piece {
        TextOrImage::Text(text) => count(&text),
        TextOrImage::Picture(_) => 1_200,
    };
    message.body.content.iter().flat_map(texts_and_images).map(tokens).sum()
}

/// Compacts with a model that always answers with the same summary.
fn compacted_draft(history: &History, profile: &Profile) -> CompactionDraft {
    let scales = || TokenCounters { message: &count_message, text: &count };
    let history_tokens = history.sent_messages().map(|message| count_message(message)).sum();
    let exchanges = history.visible_messages().filter(|message| History::begins_exchange(message)).count();
    let messages = history.visible_messages().count();
    let pressure = ContextPressure {
        history: history_tokens,
        context: history_tokens,
        messages,
        exchanges,
        ..ContextPressure::default()
    };
    let summariser = Summariser::Model { window: 100_000, topics: TopicDetection::NotAsked };
    let mut run =
        CompactionRun::new(history, profile.clone(), pressure, summariser, ToolPatterns::default(), scales())
            .unwrap();
    while run.question().is_some() {
        run.handle_answer(Ok(SUMMARY.to_owned()), scales());
    }
    run.finish(scales()).unwrap()
}

fn compact(session: &mut Session, profile: &Profile, now_ms: u64) {
    let draft = compacted_draft(&session.history, profile);
    session.compact(draft, profile, &ToolPatterns::default(), now_ms).unwrap();
}

#[test]
fn an_outdated_draft_leaves_the_history_unchanged() {
    let topic = BuiltinProfile::Topic.profile();
    let mut session = session(exchanges(30, 500));
    let draft = compacted_draft(&session.history, &topic);
    session.change_message(MessageId(0), |body| body.content.clear()).unwrap();
    let before = session.clone();
    let error = session.compact(draft, &topic, &ToolPatterns::default(), 1).unwrap_err();
    assert_eq!(error, DraftRefusal::Changed);
    assert_eq!(session.history, before.history);
    assert_eq!((session.cache.revision, session.compactions().len()), (before.cache.revision, 0));

    compact(&mut session, &topic, 1);
    assert_eq!(session.history.sent_messages().count(), 10);
    assert!(session.cache.revision > before.cache.revision);
    assert_eq!(session.undo_compaction().unwrap().profile, "topic");
    assert_eq!(session.history.messages(), before.history.messages());
}

#[test]
fn a_restored_session_undoes_its_compactions() {
    for builtin in BuiltinProfile::ALL {
        let (profile, mut session) = (builtin.profile(), session(exchanges(30, 500)));
        let mut states = Vec::new();
        for _ in 0..2 {
            exchanges(30, 500).into_iter().for_each(|message| {
                session.history.add(message);
            });
            states.push(session.history.messages().to_vec());
            compact(&mut session, &profile, 1);
            assert_ne!(session.history.messages(), &states[states.len() - 1][..], "{builtin:?}");

            let saved: SavedSession =
                serde_json::from_str(&serde_json::to_string(&**session.saved_session()).unwrap()).unwrap();
            assert_eq!(saved, **session.saved_session(), "{builtin:?}");
            let messages =
                session.history.messages().iter().map(|message| Message::clone(message)).collect::<Vec<_>>();
            session = Session::restore("test", messages, session.history.next_id(), saved);
        }
        for state in states.into_iter().rev() {
            session.undo_compaction().unwrap();
            assert_eq!(session.history.messages().get(..state.len()), Some(&state[..]), "{builtin:?}");
        }
        assert!(session.undo_compaction().is_err());
    }
}

#[test]
fn only_one_recovery_is_allowed_until_a_prompt_is_answered() {
    let mut session = Session::new("test");
    session.check_recovery_allowed().unwrap();
    session.record_recovery();
    let error = session.check_recovery_allowed().unwrap_err().to_string();
    assert!(error.starts_with("the prompt was too long again"), "{error}");
    // A new conversation allows a recovery again.
    session.set_history([]);
    session.check_recovery_allowed().unwrap();
    session.record_recovery();
}

#[test]
fn a_compaction_forgets_read_files_and_keeps_ten_steps() {
    let tools = ToolPatterns::default();
    let read = |n: usize| tool_call(&n.to_string(), "read_file", &format!("src/f{n}.rs"));
    let mut session = session([user("look")].into_iter().chain((0..14).flat_map(read)));
    let history = session.history.clone();
    session.trail.mark_read("by/hand.rs", &history);
    assert_eq!(session.trail.files_read(&session.history, &tools).len(), 15);
    compact(&mut session, &BuiltinProfile::Continuation.profile(), 1);
    assert_eq!(session.trail.files_read(&session.history, &tools), [""; 0]);
    let steps = session.trail.exploration_steps(&session.history, &tools);
    let subjects: Vec<&str> = steps.iter().map(|step| step.subject.as_str()).collect();
    assert_eq!((subjects.len(), subjects[0], subjects[9]), (10, "src/f4.rs", "src/f13.rs"));
    // Files read from then on are listed again.
    tool_call("x", "read_file", "src/f1.rs").into_iter().for_each(|message| {
        session.history.add(message);
    });
    assert_eq!(session.trail.files_read(&session.history, &tools), ["src/f1.rs"]);
    assert_eq!(session.trail.exploration_steps(&session.history, &tools).len(), 11);
}

#[test]
fn before_the_first_prompt_the_context_size_is_that_of_the_conversation() {
    let (models, counter, settings) = (Models::builtin(), TokenCounter::default(), Settings::default());
    let services = PromptServices { models: &models, counter: &counter, settings: &settings };
    let session = session([user("hello there")]);
    let pressure = session.pressure(None, services, 0);
    assert_eq!(pressure.context, pressure.history);
    let size = RequestSize { tokens: 77, ..RequestSize::default() };
    assert_eq!(session.pressure(Some(size), services, 0).context, 77);
}

#[test]
fn a_handoff_recounts_tokens_and_clears_activity_lists() {
    let (models, counter, settings) = (Models::builtin(), TokenCounter::default(), Settings::default());
    let services = PromptServices { models: &models, counter: &counter, settings: &settings };
    let tools = ToolPatterns::default();
    let [call, result] = tool_call("1", "read_file", "src/parser.rs");
    let talk =
        [user("Fix the parser."), call, result, assistant("Fixed."), user("Thanks."), assistant("Sure.")];
    let mut session = session(talk);
    assert_eq!(session.trail.files_read(&session.history, &tools), ["src/parser.rs"]);
    let before = session.pressure(None, services, 0);
    compact(&mut session, &BuiltinProfile::Handoff.profile(), 9);
    let after = session.pressure(None, services, 0);
    assert!(after.context < before.context && after.context == after.history);
    assert_eq!((before.messages, after.messages, before.exchanges, after.exchanges), (6, 1, 2, 0));
    assert_eq!(session.trail.files_read(&session.history, &tools), [""; 0]);
    assert!(session.trail.exploration_steps(&session.history, &tools).is_empty());
    assert_eq!(session.compactions()[0].time_ms, 9);
}
