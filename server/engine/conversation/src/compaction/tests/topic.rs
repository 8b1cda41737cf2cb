//! Tests of the profile `topic`: each documented statement, with the test that proves it.
//!
//! | statement | test |
//! |---|---|
//! | due when enabled and history tokens exceed the trigger | `due_when_enabled_and_over_the_trigger` |
//! | status: enabled, tokens, threshold, percent | `the_status_has_tokens_threshold_and_percent` |
//! | 4,000 tokens and two exchanges stay, exchanges are whole | `at_least_two_exchanges_stay` |
//! | rebuilt as a summary pair and what is kept | `a_summary_pair_stands_in_front_of_what_is_kept` |
//! | boundary found by a model: 50 messages of 1,000 characters | `the_model_looks_at_50_messages_of_1_000_characters` |
//! | sure enough and inside what is kept: cut there | `a_sure_boundary_inside_what_is_kept_is_the_cut`, `other_boundaries_are_summarised` |
//! | without a detection model it summarizes, in 500 tokens | `without_a_detection_model_it_summarises` |
//! | emergency truncation: only over twice the trigger, oldest first, whole exchanges | `emergency_truncation_only_over_twice_the_trigger`, `history/list.rs: emergency_truncation_*` |
//! | shedding at 90 % | `prompt/src/assembly/tests/budgets.rs: over_the_budget_the_largest_files_are_shed_with_a_warning` |
//! | add, add exchange, get a copy, set, clear, re-register, count | `prompt/src/assembly/tests/budgets.rs: the_history_is_counted_copied_replaced_and_emptied`, `prompt/src/assembly/tests/tiered.rs: clearing_the_history_purges_its_tiers_and_reregistering_keeps_it` |
//! | budget: history, a sixteenth, window, remaining, needs_summary | `prompt/src/assembly/tests/budgets.rs: the_budget_report_has_what_it_should` |
//! | history entries of the tiers are purged after it | `prompt/src/session/tests.rs: history_is_replaced_on_success_only` |
//! | history is replaced on success | `prompt/src/session/tests.rs: history_is_replaced_on_success_only` |
//! | loading a session continues with it | `prompt/src/session/tests.rs: a_restored_session_undoes_its_compactions` |

use super::fixture::{
    DETECTIVE, MODEL, SO_FAR, compacted, drafted, exchanges, history, model, pressure, seen, user, weigh,
};
use crate::compaction::{
    AutoCompaction, CompactionStatus, DETECT_CHARS, DETECT_CONFIDENCE, DETECT_MESSAGES, Draft, Family,
    LEFT_OUT, Moment, NotCompacted, Pressure, Profile, Purpose, RequestSize, Scales, Strategy, Summariser,
    Trigger, TriggerMetric, commit, split,
};
use crate::conversation_facts::ToolPatterns;
use crate::history::{History, Role};

/// Returns `topic` with a fixed trigger of 24,000 tokens.
fn topic() -> Profile {
    let trigger = Trigger { history_over: Some(24_000), ..Trigger::default() };
    Profile { trigger, ..Family::Topic.profile() }
}

#[test]
fn a_heavy_conversation_waits_until_a_compaction_pays_or_the_limit_is_near() {
    let heavy = Pressure { limit: Some(100_000), history: 24_001, context: 60_000, ..Pressure::default() };
    let due = |pressure: Pressure| Family::Topic.profile().due(&pressure).map(|reading| reading.limit);
    assert_eq!(due(heavy), None);
    assert_eq!(due(Pressure { pays: true, ..heavy }), Some(24_000));
    assert_eq!(due(Pressure { pays: true, history: 24_000, ..heavy }), None);
    assert_eq!(due(Pressure { context: 95_000, ..heavy }), Some(95_000));
    let status = CompactionStatus::new(AutoCompaction::On, &Family::Topic.profile(), &heavy, None);
    assert_eq!((status.due, status.distance), (false, 0));
    assert_eq!(
        status.why,
        "tokens of the conversation: 24,001 of 24,000, but compacting now would cost more than it saves"
    );
}

#[test]
fn every_profile_compacts_before_a_request_reaches_its_limit() {
    for family in Family::ALL {
        let full = Pressure { limit: Some(40_000), context: 38_000, history: 20_000, ..Pressure::default() };
        let reading = family.profile().due(&full);
        assert_eq!(reading.map(|reading| reading.measured), Some(TriggerMetric::ContextTokens), "{family:?}");
        let files = RequestSize { tokens: 90_000, least: 24_000, limit: Some(40_000), window: Some(44_000) };
        let files = Pressure::of(files, 20_000);
        assert_eq!(files.context, 24_000, "files that do not fit by themselves are left out");
        assert_eq!(family.profile().due(&files), None, "{family:?}");
    }
}

#[test]
fn due_when_enabled_and_over_the_trigger() {
    assert_eq!(topic().moment, Moment::AfterTurn);
    for (history, watched, due) in [
        (24_000, AutoCompaction::On, false),
        (24_001, AutoCompaction::On, true),
        (90_000, AutoCompaction::Off, false),
    ] {
        let pressure = Pressure { history, context: 1_000_000, ..Pressure::default() };
        assert_eq!(CompactionStatus::new(watched, &topic(), &pressure, None).due, due, "{history}");
    }
}

#[test]
fn the_status_has_tokens_threshold_and_percent() {
    let pressure = Pressure { history: 6_000, ..Pressure::default() };
    let status = CompactionStatus::new(AutoCompaction::On, &topic(), &pressure, None);
    assert_eq!((status.enabled, status.measured), (true, Some(TriggerMetric::HistoryTokens)));
    assert_eq!((status.tokens, status.threshold, status.percent), (6_000, 24_000, 25.0));
}

fn kept(talk: &History) -> usize {
    let sent: Vec<_> = talk.sent().cloned().collect();
    split(&sent, &topic(), &Pressure::default(), &weigh).map_or(sent.len(), |split| sent.len() - split.end)
}

#[test]
fn at_least_two_exchanges_stay() {
    assert_eq!(kept(&exchanges(30, 500)), 8, "4,000 tokens");
    assert_eq!(kept(&exchanges(30, 2_000)), 4, "8,000 tokens, but two exchanges");
    assert_eq!(kept(&exchanges(2, 2_000)), 4, "there is nothing old");
    // A summary does not begin an exchange.
    let (after, ..) = compacted(&exchanges(30, 2_000), &topic(), MODEL, |_| Ok(SO_FAR.to_owned()));
    assert_eq!(kept(&after), 4);
}

#[test]
fn exchanges_that_are_over_the_trigger_themselves_do_not_all_stay() {
    assert_eq!(kept(&exchanges(30, 6_000)), 4, "24,000 tokens are not over it");
    assert_eq!(kept(&exchanges(30, 6_001)), 2);
    assert_eq!(kept(&exchanges(30, 12_001)), 0);
    // Exchanges that exceed the window are not kept either, if the window is smaller.
    let sent: Vec<_> = exchanges(30, 2_000).sent().cloned().collect();
    for (window, left) in [(8_000, 4), (7_999, 2)] {
        let pressure = Pressure { window: Some(window), ..Pressure::default() };
        assert_eq!(split(&sent, &topic(), &pressure, &weigh).map(|split| sent.len() - split.end), Some(left));
    }
    // One request, after which an agent works on its own.
    let talk = history([user("mend the roof")].into_iter().chain((0..40).map(|_| model(&"x".repeat(4_000)))));
    assert_eq!(kept(&talk), 4);
    let (after, ..) = compacted(&talk, &topic(), MODEL, |_| Ok(SO_FAR.to_owned()));
    assert!(seen(&after).contains("## Last request\n\nmend the roof"));
}

#[test]
fn a_summary_pair_stands_in_front_of_what_is_kept() {
    let (after, draft, _) = compacted(&exchanges(30, 1_000), &topic(), MODEL, |_| Ok(SO_FAR.to_owned()));
    assert_eq!(draft.strategy, Strategy::Model);
    let messages: Vec<_> = after.sent().collect();
    assert_eq!(messages.len(), 6);
    assert_eq!((messages[0].body.role, messages[1].body.role), (Role::User, Role::Assistant));
    assert_eq!(messages[0].text(), format!("Summary of the conversation so far:\n\n{SO_FAR}"));
    assert!(messages[2].text().starts_with("question 28"));
}

#[test]
fn the_model_looks_at_50_messages_of_1_000_characters() {
    assert_eq!((DETECT_MESSAGES, DETECT_CHARS, DETECT_CONFIDENCE), (50, 1_000, 0.5));
    let talk = exchanges(30, 1_000);
    let mut asked = Vec::new();
    let _ = drafted(&talk, &topic(), pressure(&talk, None), DETECTIVE, |question| {
        asked.push(question.clone());
        Ok(String::new())
    });
    assert_eq!(asked[0].purpose, Purpose::FindTopic);
    let lines: Vec<&str> = asked[0].prompt.lines().filter(|line| line.starts_with('[')).collect();
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
fn cut(talk: &History, answer: &str) -> Draft {
    let mut asked = Vec::new();
    drafted(talk, &topic(), pressure(talk, None), DETECTIVE, |question| {
        asked.push(question.purpose);
        Ok(if question.purpose == Purpose::FindTopic { answer.to_owned() } else { SO_FAR.to_owned() })
    })
    .unwrap()
}

fn at(boundary: usize, confidence: f64) -> String {
    format!("```json\n{{\"boundary\": {boundary}, \"confidence\": {confidence}}}\n```")
}

#[test]
fn a_sure_boundary_inside_what_is_kept_is_the_cut() {
    // The newest eight messages, 42 to 49 of those listed, are always kept.
    let talk = exchanges(30, 500);
    for (boundary, confidence, left) in [(42, 0.5, 8), (44, 1.0, 6), (46, 0.7, 4), (47, 0.7, 4), (49, 0.7, 4)]
    {
        let draft = cut(&talk, &at(boundary, confidence));
        assert_eq!((draft.strategy, draft.after.messages), (Strategy::TopicCut, left), "{boundary}");
        let (after, _) = commit(&talk, draft, &topic()).unwrap();
        assert!(after.sent().next().unwrap().text().starts_with("question "));
    }
}

#[test]
fn other_boundaries_are_summarised() {
    let talk = exchanges(30, 500);
    for answer in [
        at(44, 0.49),
        at(41, 0.9),
        at(0, 1.0),
        at(50, 1.0),
        at(9_999, 1.0),
        at(44, 1.1),
        "{\"boundary\": null, \"confidence\": 0.9}".to_owned(),
        "{\"boundary\": -1, \"confidence\": 0.9}".to_owned(),
        "there is none".to_owned(),
        "}{".to_owned(),
        String::new(),
    ] {
        let draft = cut(&talk, &answer);
        assert_eq!((draft.strategy, draft.after.messages), (Strategy::Model, 10), "{answer}");
    }
}

#[test]
fn without_a_detection_model_it_summarises() {
    let talk = exchanges(30, 500);
    let mut asked = Vec::new();
    let draft = drafted(&talk, &topic(), pressure(&talk, None), MODEL, |question| {
        asked.push((question.purpose, question.max_tokens));
        Ok(SO_FAR.to_owned())
    });
    assert_eq!(asked, [(Purpose::Summarise, 500)]);
    assert_eq!(draft.unwrap().strategy, Strategy::Model);
}

/// A token count for which no summary is short enough.
fn heavy_summaries(message: &crate::history::Message) -> usize {
    if message.text().starts_with("Summary of") { 1_000_000 } else { weigh(message) }
}

#[test]
fn emergency_truncation_only_over_twice_the_trigger() {
    let scales = Scales { message: &heavy_summaries, text: &super::fixture::count };
    let run = |talk: &History| {
        let run = crate::compaction::Run::new(
            talk,
            topic(),
            pressure(talk, None),
            Summariser::Extractive,
            ToolPatterns::default(),
            scales,
        );
        run.unwrap().finish(scales)
    };
    // 48,000 tokens are not more than twice 24,000.
    let Err(NotCompacted::NotShorter { reasons }) = run(&exchanges(24, 1_000)) else { panic!("it was cut") };
    assert!(reasons[0].starts_with("a summary without a model would not be shorter"), "{reasons:?}");

    let talk = exchanges(25, 1_000);
    let draft = run(&talk).unwrap();
    assert_eq!(draft.strategy, Strategy::Truncated);
    let (after, _) = commit(&talk, draft, &topic()).unwrap();
    let messages: Vec<_> = after.sent().collect();
    assert_eq!(messages[0].text(), LEFT_OUT);
    assert!(messages[1].text().starts_with("question 13 "), "the oldest go, and pairs stay");
    assert_eq!(messages.len(), 25);
    assert_eq!(after.messages().len(), 51, "nothing is lost");
}
