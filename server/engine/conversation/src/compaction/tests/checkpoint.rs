//! Tests of the profile `checkpoint`: each documented statement, with the test that proves it.
//!
//! | statement | test |
//! |---|---|
//! | defaults: 50 messages, 8,000, keep 5 or 20,000 tokens, reserve 16,384, cutoff 10 | `checkpoint_defaults` |
//! | automatic compaction can be switched off | `nothing_is_due_when_automatic_compaction_is_off` |
//! | at window - reserve; else 8,000; else 50 messages | `the_limit_is_the_window_minus_the_reserve_else_8_000_tokens_else_a_number_of_messages` |
//! | kept tokens are at most half of the limit | `kept_messages_take_at_most_half_of_the_limit` |
//! | split by tokens, without them by messages | `the_newest_tokens_are_kept`, `without_tokens_the_last_five_messages_are_kept` |
//! | unset visibility is visible; hidden messages are neither sent nor counted | `hidden_messages_are_neither_counted_nor_summarised`, `history/repair/tests.rs` |
//! | kinds tool_result, tool_result_archived, tool_summary | `old_results_in_kept_messages_are_archived_and_digested` |
//! | results are cut to 1,800 characters for the summary | `the_summarizer_sees_1_800_characters_of_each_result` |
//! | structured checkpoint | `the_model_is_asked_for_a_checkpoint`, `questions.rs: the_model_is_asked_for_the_headings_of_the_extractive_summary` |
//! | one cutoff for archived and digested results, 0 is none | `one_cutoff_applies_to_archiving_and_digesting` |
//! | figures of the digest and of the summarizer's view are settings | `the_limits_of_the_digest_are_settings`, `the_lengths_of_calls_and_results_for_the_summarizer_are_settings` |
//! | one user message `[Previous conversation summary]`, then what is kept | `the_summary_is_one_user_message_before_the_kept_messages` |
//! | digest of excess results, `[Compaction tool digest]`, hidden from the user | `old_results_in_kept_messages_are_archived_and_digested` |
//! | runs after each turn | `checkpoint_defaults` |
//! | one recovery when the context is exceeded | `prompt/src/session/tests.rs: only_one_recovery_is_allowed_until_a_prompt_is_answered`, `prompt/src/assembly/tests/budgets.rs: a_recovery_is_allowed_again_once_a_prompt_is_answered` |
//! | before and after figures, error | `a_draft_has_the_sizes_before_and_after` |
//! | estimate: what was billed plus what came later, else all of it | `prompt/src/assembly/tests/budgets.rs: the_context_size_is_the_billed_size_plus_later_messages`, `prompt/src/session/tests.rs: before_the_first_prompt_the_context_size_is_that_of_the_conversation` |
//! | limits of tool outputs, ageing | `tool_output/tests.rs` |

use super::fixture::{
    MODEL, SUMMARY, asked_questions, call, compact, count_message, draft_compaction, exchanges, hidden,
    history, model, model_view, pinned, pressure, result, user,
};
use crate::compaction::{
    AutoCompaction, BuiltinProfile, CompactionMoment, CompactionStatus, ContextPressure, DigestLimits,
    KeepRules, PREVIOUS_SUMMARY, Profile, ProfileOptions, Summariser, TOOL_DIGEST, TriggerMetric,
    WindowReserve, split,
};
use crate::history::{History, MessageKind, Role, Visibility};
use crate::settings::{CompactionSettings, ToolOutputSettings};
use crate::tool_result_archival::{CacheState, plan_archival};

fn checkpoint() -> Profile {
    BuiltinProfile::Checkpoint.profile()
}

#[test]
fn checkpoint_defaults() {
    let profile = checkpoint();
    assert_eq!(profile.moment, CompactionMoment::AfterTurn);
    assert_eq!(
        profile.trigger.reserve,
        Some(WindowReserve { tokens: 16_384, otherwise: 8_000, messages: 50 })
    );
    assert_eq!((profile.keep.tokens, profile.keep.messages), (20_000, 5));
    assert_eq!((profile.summary.result_chars, profile.summary.call_chars), (1_800, 1_200));
    assert_eq!(profile.summary.digest, Some(DigestLimits { kept_results: 10, line_chars: 160, lines: 40 }));
}

fn with(options: ProfileOptions) -> Profile {
    Profile::from_name("checkpoint", &[("checkpoint".to_owned(), options)].into()).unwrap()
}

#[test]
fn the_limit_is_the_window_minus_the_reserve_else_8_000_tokens_else_a_number_of_messages() {
    use TriggerMetric::{ContextTokens, Messages};
    let no_limit = || with(ProfileOptions { max_tokens: Some(0), ..ProfileOptions::default() });
    let never =
        with(ProfileOptions { max_tokens: Some(0), max_messages: Some(0), ..ProfileOptions::default() });
    let window = Some(200_000);
    for (profile, window, context, messages, due) in [
        (checkpoint(), window, 183_615, 900, None),
        (checkpoint(), window, 183_616, 1, Some((ContextTokens, 183_616))),
        (checkpoint(), None, 7_999, 900, None),
        (checkpoint(), None, 8_000, 1, Some((ContextTokens, 8_000))),
        (checkpoint(), Some(16_384), 8_000, 1, Some((ContextTokens, 8_000))),
        (checkpoint(), Some(10_000), 7_999, 1, None),
        (checkpoint(), Some(16_385), 1, 1, Some((ContextTokens, 1))),
        (no_limit(), None, 900_000, 49, None),
        (no_limit(), None, 0, 50, Some((Messages, 50))),
        (no_limit(), window, 183_616, 1, Some((ContextTokens, 183_616))),
        (never, None, 900_000, 900, None),
    ] {
        let pressure =
            ContextPressure { window, context, history: context, messages, ..ContextPressure::default() };
        let reading = profile.due_reading(&pressure).map(|reading| (reading.measured, reading.limit));
        assert_eq!(reading, due, "{pressure:?}");
    }
}

#[test]
fn nothing_is_due_when_automatic_compaction_is_off() {
    let pressure = ContextPressure { context: 9_000, history: 9_000, ..ContextPressure::default() };
    assert!(CompactionStatus::new(AutoCompaction::On, &checkpoint(), &pressure, None).due);
    let off = CompactionStatus::new(AutoCompaction::Off, &checkpoint(), &pressure, None);
    assert!(!off.due && !off.enabled);
    assert_eq!((off.tokens, off.threshold, off.percent), (9_000, 8_000, 112.5));
}

/// Returns the number of newest messages that are kept.
fn kept_messages(conversation: &History, profile: &Profile, window: Option<usize>) -> usize {
    let sent: Vec<_> = conversation.sent_messages().cloned().collect();
    let split =
        split(&sent, profile, &ContextPressure { window, ..ContextPressure::default() }, &count_message);
    split.map_or(sent.len(), |split| sent.len() - split.end)
}

#[test]
fn the_newest_tokens_are_kept() {
    assert_eq!(kept_messages(&exchanges(30, 1_000), &checkpoint(), Some(200_000)), 20);
    assert_eq!(kept_messages(&exchanges(30, 1_001), &checkpoint(), Some(200_000)), 19);
}

#[test]
fn kept_messages_take_at_most_half_of_the_limit() {
    assert_eq!(kept_messages(&exchanges(30, 1_000), &checkpoint(), None), 4);
    assert_eq!(kept_messages(&exchanges(30, 1_000), &checkpoint(), Some(16_384 + 30_000)), 15);
}

#[test]
fn without_tokens_the_last_five_messages_are_kept() {
    let profile = with(ProfileOptions { keep_tokens: Some(0), ..ProfileOptions::default() });
    assert_eq!(kept_messages(&exchanges(30, 1_000), &profile, Some(200_000)), 5);
    assert_eq!(kept_messages(&exchanges(2, 1_000), &profile, Some(200_000)), 4);
}

#[test]
fn the_summary_is_one_user_message_before_the_kept_messages() {
    let (after, draft, _) = compact(&exchanges(30, 1_000), &checkpoint(), MODEL, |_| Ok(SUMMARY.to_owned()));
    let messages: Vec<_> = after.sent_messages().collect();
    assert_eq!(messages.len(), 5);
    assert_eq!((messages[0].body.role, messages[0].body.kind), (Role::User, MessageKind::Summary));
    assert_eq!(messages[0].text(), format!("{PREVIOUS_SUMMARY}\n\n{SUMMARY}"));
    assert!(messages[1].text().starts_with("question 28"));
    assert_eq!(PREVIOUS_SUMMARY, "[Previous conversation summary]");
    assert_eq!((draft.before.messages, draft.after.messages), (60, 5));
}

#[test]
fn a_draft_has_the_sizes_before_and_after() {
    let conversation = exchanges(30, 1_000);
    let draft = draft_compaction(&conversation, &checkpoint(), pressure(&conversation, None), MODEL, |_| {
        Err("timeout".to_owned())
    })
    .unwrap();
    assert_eq!((draft.before.messages, draft.before.tokens), (60, 60_000));
    assert!(draft.after.tokens < 7_000);
    assert_eq!(draft.notes, ["no summary from a model: timeout"]);
}

#[test]
fn hidden_messages_are_neither_counted_nor_summarised() {
    let mut messages: Vec<_> =
        exchanges(10, 1_000).messages().iter().map(|message| message.body.clone()).collect();
    messages.insert(3, hidden(model(&format!("a secret {}", "x".repeat(100_000)))));
    let conversation = history(messages);
    assert_eq!(pressure(&conversation, None).history, 20_000);
    let questions = asked_questions(&conversation, &checkpoint(), MODEL);
    assert!(questions.iter().all(|question| !question.prompt.contains("secret")));
    let (after, ..) = compact(&conversation, &checkpoint(), Summariser::Extractive, |_| Ok(String::new()));
    assert!(!model_view(&after).contains("secret"));
    assert_eq!(after.messages()[3].body, conversation.messages()[3].body);
}

#[test]
fn the_summarizer_sees_1_800_characters_of_each_result() {
    let output = |n: usize| format!("begin {} end", "é".repeat(n - 10));
    for (chars, is_complete) in [(1_800, true), (1_801, false)] {
        let conversation = history([
            user("look"),
            call("1", "read_file", "a"),
            result("1", &output(chars)),
            model(&"x".repeat(40_000)),
        ]);
        let prompt = &asked_questions(&conversation, &checkpoint(), MODEL)[0].prompt;
        assert_eq!(prompt.contains(&output(chars)), is_complete);
        let (_, shown) = prompt.split_once("[result] ").unwrap();
        let (shown, _) = shown.split_once("\n[assistant]").unwrap();
        assert!(shown.starts_with("begin ") && shown.ends_with(" end") && shown.chars().count() <= 1_800);
    }
}

#[test]
fn the_model_is_asked_for_a_checkpoint() {
    let prompt = &asked_questions(&exchanges(30, 1_000), &checkpoint(), MODEL)[0].prompt;
    let headings = [
        "## Goal",
        "## Constraints",
        "## Progress",
        "### Done",
        "### In Progress",
        "### Blocked",
        "## Key Decisions",
        "## Next Steps",
        "## Critical Context",
        "## Files Read",
        "## Files Modified",
    ];
    let places: Vec<Option<usize>> = headings.iter().map(|heading| prompt.find(heading)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{prompt}");
}

#[test]
fn one_cutoff_applies_to_archiving_and_digesting() {
    let conversation = with_results(13);
    let settings = CompactionSettings { profile: "checkpoint".into(), ..CompactionSettings::default() };
    for (cutoff, visible) in [(10, 10), (3, 3), (12, 12), (0, 13)] {
        let results = ToolOutputSettings { cutoff, ..ToolOutputSettings::default() };
        let profile = settings.active_profile(&results);
        let (after, ..) = compact(&conversation, &profile, MODEL, |_| Ok(SUMMARY.to_owned()));
        let shown =
            after.visible_messages().filter(|message| message.body.kind == MessageKind::ToolResult).count();
        assert_eq!(shown, visible, "cutoff {cutoff}");
        assert_eq!(model_view(&after).contains(TOOL_DIGEST), visible < 13, "cutoff {cutoff}");
        let archived = plan_archival(conversation.messages(), &results, &CacheState::Forced);
        let archived = archived.map_or(0, |plan| plan.archive().len());
        assert_eq!(archived, 13 - visible, "cutoff {cutoff}");
    }
    assert_eq!(ToolOutputSettings::default().cutoff, 10);
}

#[test]
fn the_limits_of_the_digest_are_settings() {
    let options =
        ProfileOptions { digest_chars: Some(3), digest_lines: Some(2), ..ProfileOptions::default() };
    let (after, ..) = compact(&with_results(13), &with(options), MODEL, |_| Ok(SUMMARY.repeat(5)));
    assert_eq!(
        after.messages().last().unwrap().text(),
        "[Compaction tool digest]\n- (1 older results)\n- read_file: fil\n- read_file: fil"
    );
}

#[test]
fn the_lengths_of_calls_and_results_for_the_summarizer_are_settings() {
    let long = "z".repeat(3_000);
    let conversation = history([
        user("look"),
        call("1", "read_file", &long),
        result("1", &long),
        model(&"x".repeat(40_000)),
    ]);
    let shown = |result_chars, call_chars| {
        let options = ProfileOptions {
            result_chars: Some(result_chars),
            call_chars: Some(call_chars),
            ..ProfileOptions::default()
        };
        let prompt = asked_questions(&conversation, &with(options), MODEL)[0].prompt.clone();
        let z_count = |begin: &str| {
            let (_, rest) = prompt.split_once(begin).unwrap();
            rest.lines().next().unwrap().matches('z').count()
        };
        (z_count("[result] "), z_count("[calls read_file] "))
    };
    assert_eq!(shown(0, 0), (3_000, 3_000));
    assert_eq!(shown(10, 0), (10, 3_000));
    let (_, call) = shown(0, 100);
    assert!(call < 100, "{call}");
}

/// Builds an exchange to be summarized, followed by `rounds` results of 100 tokens.
fn with_results(rounds: usize) -> History {
    let round = |n: usize| {
        let id = n.to_string();
        [call(&id, "read_file", &format!("f{n}.rs")), result(&id, &format!("file {n}\n{}", "x".repeat(400)))]
    };
    let start = [user("go"), model(&"y".repeat(80_000)), user("look")];
    history(start.into_iter().chain((0..rounds).flat_map(round)))
}

#[test]
fn a_digest_names_the_tool_of_each_result_when_call_ids_repeat() {
    let round = |n: usize| {
        let tool = ["read_file", "search"][n % 2];
        [call("0", tool, "f.rs"), result("0", &format!("file {n}\n{}", "x".repeat(400)))]
    };
    let start = [user("go"), model(&"y".repeat(80_000)), user("look")];
    let conversation = history(start.into_iter().chain((0..13).flat_map(round)));
    let (after, ..) = compact(&conversation, &checkpoint(), MODEL, |_| Ok(SUMMARY.repeat(5)));
    let digest = after.messages().last().unwrap().text();
    assert_eq!(
        digest,
        "[Compaction tool digest]\n- read_file: file 0\n- search: file 1\n- read_file: file 2"
    );
}

#[test]
fn old_results_in_kept_messages_are_archived_and_digested() {
    let (after, ..) = compact(&with_results(10), &checkpoint(), MODEL, |_| Ok(SUMMARY.to_owned()));
    assert!(!model_view(&after).contains(TOOL_DIGEST), "10 may stay");

    let conversation = with_results(13);
    let (after, _, rebuilt) = compact(&conversation, &checkpoint(), MODEL, |_| Ok(SUMMARY.repeat(5)));
    let digest = after.messages().last().unwrap();
    assert_eq!(
        digest.text(),
        "[Compaction tool digest]\n- read_file: file 0\n- read_file: file 1\n- read_file: file 2"
    );
    let body = &digest.body;
    assert_eq!(
        (body.role, body.kind, body.agent, body.user),
        (Role::User, MessageKind::ToolSummary, Visibility::Shown, Visibility::Hidden)
    );
    let archived: Vec<_> = after
        .messages()
        .iter()
        .filter(|message| message.body.kind == MessageKind::ToolResultArchived)
        .collect();
    assert_eq!(archived.len(), 3);
    assert!(archived.iter().all(|message| message.body.agent == Visibility::Hidden && message.body.user == Visibility::Shown));
    let visible =
        after.visible_messages().filter(|message| message.body.kind == MessageKind::ToolResult).count();
    assert_eq!(visible, 10);

    let mut undone = after.clone();
    undone.undo_rebuild(&rebuilt);
    assert_eq!(undone.messages(), conversation.messages());

    // Archived results are neither counted nor digested again.
    let mut grown = after.clone();
    grown.add(model("and so on"));
    let current = ContextPressure { window: Some(200_000), ..pressure(&grown, None) };
    let front: usize = grown.sent_messages().take(2).map(|message| count_message(message)).sum();
    let keep = KeepRules { tokens: current.history - front, ..checkpoint().keep };
    let profile = Profile { keep, ..checkpoint() };
    let draft = draft_compaction(&grown, &profile, current, MODEL, |_| Ok("Again.".to_owned())).unwrap();
    let (again, _) = crate::compaction::commit(&grown, draft, &profile).unwrap();
    assert!(
        model_view(&again).contains("archived 0") && model_view(&again).matches(TOOL_DIGEST).count() == 1,
        "{}",
        model_view(&again)
    );
}

#[test]
fn pinned_results_are_not_archived() {
    let conversation = with_results(13);
    let messages = conversation.messages().iter().map(|message| match message.id.0 {
        4 => pinned(message.body.clone()),
        _ => message.body.clone(),
    });
    let (after, ..) = compact(&history(messages), &checkpoint(), MODEL, |_| Ok(SUMMARY.to_owned()));
    assert!(model_view(&after).contains("user: result 0 file 0"));
    assert!(model_view(&after).contains("user: archived 3"));
}
