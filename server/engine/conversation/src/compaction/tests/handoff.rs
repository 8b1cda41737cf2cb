//! Tests of the profile `handoff`: each documented statement, with the test that proves it.
//!
//! | statement | test |
//! |---|---|
//! | before each turn, at 200,000 tokens of context | `due_at_200_000_tokens_of_context_before_a_turn` |
//! | 0 disables | `a_threshold_of_0_disables` |
//! | context tokens are what was billed for prompt and answer | `prompt/src/assembly/tests/budgets.rs: the_context_size_is_the_billed_size_plus_later_messages`, `prompt/src/session/tests.rs: before_the_first_prompt_the_context_size_is_that_of_the_conversation` |
//! | the history is cleaned first: "Tool no response", "Understood." | `the_summarizer_gets_a_repaired_history`, `history/repair/tests.rs: only_results_at_the_end_are_acknowledged` |
//! | seven sections, continue exactly where it stopped | `the_model_is_asked_for_seven_sections`, `the_summary_without_a_model_has_the_same_sections` |
//! | its own rules: precise, with code, sections 4 and 5 with snippets | `the_handoff_rules_ask_for_code`, `the_summary_without_a_model_shows_code_in_sections_4_and_5` |
//! | the summarizer sees the conversation whole | `the_summarizer_gets_calls_and_results_in_full` |
//! | one user message: summary, then the last request verbatim | `a_handoff_leaves_one_message_with_the_last_request` |
//! | the last intent is preserved again and again | `a_second_handoff_carries_the_request_of_the_first` |
//! | answers, calls, results and old exchanges are removed | `a_handoff_leaves_one_message_with_the_last_request` |
//! | the system prompt stays | `prompt/src/assembly/tests/flat.rs` (it is not a part of the conversation) |
//! | tokens are counted again | `prompt/src/session/tests.rs: a_handoff_recounts_tokens_and_clears_activity_lists` |
//! | new interaction log | `prompt/src/session/tests.rs: a_handoff_recounts_tokens_and_clears_activity_lists` |
//! | memory outlives it | `tests/stdio/workspace_context.rs: rules_skills_and_memory_stand_in_the_system_prompt_of_a_trusted_workspace` |

use serde_json::json;

use super::fixture::{
    MODEL, asked_questions, call, compact, exchanges, history, model, model_view, result, user,
};
use crate::compaction::{
    BuiltinProfile, CompactionMoment, ContextPressure, LAST_REQUEST, Profile, ProfileOptions, Summariser,
};
use crate::history::{ContentBlock, NewMessage, Role};

fn handoff() -> Profile {
    BuiltinProfile::Handoff.profile()
}

#[test]
fn due_at_200_000_tokens_of_context_before_a_turn() {
    assert_eq!(handoff().moment, CompactionMoment::BeforeAssembling);
    let at = |context| ContextPressure { context, history: 500_000, ..ContextPressure::default() };
    assert_eq!(handoff().due_reading(&at(199_999)), None);
    assert!(handoff().due_reading(&at(200_000)).is_some());
}

/// The files of the request are more than any compaction could free.
#[test]
fn a_conversation_is_compacted_only_if_the_request_then_fits() {
    use crate::compaction::BuiltinProfile::{Checkpoint, Continuation, Handoff};
    // Returns how many of 40 turns with `turn` tokens each are compacted next to `other_tokens` tokens.
    let compactions = |profile: &Profile, other_tokens: usize, turn: usize, window: Option<usize>| {
        let (mut history, mut compactions) = (0, 0);
        for _ in 0..40 {
            history += turn;
            let pressure = ContextPressure {
                history,
                context: other_tokens + history,
                window,
                ..ContextPressure::default()
            };
            if profile.due_reading(&pressure).is_some() {
                compactions += 1;
                history = profile.keep.tokens.min(4_000) + profile.summary.tokens.min(2_000);
            }
        }
        compactions
    };
    for (builtin, other_tokens, turn, window, most) in [
        (Handoff, 377_000, 3_000, Some(1_000_000), 0),
        (Handoff, 190_000, 3_000, Some(1_000_000), 5),
        (Handoff, 100_000, 3_000, Some(1_000_000), 1),
        (Checkpoint, 12_000, 500, None, 10),
        (Checkpoint, 500_000, 3_000, Some(200_000), 0),
        (Continuation, 180_000, 3_000, Some(200_000), 0),
        (Continuation, 100_000, 3_000, Some(200_000), 3),
    ] {
        let count = compactions(&builtin.profile(), other_tokens, turn, window);
        assert!(count <= most, "{builtin:?} next to {other_tokens} tokens: {count}");
    }
}

#[test]
fn a_threshold_of_0_disables() {
    let options = ProfileOptions { context_from: Some(0), ..ProfileOptions::default() };
    let custom = [("handoff".to_owned(), options)].into();
    let profile = Profile::from_name("handoff", &custom).unwrap();
    assert_eq!(
        profile.due_reading(&ContextPressure { context: 10_000_000, ..ContextPressure::default() }),
        None
    );
    let options = ProfileOptions { context_from: Some(5), ..ProfileOptions::default() };
    let profile = Profile::from_name("handoff", &[("handoff".to_owned(), options)].into()).unwrap();
    assert!(
        profile
            .due_reading(&ContextPressure { context: 5, history: 5, ..ContextPressure::default() })
            .is_some()
    );
}

#[test]
fn the_summarizer_gets_a_repaired_history() {
    let conversation = history([
        user("go"),
        call("1", "run", "a"),
        user("never mind"),
        call("2", "run", "b"),
        result("2", "out"),
    ]);
    let prompt = &asked_questions(&conversation, &handoff(), MODEL)[0].prompt;
    assert!(
        prompt.contains("[calls run] {\"file_path\":\"a\"}\n[user]\n[result] Tool no response\n"),
        "{prompt}"
    );
    assert!(prompt.contains("[result] out\n[assistant]\nUnderstood.\n</conversation>"), "{prompt}");
}

const SECTIONS: [&str; 7] = [
    "1. User's Primary Goals and Intent",
    "2. Conversation Timeline and Progress",
    "3. Technical Context and Decisions",
    "4. Files and Code Changes",
    "5. Active Work and Last Actions",
    "6. Unresolved Issues and Pending Tasks",
    "7. Immediate Next Step",
];

fn in_order(text: &str) -> bool {
    let places: Vec<Option<usize>> = SECTIONS.iter().map(|section| text.find(section)).collect();
    places.iter().all(Option::is_some) && places.is_sorted()
}

#[test]
fn the_model_is_asked_for_seven_sections() {
    let prompt = &asked_questions(&exchanges(10, 100), &handoff(), MODEL)[0].prompt;
    assert!(in_order(prompt), "{prompt}");
    assert!(prompt.contains("able to continue exactly where this stopped without asking"));
}

#[test]
fn the_handoff_rules_ask_for_code() {
    let prompt = &asked_questions(&exchanges(10, 100), &handoff(), MODEL)[0].prompt;
    assert!(!prompt.contains("without quoting them"), "{prompt}");
    for instruction in [
        "detailed but concise",
        "precise about technical details, file names and code",
        "in sections 4 and 5 quote the few lines of code that matter",
        "## 5. Active Work and Last Actions (CRITICAL)\n",
        "without asking clarifying questions",
        "the exact priorities and constraints",
        "the initial requests and how each was addressed",
        "major decisions and why; problems and how they were solved; where things stand",
        "technologies, frameworks and tools; architectural patterns and design decisions; technical constraints; code patterns",
        "full path, its purpose and why it matters, what changed with the key lines of code, its current state",
        "the task in hand, the last completed action, whatever is partial or in the middle of being implemented",
        "errors that still need attention, tasks that were requested and not started, decisions that await the user",
        "the user's most recent request, the current state of the implementation, and work that was interrupted",
    ] {
        assert!(prompt.contains(instruction), "{instruction}\n{prompt}");
    }
}

#[test]
fn the_summarizer_gets_calls_and_results_in_full() {
    let long = "z".repeat(9_000);
    let conversation =
        history([user("look"), call("1", "read_file", &long), result("1", &long), model("fine")]);
    let prompt = &asked_questions(&conversation, &handoff(), MODEL)[0].prompt;
    assert_eq!(prompt.matches(&long).count(), 2, "{prompt}");
}

#[test]
fn the_summary_without_a_model_shows_code_in_sections_4_and_5() {
    let edit = |id: &str, path: &str, old: &str, new: &str| {
        let input = json!({ "file_path": path, "old_string": old, "new_string": new });
        let call = ContentBlock::ToolCall { id: id.into(), name: "edit_file".into(), input };
        [NewMessage::new(Role::Assistant, vec![call]), result(id, "updated")]
    };
    let mut conversation = unfinished_work();
    let edits = [
        edit("a", "src/parser.rs", "let a = 1;", "let a = 2;\nlet b = a;"),
        edit("b", "src/lexer.rs", "", "fn next(&mut self) -> Token {"),
    ];
    for message in edits.into_iter().flatten() {
        conversation.add(message);
    }
    conversation.add(model(&"words ".repeat(900)));
    let (after, ..) = compact(&conversation, &handoff(), Summariser::Extractive, |_| Ok(String::new()));
    let view = model_view(&after);
    let (_, fourth) = view.split_once("## 4. ").unwrap();
    let (fourth, fifth) = fourth.split_once("## 5. ").unwrap();
    let (fifth, _) = fifth.split_once("## 6. ").unwrap();
    assert!(fourth.contains("\n- Changed parser.rs: `let a = 2; let b = a;`\n"), "{view}");
    assert!(fourth.contains("\n- Changed lexer.rs: `fn next(&mut self) -> Token {`\n"), "{view}");
    assert!(fifth.contains("\n- Last change: lexer.rs: `fn next(&mut self) -> Token {`\n"), "{view}");
    let (again, ..) = {
        let mut more = after.clone();
        more.add(model(&"words ".repeat(900)));
        compact(&more, &handoff(), Summariser::Extractive, |_| Ok(String::new()))
    };
    assert!(super::fixture::model_view(&again).contains("\n- Changed parser.rs: `let a = 2; let b = a;`\n"));
}

#[test]
fn the_summary_without_a_model_has_the_same_sections() {
    let conversation = exchanges(10, 1_000);
    let (after, ..) = compact(&conversation, &handoff(), Summariser::Extractive, |_| Ok(String::new()));
    assert!(in_order(&model_view(&after)), "{}", model_view(&after));
}

fn unfinished_work() -> crate::history::History {
    let long = "text of it ".repeat(100);
    history([
        user("first request"),
        model(&long),
        user("fix the parser\nand say when"),
        call("1", "read_file", "src/parser.rs"),
        result("1", &long),
        model("I am at it."),
    ])
}

#[test]
fn a_handoff_leaves_one_message_with_the_last_request() {
    let (after, ..) = compact(&unfinished_work(), &handoff(), MODEL, |_| Ok("The summary.".to_owned()));
    assert_eq!(
        model_view(&after),
        "user: The summary.\n\nLast request from user was: fix the parser\nand say when\n"
    );
    assert_eq!(after.messages().len(), 7, "the rest is hidden, not gone");
}

#[test]
fn a_conversation_without_requests_has_no_last_request() {
    let conversation = history((0..10).map(|n| model(&format!("{n} {}", "words ".repeat(50)))));
    let (after, ..) = compact(&conversation, &handoff(), MODEL, |_| Ok("The summary.".to_owned()));
    assert_eq!(model_view(&after), "user: The summary.\n");
}

#[test]
fn a_second_handoff_carries_the_request_of_the_first() {
    let (mut after, ..) = compact(&unfinished_work(), &handoff(), MODEL, |_| Ok("The summary.".to_owned()));
    for n in 0..5 {
        after.add(call(&n.to_string(), "run", "make"));
        after.add(result(&n.to_string(), &"out ".repeat(100)));
    }
    for summariser in [MODEL, Summariser::Extractive] {
        let (again, ..) = compact(&after, &handoff(), summariser, |_| Ok("Another.".to_owned()));
        let view = model_view(&again);
        assert!(view.ends_with("\n\nLast request from user was: fix the parser\nand say when\n"), "{view}");
        assert_eq!(view.matches(LAST_REQUEST).count(), 1, "{view}");
    }
    // Profiles without such a sentence add the request under a heading, and read it from there.
    let checkpoint = Profile { keep: handoff().keep, ..BuiltinProfile::Checkpoint.profile() };
    let (mut other, ..) = compact(&after, &checkpoint, MODEL, |_| Ok("Third.".to_owned()));
    let heading = "## Last request\n\nfix the parser\nand say when";
    assert!(model_view(&other).contains(heading), "{}", model_view(&other));
    other.add(model(&"words ".repeat(500)));
    let (again, ..) = compact(&other, &checkpoint, MODEL, |_| Ok("Fourth.".to_owned()));
    assert!(
        model_view(&again).contains(heading) && !model_view(&again).contains("Third."),
        "{}",
        model_view(&again)
    );
}
