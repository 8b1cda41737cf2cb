//! Conversations to compact, models that answer, and views of the result.

use std::fmt::Write as _;

use serde_json::json;

use crate::compaction::{
    CompactionDraft, CompactionRun, ContextPressure, NotCompacted, Profile, Summariser, SummarizerQuestion,
    TokenCounters, TopicDetection, commit,
};
use crate::conversation_facts::ToolPatterns;
use crate::history::{
    ContentBlock, History, HistoryChange, Message, MessageKind, NewMessage, Pin, ResultPart, Role,
    ToolOutcome, Visibility,
};

pub(super) fn user(text: &str) -> NewMessage {
    NewMessage::text(Role::User, text)
}

pub(super) fn model(text: &str) -> NewMessage {
    NewMessage::text(Role::Assistant, text)
}

pub(super) fn hidden(message: NewMessage) -> NewMessage {
    NewMessage { agent: Visibility::Hidden, ..message }
}

pub(super) fn pinned(message: NewMessage) -> NewMessage {
    NewMessage { pin: Pin::Kept, ..message }
}

/// Returns a message in which the assistant calls a tool on a file.
pub(super) fn call(id: &str, tool: &str, path: &str) -> NewMessage {
    let input = json!({ "file_path": path });
    NewMessage::new(Role::Assistant, vec![ContentBlock::ToolCall { id: id.into(), name: tool.into(), input }])
}

pub(super) fn result(id: &str, text: &str) -> NewMessage {
    let content = vec![ResultPart::Text { text: text.into() }];
    let block = ContentBlock::ToolResult { call_id: id.into(), content, outcome: ToolOutcome::Ok };
    NewMessage { kind: MessageKind::ToolResult, ..NewMessage::new(Role::User, vec![block]) }
}

pub(super) fn history(messages: impl IntoIterator<Item = NewMessage>) -> History {
    let mut history = History::default();
    history.replace_messages(messages);
    history
}

/// Returns exchanges of two messages with `tokens` each.
pub(super) fn exchanges(number: usize, tokens: usize) -> History {
    let text = |label: &str, n: usize| {
        let text = format!("{label} {n} ");
        let rest = (tokens * 4).saturating_sub(text.len());
        format!("{text}{}", "x".repeat(rest))
    };
    let both = |n| [user(&text("question", n)), model(&text("answer", n))];
    history((0..number).flat_map(both))
}

/// Counts one token for every four characters.
pub(super) fn count(text: &str) -> usize {
    text.len().div_ceil(4)
}

/// Counts the tokens of a message as sent.
pub(super) fn count_message(message: &Message) -> usize {
    let part = |part: &ResultPart| match part {
        ResultPart::Text { text } => count(text),
        ResultPart::Image(_) | ResultPart::Foreign(_) => 1_200,
    };
    let block = |block: &ContentBlock| match block {
        ContentBlock::Text { text } => count(text),
        ContentBlock::ToolCall { name, input, .. } => count(name) + count(&input.to_string()),
        ContentBlock::ToolResult { .. } if message.body.kind == MessageKind::ToolResultArchived => 12,
        ContentBlock::ToolResult { content, .. } => content.iter().map(part).sum(),
        ContentBlock::Image(_) => 1_200,
        _ => 0,
    };
    message.body.content.iter().map(block).sum()
}

pub(super) fn counters() -> TokenCounters<'static> {
    TokenCounters { message: &count_message, text: &count }
}

/// Measures the conversation as if the prompt contained nothing else.
pub(super) fn pressure(history: &History, window: Option<usize>) -> ContextPressure {
    let tokens = history.sent_messages().map(|message| count_message(message)).sum();
    let exchanges = history.visible_messages().filter(|message| History::begins_exchange(message)).count();
    let messages = history.visible_messages().count();
    ContextPressure {
        history: tokens,
        context: tokens,
        window,
        messages,
        exchanges,
        ..ContextPressure::default()
    }
}

/// A summary that is long enough for every conversation in these tests, with a heading of each profile.
pub(super) const SUMMARY: &str = "## Done\n## Next Steps\n## Summary\n## 7. Immediate Next Step\nSo far, the user asked one question after the other, and the model answered each of \
                                 them. Nothing was decided, no file was changed, and no work is open. The next question \
                                 may be about anything.";

pub(super) const MODEL: Summariser = Summariser::Model { window: 100_000, topics: TopicDetection::NotAsked };
pub(super) const TOPIC_MODEL: Summariser =
    Summariser::Model { window: 100_000, topics: TopicDetection::Asked };

/// Compacts with `profile` and a model that gives the same answer to each question.
pub(super) fn draft_compaction(
    history: &History,
    profile: &Profile,
    pressure: ContextPressure,
    summariser: Summariser,
    mut answer: impl FnMut(&SummarizerQuestion) -> Result<String, String>,
) -> Result<CompactionDraft, NotCompacted> {
    let mut run = CompactionRun::new(
        history,
        profile.clone(),
        pressure,
        summariser,
        ToolPatterns::default(),
        counters(),
    )?;
    while let Some(question) = run.question() {
        let answer = answer(question);
        run.handle_answer(answer, counters());
    }
    run.finish(counters())
}

pub(super) fn compact(
    history: &History,
    profile: &Profile,
    summariser: Summariser,
    answer: impl FnMut(&SummarizerQuestion) -> Result<String, String>,
) -> (History, CompactionDraft, HistoryChange) {
    let draft = draft_compaction(history, profile, pressure(history, None), summariser, answer).unwrap();
    let (after, rebuilt) = commit(history, draft.clone(), profile).unwrap();
    (after, draft, rebuilt)
}

/// Returns the questions that a compaction asks a model that answers all of them alike.
pub(super) fn asked_questions(
    history: &History,
    profile: &Profile,
    summariser: Summariser,
) -> Vec<SummarizerQuestion> {
    let mut questions = Vec::new();
    let _ = draft_compaction(history, profile, pressure(history, None), summariser, |question| {
        questions.push(question.clone());
        Ok(SUMMARY.to_owned())
    });
    questions
}

/// Returns everything that the model sees: message by message, each block on its own line.
pub(super) fn model_view(history: &History) -> String {
    let mut view = String::new();
    for message in history.sent_messages() {
        let speaker = match message.body.role {
            Role::User => "user",
            Role::Assistant => "model",
        };
        for block in &message.body.content {
            let line = match block {
                ContentBlock::Text { text } => text.clone(),
                ContentBlock::ToolCall { id, name, input } => format!("calls {name} {id} {input}"),
                ContentBlock::ToolResult { call_id, .. }
                    if message.body.kind == MessageKind::ToolResultArchived =>
                {
                    format!("archived {call_id}")
                }
                ContentBlock::ToolResult { call_id, content, .. } => {
                    let texts = content.iter().map(|part| match part {
                        ResultPart::Text { text } => text.as_str(),
                        _ => "(other)",
                    });
                    format!("result {call_id} {}", texts.collect::<Vec<_>>().join(" "))
                }
                _ => "(other)".to_owned(),
            };
            let _ = writeln!(view, "{speaker}: {line}");
        }
    }
    view
}
