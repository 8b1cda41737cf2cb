//! Tests of the profile `topic`: each documented statement, with the test that proves it.
//!
//! | statement | test |
//! |---|---|
//! | due when enabled and history tokens exceed the trigger | `due_when_enabled_and_over_the_trigger` |
//! | status: enabled, tokens, threshold, percent | `the_status_has_tokens_threshold_and_percent` |
//! | 4,000 tokens and two exchanges stay, exchanges are whole | `at_least_two_exchanges_are_kept` |
//! | rebuilt as a summary pair and what is kept | `a_summary_and_an_acknowledgement_precede_the_kept_messages` |
//! | boundary found by a model: 50 messages of 1,000 characters | `the_model_looks_at_50_messages_of_1_000_characters` |
//! | sure enough and inside what is kept: cut there | `a_confident_topic_boundary_among_the_kept_messages_is_the_cut`, `unusable_topic_boundaries_lead_to_a_summary` |
//! | without a detection model it summarizes, in 500 tokens | `without_a_detection_model_no_topic_is_looked_for` |
//! | emergency truncation: only over twice the trigger, oldest first, whole exchanges | `emergency_truncation_starts_above_twice_the_trigger`, `history/list.rs: emergency_truncation_*` |
//! | shedding at 90 % | `prompt/src/assembly/tests/budgets.rs: over_the_budget_the_largest_files_are_omitted_with_a_warning` |
//! | add, add exchange, get a copy, set, clear, re-register, count | `prompt/src/assembly/tests/budgets.rs: a_history_can_be_measured_copied_replaced_and_cleared`, `prompt/src/assembly/tests/ripple.rs: resetting_history_tiers_keeps_the_messages` |
//! | budget: history, a sixteenth, window, remaining, needs_summary | `prompt/src/assembly/tests/budgets.rs: the_budget_report_adds_up` |
//! | history entries of the tiers are purged after it | `prompt/src/session/tests.rs: an_outdated_draft_leaves_the_history_unchanged` |
//! | history is replaced on success | `prompt/src/session/tests.rs: an_outdated_draft_leaves_the_history_unchanged` |
//! | loading a session continues with it | `prompt/src/session/tests.rs: a_restored_session_undoes_its_compactions` |

use super::fixture::{
    MODEL, SUMMARY, TOPIC_MODEL, compact, count_message, draft_compaction, exchanges, history, model,
    model_view, pressure, user,
};
use crate::compaction::{
    AutoCompaction, BuiltinProfile, CompactionDraft, CompactionMoment, CompactionStatus, CompactionStrategy,
    ContextPressure, LEFT_OUT, MAX_TOPIC_DETECTION_MESSAGES, MAX_TOPIC_MESSAGE_CHARS, MIN_TOPIC_CONFIDENCE,
    NotCompacted, Profile, RequestSize, Summariser, SummaryPurpose, TokenCounters, Trigger, TriggerMetric,
    commit, split,
};
use crate::conversation_facts::ToolPatterns;
use crate::history::{History, Role};

/// Returns `topic` with a fixed trigger of 24,000 tokens.
fn topic() -> Profile {
    let trigger = Trigger { history_over: Some(24_000), ..Trigger::default() };
    Profile { trigger, ..BuiltinProfile::Topic.profile() }
}

#[test]
fn a_large_conversation_waits_until_a_compaction_saves_money_or_the_limit_is_near() {
    let heavy = ContextPressure {
        limit: Some(100_000),
        history: 24_001,
        context: 60_000,
        ..ContextPressure::default()
    };
    let due = |pressure: ContextPressure| {
        BuiltinProfile::Topic.profile().due_reading(&pressure).map(|reading| reading.limit)
    };
    assert_eq!(due(heavy), None);
    assert_eq!(due(ContextPressure { pays: true, ..heavy }), Some(24_000));
    assert_eq!(due(ContextPressure { pays: true, history: 24_000, ..heavy }), None);
    assert_eq!(due(ContextPressure { context: 95_000, ..heavy }), Some(95_000));
    let status = CompactionStatus::new(AutoCompaction::On, &BuiltinProfile::Topic.profile(), &heavy, None);
    assert_eq!((status.due, status.distance), (false, 0));
    assert_eq!(
        status.why,
        "tokens of the conversation: 24,001 of 24,000, but compacting now would cost more than it saves"
    );
}

#[test]
fn every_profile_compacts_before_a_request_reaches_its_limit() {
    for builtin in BuiltinProfile::ALL {
        let full = ContextPressure {
            limit: Some(40_000),
            context: 38_000,
            history: 20_000,
            ..ContextPressure::default()
        };
        let reading = builtin.profile().due_reading(&full);
        assert_eq!(
            reading.map(|reading| reading.measured),
            Some(TriggerMetric::ContextTokens),
            "{builtin:?}"
        );
        let files = RequestSize { tokens: 90_000, least: 24_000, limit: Some(40_000), window: Some(44_000) };
        let files = ContextPressure::from_request(files, 20_000);
        assert_eq!(files.context, 24_000, "files that do not fit by themselves are left out");
        assert_eq!(builtin.profile().due_reading(&files), None, "{builtin:?}");
    }
}

#[test]
fn due_when_enabled_and_over_the_trigger() {
    assert_eq!(topic().moment, CompactionMoment::AfterTurn);
    for (history, watched, due) in [
        (24_000, AutoCompaction::On, false),
        (24_001, AutoCompaction::On, true),
        (90_000, AutoCompaction::Off, false),
    ] {
        let pressure = ContextPressure { history, context: 1_000_000, ..ContextPressure::default() };
        assert_eq!(CompactionStatus::new(watched, &topic(), &pressure, None).due, due, "{history}");
    }
}

#[test]
fn the_status_has_tokens_threshold_and_percent() {
    let pressure = ContextPressure { history: 6_000, ..ContextPressure::default() };
    let status = CompactionStatus::new(AutoCompaction::On, &topic(), &pressure, None);
    assert_eq!((status.enabled, status.measured), (true, Some(TriggerMetric::HistoryTokens)));
    assert_eq!((status.tokens, status.threshold, status.percent), (6_000, 24_000, 25.0));
}

fn kept_messages(conversation: &History) -> usize {
    let sent: Vec<_> = conversation.sent_messages().cloned().collect();
    split(&sent, &topic(), &ContextPressure::default(), &count_message)
        .map_or(sent.len(), |split| sent.len() - split.end)
}

#[test]
fn at_least_two_exchanges_are_kept() {
    assert_eq!(kept_messages(&exchanges(30, 500)), 8, "4,000 tokens");
    assert_eq!(kept_messages(&exchanges(30, 2_000)), 4, "8,000 tokens, but two exchanges");
    assert_eq!(kept_messages(&exchanges(2, 2_000)), 4, "there is nothing old");
    // A summary does not begin an exchange.
    let (after, ..) = compact(&exchanges(30, 2_000), &topic(), MODEL, |_| Ok(SUMMARY.to_owned()));
    assert_eq!(kept_messages(&after), 4);
}

#[test]
fn exchanges_that_exceed_the_trigger_are_not_all_kept() {
    assert_eq!(kept_messages(&exchanges(30, 6_000)), 4, "24,000 tokens are not over it");
    assert_eq!(kept_messages(&exchanges(30, 6_001)), 2);
    assert_eq!(kept_messages(&exchanges(30, 12_001)), 0);
    // Exchanges that exceed the window are not kept either, if the window is smaller.
    let sent: Vec<_> = exchanges(30, 2_000).sent_messages().cloned().collect();
    for (window, left) in [(8_000, 4), (7_999, 2)] {
        let pressure = ContextPressure { window: Some(window), ..ContextPressure::default() };
        assert_eq!(
            split(&sent, &topic(), &pressure, &count_message).map(|split| sent.len() - split.end),
            Some(left)
        );
    }
    // One request, after which an agent works on its own.
    let conversation =
        history([user("mend the roof")].into_iter().chain((0..40).map(|_| model(&"x".repeat(4_000)))));
    assert_eq!(kept_messages(&conversation), 4);
    let (after, ..) = compact(&conversation, &topic(), MODEL, |_| Ok(SUMMARY.to_owned()));
    assert!(model_view(&after).contains("## Last request\n\nmend the roof"));
}

#[test]
fn a_summary_and_an_acknowledgement_precede_the_kept_messages() {
    let (after, draft, _) = compact(&exchanges(30, 1_000), &topic(), MODEL, |_| Ok(SUMMARY.to_owned()));
    assert_eq!(draft.strategy, CompactionStrategy::Model);
    let messages: Vec<_> = after.sent_messages().collect();
    assert_eq!(messages.len(), 6);
    assert_eq!((messages[0].body.role, messages[1].body.role), (Role::User, Role::Assistant));
    assert_eq!(messages[0].text(), format!("Summary of the conversation so far:\n\n{SUMMARY}"));
    assert!(messages[2].text().starts_with("question 28"));
}

#[test]
fn the_model_looks_at_50_messages_of_1_000_characters() {
    assert_eq!(
        (MAX_TOPIC_DETECTION_MESSAGES, MAX_TOPIC_MESSAGE_CHARS, MIN_TOPIC_CONFIDENCE),
        (50, 1_000, 0.5)
    );
    let conversation = exchanges(30, 1_000);
    let mut questions = Vec::new();
    let _ =
        draft_compaction(&conversation, &topic(), pressure(&conversation, None), TOPIC_MODEL, |question| {
            questions.push(question.clone());
            Ok(String::new())
        });
    assert_eq!(questions[0].purpose, SummaryPurpose::FindTopic);
    let lines: Vec<&str> = questions[0].prompt.lines().filter(|line| line.starts_with('[')).collect();
    assert_eq!(lines.len(), 50);
    assert!(
        lines[0].starts_with("[0] user: question 5 ") && lines[49].starts_with("[49] assistant: answer 29 ")
    );
    for line in lines {
        let (_, text) = line.split_once(": ").unwrap();
        assert!((990..=1_000).contains(&text.chars().count()), "{line}");
    }
}

/// Returns the outcome of a boundary at this index of the newest 50 messages.
fn draft_with_answer(conversation: &History, answer: &str) -> CompactionDraft {
    let mut purposes = Vec::new();
    draft_compaction(conversation, &topic(), pressure(conversation, None), TOPIC_MODEL, |question| {
        purposes.push(question.purpose);
        Ok(if question.purpose == SummaryPurpose::FindTopic { answer.to_owned() } else { SUMMARY.to_owned() })
    })
    .unwrap()
}

fn boundary_answer(boundary: usize, confidence: f64) -> String {
    format!("```json\n{{\"boundary\": {boundary}, \"confidence\": {confidence}}}\n```")
}

#[test]
fn a_confident_topic_boundary_among_the_kept_messages_is_the_cut() {
    // The newest eight messages, 42 to 49 of those listed, are always kept.
    let conversation = exchanges(30, 500);
    for (boundary, confidence, left) in [(42, 0.5, 8), (44, 1.0, 6), (46, 0.7, 4), (47, 0.7, 4), (49, 0.7, 4)]
    {
        let draft = draft_with_answer(&conversation, &boundary_answer(boundary, confidence));
        assert_eq!(
            (draft.strategy, draft.after.messages),
            (CompactionStrategy::TopicCut, left),
            "{boundary}"
        );
        let (after, _) = commit(&conversation, draft, &topic()).unwrap();
        assert!(after.sent_messages().next().unwrap().text().starts_with("question "));
    }
}

#[test]
fn unusable_topic_boundaries_lead_to_a_summary() {
    let conversation = exchanges(30, 500);
    for answer in [
        boundary_answer(44, 0.49),
        boundary_answer(41, 0.9),
        boundary_answer(0, 1.0),
        boundary_answer(50, 1.0),
        boundary_answer(9_999, 1.0),
        boundary_answer(44, 1.1),
        "{\"boundary\": null, \"confidence\": 0.9}".to_owned(),
        "{\"boundary\": -1, \"confidence\": 0.9}".to_owned(),
        "there is none".to_owned(),
        "}{".to_owned(),
        String::new(),
    ] {
        let draft = draft_with_answer(&conversation, &answer);
        assert_eq!((draft.strategy, draft.after.messages), (CompactionStrategy::Model, 10), "{answer}");
    }
}

#[test]
fn without_a_detection_model_no_topic_is_looked_for() {
    let conversation = exchanges(30, 500);
    let mut requests = Vec::new();
    let draft = draft_compaction(&conversation, &topic(), pressure(&conversation, None), MODEL, |question| {
        requests.push((question.purpose, question.max_tokens));
        Ok(SUMMARY.to_owned())
    });
    assert_eq!(requests, [(SummaryPurpose::Summarise, 500)]);
    assert_eq!(draft.unwrap().strategy, CompactionStrategy::Model);
}

/// A token count for which no summary is short enough.
fn count_with_huge_summaries(message: &crate::history::Message) -> usize {
    if message.text().starts_with("Summary of") { 1_000_000 } else { count_message(message) }
}

#[test]
fn emergency_truncation_starts_above_twice_the_trigger() {
    let counters = TokenCounters { message: &count_with_huge_summaries, text: &super::fixture::count };
    let run = |conversation: &History| {
        let run = crate::compaction::CompactionRun::new(
            conversation,
            topic(),
            pressure(conversation, None),
            Summariser::Extractive,
            ToolPatterns::default(),
            counters,
        );
        run.unwrap().finish(counters)
    };
    // 48,000 tokens are not more than twice 24,000.
    let Err(NotCompacted::NotShorter { reasons }) = run(&exchanges(24, 1_000)) else { panic!("it was cut") };
    assert!(reasons[0].starts_with("a summary without a model would not be shorter"), "{reasons:?}");

    let conversation = exchanges(25, 1_000);
    let draft = run(&conversation).unwrap();
    assert_eq!(draft.strategy, CompactionStrategy::Truncated);
    let (after, _) = commit(&conversation, draft, &topic()).unwrap();
    let messages: Vec<_> = after.sent_messages().collect();
    assert_eq!(messages[0].text(), LEFT_OUT);
    assert!(messages[1].text().starts_with("question 13 "), "the oldest go, and pairs stay");
    assert_eq!(messages.len(), 25);
    assert_eq!(after.messages().len(), 51, "nothing is lost");
}
