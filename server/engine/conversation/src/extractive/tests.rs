//! Tests of whole summaries: of one small conversation in every structure, and properties of any
//! conversation.

use std::sync::Arc;

use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::{Value, json};
use strata_tokens::counting::count_by_chars;

use super::*;
use crate::conversation_facts::labels::REGENERATED_LABELS;
use crate::conversation_facts::{expand_brace_notation, extract_facts, extract_facts_after_summary};
use crate::history::{ContentBlock, History, MessageKind, NewMessage, ResultPart, Role, ToolOutcome};

const ALL: [SummaryStructure; 5] = [
    SummaryStructure::Continuation,
    SummaryStructure::Checkpoint,
    SummaryStructure::Rolling,
    SummaryStructure::Topic,
    SummaryStructure::Handoff,
];

fn call(history: &mut History, tool: &str, input: Value, outcome: ToolOutcome, output: &str) {
    let id = format!("call {}", history.messages().len());
    let call = ContentBlock::ToolCall { id: id.clone(), name: tool.into(), input };
    history.add(NewMessage::new(Role::Assistant, vec![call]));
    let content = vec![ResultPart::Text { text: output.into() }];
    history
        .add(NewMessage::new(Role::User, vec![ContentBlock::ToolResult { call_id: id, content, outcome }]));
}

/// Returns a conversation about repairing a brewery's kettle control.
fn conversation() -> History {
    let mut history = History::default();
    let add_text = |history: &mut History, role, text: &str| {
        history.add(NewMessage::text(role, text));
    };
    add_text(
        &mut history,
        Role::User,
        "The kettle overshoots by 4 degrees.\nMake `HeatLoop` hold the mash at 66.",
    );
    add_text(&mut history, Role::Assistant, "Let me look at the control loop.");
    call(&mut history, "Grep", json!({ "pattern": "HeatLoop" }), ToolOutcome::Ok, "src/heat/heat_loop.rs");
    call(
        &mut history,
        "Read",
        json!({ "file_path": "/brew/src/heat/heat_loop.rs" }),
        ToolOutcome::Ok,
        "pub struct HeatLoop",
    );
    call(
        &mut history,
        "Read",
        json!({ "file_path": "/brew/src/probe.rs" }),
        ToolOutcome::Ok,
        "pub struct Probe",
    );
    let findings = "The root cause is that `HeatLoop` ignores the delay of the probe. The plan is to add a model of the \
                 kettle to `HeatLoop`.";
    add_text(&mut history, Role::Assistant, findings);
    add_text(
        &mut history,
        Role::User,
        "Good. Don't change the serial protocol, and let's use integer math only.",
    );
    add_text(
        &mut history,
        Role::Assistant,
        "Going with fixed-point numbers instead of floats in `HeatLoop`.",
    );
    let todos = json!({ "todos": [
        { "content": "Model the kettle", "status": "completed" },
        { "content": "Tune the gains", "status": "in_progress" },
        { "content": "Write the manual", "status": "pending" },
    ]});
    call(&mut history, "TodoWrite", todos, ToolOutcome::Ok, "ok");
    for path in ["/brew/src/heat/model.rs", "/brew/src/heat/heat_loop.rs"] {
        let output = if path.ends_with("model.rs") { "File created successfully" } else { "updated" };
        call(&mut history, "Write", json!({ "file_path": path }), ToolOutcome::Ok, output);
    }
    add_text(
        &mut history,
        Role::Assistant,
        "I've added the model to `HeatLoop`. The first gains did not work.",
    );
    call(
        &mut history,
        "Bash",
        json!({ "command": "cargo test -p heat" }),
        ToolOutcome::Error,
        "Exit code 101\ntest holds_66 ... FAILED",
    );
    add_text(&mut history, Role::User, "Try a smaller gain.");
    history
}

fn check(structure: SummaryStructure, expected: Expect) {
    let budget = SummaryBudget { tokens: 2_000, words: Some((300, 800)) };
    let history = conversation();
    let text =
        summarise(history.messages(), structure, &budget, &ToolPatterns::default(), None, &count_by_chars);
    expected.assert_eq(&text);
}

#[test]
fn continuation() {
    check(
        SummaryStructure::Continuation,
        expect![[r#"
        ## Analysis

        ### Initial Request
        - Asked first: The kettle overshoots by 4 degrees. Make `HeatLoop` hold the mash at 66.

        ### Exploration Phase
        - Steps by tool: Read 2, Bash 1, Grep 1
        - Found: The root cause is that `HeatLoop` ignores the delay of the probe.

        ### Planning / Design Phase
        - Planned: The plan is to add a model of the kettle to `HeatLoop`.

        ### Decisions / Constraints
        - Required: Don't change the serial protocol, and let's use integer math only.
        - Decided: Going with fixed-point numbers instead of floats in `HeatLoop`.

        ### Implementation Work
        - Done: I've added the model to `HeatLoop`.
        - Ran: cargo test -p heat (failed)

        ### Open Issues / Remaining Work
        - Unresolved: cargo test -p heat -> test holds_66 ... FAILED
        - Did not work: The first gains did not work.
        - Not finished: Tune the gains; Write the manual

        ## Summary

        ### Primary Request and Intent
        - Asked: Good. Don't change the serial protocol, and let's use integer math only.
        - Asked last: Try a smaller gain.

        ### Key Technical Concepts
        - `HeatLoop`: The root cause is that `HeatLoop` ignores the delay of the probe.

        ### Artifacts and Code Sections
        - edited: /brew/src/heat/heat_loop.rs
        - created: /brew/src/heat/model.rs
        - read: /brew/src/probe.rs
        - About heat_loop.rs (1 edit): `pub struct HeatLoop`
        - About probe.rs: `pub struct Probe`

        ### Open Tasks / Next Steps
        - ✅ Model the kettle
        - 🔄 Tune the gains
        - ⏳ Write the manual
        - Last actions: Grep HeatLoop; Read /brew/src/heat/heat_loop.rs; Read /brew/src/probe.rs; Write /brew/src/heat/model.rs; Write /brew/src/heat/heat_loop.rs; Bash cargo test -p heat (failed)
        - Last said: I've added the model to `HeatLoop`. The first gains did not work."#]],
    );
}

#[test]
fn checkpoint() {
    check(
        SummaryStructure::Checkpoint,
        expect![[r#"
        ## Goal
        - Asked first: The kettle overshoots by 4 degrees. Make `HeatLoop` hold the mash at 66.
        - Asked: Good. Don't change the serial protocol, and let's use integer math only.
        - Asked last: Try a smaller gain.

        ## Constraints
        - Required: Don't change the serial protocol, and let's use integer math only.

        ## Progress

        ### Done
        - ✅ Model the kettle
        - Done: I've added the model to `HeatLoop`.

        ### In Progress
        - 🔄 Tune the gains
        - Last actions: Grep HeatLoop; Read /brew/src/heat/heat_loop.rs; Read /brew/src/probe.rs; Write /brew/src/heat/model.rs; Write /brew/src/heat/heat_loop.rs; Bash cargo test -p heat (failed)
        - Last said: I've added the model to `HeatLoop`. The first gains did not work.

        ### Blocked
        - Unresolved: cargo test -p heat -> test holds_66 ... FAILED
        - Did not work: The first gains did not work.

        ## Key Decisions
        - Decided: Going with fixed-point numbers instead of floats in `HeatLoop`.

        ## Next Steps
        - ⏳ Write the manual
        - Planned: The plan is to add a model of the kettle to `HeatLoop`.

        ## Critical Context
        - Steps by tool: Read 2, Bash 1, Grep 1
        - Found: The root cause is that `HeatLoop` ignores the delay of the probe.
        - `HeatLoop`: The root cause is that `HeatLoop` ignores the delay of the probe.
        - Ran: cargo test -p heat (failed)

        ## Files Read
        - read: /brew/src/probe.rs

        ## Files Modified
        - edited: /brew/src/heat/heat_loop.rs
        - created: /brew/src/heat/model.rs"#]],
    );
}

#[test]
fn rolling() {
    check(
        SummaryStructure::Rolling,
        expect![[r#"
        ## Key Decisions
        - Required: Don't change the serial protocol, and let's use integer math only.
        - Decided: Going with fixed-point numbers instead of floats in `HeatLoop`.

        ## Working Approaches
        - Done: I've added the model to `HeatLoop`.
        - Found: The root cause is that `HeatLoop` ignores the delay of the probe.

        ## Failed Approaches
        - Did not work: The first gains did not work.
        - Unresolved: cargo test -p heat -> test holds_66 ... FAILED

        ## Current State
        - Asked first: The kettle overshoots by 4 degrees. Make `HeatLoop` hold the mash at 66.
        - Asked: Good. Don't change the serial protocol, and let's use integer math only.
        - Asked last: Try a smaller gain.
        - ✅ Model the kettle
        - edited: /brew/src/heat/heat_loop.rs
        - created: /brew/src/heat/model.rs
        - read: /brew/src/probe.rs
        - Ran: cargo test -p heat (failed)
        - Last said: I've added the model to `HeatLoop`. The first gains did not work.

        ## Next Steps
        - 🔄 Tune the gains
        - ⏳ Write the manual
        - Planned: The plan is to add a model of the kettle to `HeatLoop`."#]],
    );
}

#[test]
fn topic() {
    check(
        SummaryStructure::Topic,
        expect![[r#"
        ## Asked
        - Asked first: The kettle overshoots by 4 degrees. Make `HeatLoop` hold the mash at 66.
        - Asked: Good. Don't change the serial protocol, and let's use integer math only.
        - Asked last: Try a smaller gain.

        ## Decided
        - Required: Don't change the serial protocol, and let's use integer math only.
        - Decided: Going with fixed-point numbers instead of floats in `HeatLoop`.

        ## Done
        - edited: /brew/src/heat/heat_loop.rs
        - created: /brew/src/heat/model.rs
        - read: /brew/src/probe.rs
        - Done: I've added the model to `HeatLoop`.
        - Ran: cargo test -p heat (failed)
        - Last said: I've added the model to `HeatLoop`. The first gains did not work.

        ## Open
        - Unresolved: cargo test -p heat -> test holds_66 ... FAILED
        - 🔄 Tune the gains
        - ⏳ Write the manual"#]],
    );
}

#[test]
fn handoff() {
    check(
        SummaryStructure::Handoff,
        expect![[r#"
        ## 1. User's Primary Goals and Intent
        - Asked first: The kettle overshoots by 4 degrees. Make `HeatLoop` hold the mash at 66.
        - Asked: Good. Don't change the serial protocol, and let's use integer math only.
        - Required: Don't change the serial protocol, and let's use integer math only.

        ## 2. Conversation Timeline and Progress
        - Steps by tool: Read 2, Bash 1, Grep 1
        - Planned: The plan is to add a model of the kettle to `HeatLoop`.
        - Done: I've added the model to `HeatLoop`.

        ## 3. Technical Context and Decisions
        - Decided: Going with fixed-point numbers instead of floats in `HeatLoop`.
        - `HeatLoop`: The root cause is that `HeatLoop` ignores the delay of the probe.
        - Found: The root cause is that `HeatLoop` ignores the delay of the probe.

        ## 4. Files and Code Changes
        - edited: /brew/src/heat/heat_loop.rs
        - created: /brew/src/heat/model.rs
        - read: /brew/src/probe.rs
        - About heat_loop.rs (1 edit): `pub struct HeatLoop`
        - About probe.rs: `pub struct Probe`

        ## 5. Active Work and Last Actions (CRITICAL)
        - 🔄 Tune the gains
        - Ran: cargo test -p heat (failed)
        - Last actions: Grep HeatLoop; Read /brew/src/heat/heat_loop.rs; Read /brew/src/probe.rs; Write /brew/src/heat/model.rs; Write /brew/src/heat/heat_loop.rs; Bash cargo test -p heat (failed)
        - Last said: I've added the model to `HeatLoop`. The first gains did not work.

        ## 6. Unresolved Issues and Pending Tasks
        - Unresolved: cargo test -p heat -> test holds_66 ... FAILED
        - Did not work: The first gains did not work.
        - ✅ Model the kettle
        - ⏳ Write the manual

        ## 7. Immediate Next Step
        - Go on with: Tune the gains
        - Asked last: Try a smaller gain."#]],
    );
}

#[test]
fn requests_and_changed_files_are_dropped_last() {
    let history = conversation();
    let summary_of = |tokens| {
        let budget = SummaryBudget { tokens, words: None };
        summarise(
            history.messages(),
            SummaryStructure::Checkpoint,
            &budget,
            &ToolPatterns::default(),
            None,
            &count_by_chars,
        )
    };
    expect![[r#"
        ## Goal
        - Asked first: The kettle overshoots by 4 degrees. Make `HeatLoop` hold the mash at 66.
        - Asked last: Try a smaller gain.

        ## Progress

        ### Done
        - Done: I've added the model to `HeatLoop`.

        ### In Progress
        - 🔄 Tune the gains

        ### Blocked
        - Unresolved: cargo test -p heat -> test holds_66 ... FAILED

        ## Next Steps
        - ⏳ Write the manual

        ## Files Modified
        - edited: /brew/src/heat/heat_loop.rs
        - created: /brew/src/heat/model.rs"#]]
    .assert_eq(&summary_of(110));
    assert_eq!(summary_of(5), "");
}

#[test]
fn a_conversation_without_facts_has_an_empty_summary() {
    let budget = SummaryBudget { tokens: 1_000, words: None };
    for structure in ALL {
        assert_eq!(summarise(&[], structure, &budget, &ToolPatterns::default(), None, &count_by_chars), "");
    }
}

#[test]
fn a_second_compaction_keeps_the_facts_of_the_first() {
    let history = conversation();
    let budget = SummaryBudget { tokens: 1_200, words: None };
    for structure in ALL {
        let summary_of = |messages: &[Arc<Message>], previous: Option<&str>| {
            summarise(messages, structure, &budget, &ToolPatterns::default(), previous, &count_by_chars)
        };
        let first = summary_of(history.messages(), None);
        let mut next = History::default();
        let summary =
            NewMessage { kind: MessageKind::Summary, ..NewMessage::text(Role::User, first.clone()) };
        next.add(summary);
        next.add(NewMessage::text(Role::User, "Now document it in docs/kettle.md"));
        for path in ["/brew/docs/kettle.md", "/brew/src/heat/heat_loop.rs"] {
            call(&mut next, "Edit", json!({ "file_path": path }), ToolOutcome::Ok, "updated");
        }
        let among = summary_of(next.messages(), None);
        assert_eq!(summary_of(next.messages(), Some(&first)), among, "a summary counts once");
        let beside = summary_of(&next.messages()[1..], Some(&first));
        for second in [among, beside] {
            let paths = expand_brace_notation(&second);
            for path in [
                "/brew/src/heat/model.rs",
                "/brew/src/heat/heat_loop.rs",
                "/brew/src/probe.rs",
                "/brew/docs/kettle.md",
            ] {
                assert!(paths.iter().any(|named| named == path), "{structure:?} forgot {path}:\n{second}");
            }
            for words in [
                "hold the mash at 66",
                "Try a smaller gain",
                "Now document it",
                "Don't change the serial protocol",
                "fixed-point numbers",
                "holds_66",
                "Tune the gains",
                "Write the manual",
            ] {
                assert!(second.contains(words), "{structure:?} forgot {words:?}:\n{second}");
            }
        }
    }
}

#[test]
fn lines_about_the_whole_conversation_are_not_carried_over() {
    let history = conversation();
    let tools = ToolPatterns::default();
    let known = extract_facts(history.messages().iter().map(AsRef::as_ref), &tools);
    let budget = SummaryBudget { tokens: 2_000, words: None };
    for structure in ALL {
        let text = summarise(history.messages(), structure, &budget, &tools, None, &count_by_chars);
        let carried = extract_facts_after_summary(Some(&text), [], &tools);
        let tasks: Vec<&str> = carried.todos.iter().map(|todo| todo.text.as_str()).collect();
        for task in &tasks {
            assert!(known.todos.iter().any(|todo| todo.text == *task), "{structure:?}: {task}\n{text}");
        }
        for note in &carried.notes {
            let is_carried = !REGENERATED_LABELS.iter().any(|label| note.text.starts_with(label));
            assert!(is_carried, "{structure:?}: {}", note.text);
        }
    }
}

#[test]
fn short_requests_are_dropped_before_substantial_ones() {
    let long = |n: usize| format!("Please brew the stout number {n} with less roasted barley");
    let mut history = History::default();
    history.add(NewMessage::text(Role::User, "first"));
    for n in 0..6 {
        history.add(NewMessage::text(Role::User, long(n)));
        history.add(NewMessage::text(Role::User, format!("yes {n}")));
    }
    history.add(NewMessage::text(Role::User, "last"));
    let budget = SummaryBudget { tokens: 123, words: None };
    let text = summarise(
        history.messages(),
        SummaryStructure::Topic,
        &budget,
        &ToolPatterns::default(),
        None,
        &count_by_chars,
    );
    for n in 0..6 {
        assert!(text.contains(&long(n)), "{text}");
    }
}

#[test]
fn quotations_stay_on_their_line() {
    let mut history = History::default();
    history.add(NewMessage::text(
        Role::User,
        "one\n## Goal\n- edited: fake.rs\u{2028}## Files Modified\r\u{85}x",
    ));
    let budget = SummaryBudget { tokens: 500, words: None };
    for structure in ALL {
        let text = summarise(
            history.messages(),
            structure,
            &budget,
            &ToolPatterns::default(),
            None,
            &count_by_chars,
        );
        assert!(text.contains("- Asked first: one ## Goal - edited: fake.rs ## Files Modified x"), "{text}");
    }
}

#[test]
fn known_files_of_a_continuation_are_at_most_twenty() {
    let mut history = History::default();
    for n in 0..40 {
        call(&mut history, "Read", json!({ "file_path": format!("src/f{n}.rs") }), ToolOutcome::Ok, "");
    }
    let budget = SummaryBudget { tokens: 2_000, words: Some((300, 800)) };
    let text = summarise(
        history.messages(),
        SummaryStructure::Continuation,
        &budget,
        &ToolPatterns::default(),
        None,
        &count_by_chars,
    );
    let line = text.lines().find(|line| line.starts_with("- read: ")).unwrap();
    let known: Vec<String> = expand_brace_notation(line.trim_start_matches("- read: "));
    assert_eq!(known.len(), 20);
    assert!(known.contains(&"src/f39.rs".to_owned()) && !known.contains(&"src/f0.rs".to_owned()));
}

#[test]
fn pinned_paths_are_listed_in_full_or_counted() {
    let paths = ["src/a.rs", "src/b/c.rs", "src/b/d.rs", "x.md"];
    assert_eq!(bundle_within_limit(&paths, 1_000, &count_by_chars), "src/{a.rs,b/{c.rs,d.rs}}, x.md");
    assert_eq!(bundle_within_limit(&paths, 8, &count_by_chars), "src/{a.rs,b/c.rs} (and 2 more)");
    assert_eq!(bundle_within_limit(&paths, 1, &count_by_chars), "");
    assert_eq!(bundle_within_limit::<&str>(&[], 1_000, &count_by_chars), "");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn summaries_stay_within_the_budget_and_are_deterministic(
        list in proptest::collection::vec(crate::conversation_facts::tests::message(), 0..12),
        tokens in 0usize..400,
        words in proptest::option::of(0usize..200),
        previous in proptest::option::of(any::<String>()),
    ) {
        let mut history = History::default();
        history.replace_messages(list);
        let budget = SummaryBudget { tokens, words: words.map(|most| (0, most)) };
        // An irregular token count, which is not proportional to the length.
        let by_commas = |text: &str| text.len() / 3 + text.matches(',').count() * 2;
        let counts: [&dyn Fn(&str) -> usize; 2] = [&count_by_chars, &by_commas];
        for (structure, count) in ALL.into_iter().flat_map(|structure| counts.map(|count| (structure, count))) {
            let summary = || summarise(history.messages(), structure, &budget, &ToolPatterns::default(), previous.as_deref(), count);
            let text = summary();
            prop_assert!(count(&text) <= tokens);
            prop_assert!(words.is_none_or(|most| text.split_whitespace().count() <= most));
            prop_assert_eq!(text, summary());
        }
    }

    #[test]
    fn files_survive_two_compactions(
        paths in proptest::collection::btree_set("(/w/)?([a-c]{1,2}/){0,3}[a-f ]{0,3}[a-f]\\.rs", 1..20),
    ) {
        let mut history = History::default();
        for path in &paths {
            call(&mut history, "Edit", json!({ "file_path": path }), ToolOutcome::Ok, "");
        }
        let tools = ToolPatterns::default();
        let changed: Vec<String> = extract_facts(history.messages().iter().map(AsRef::as_ref), &tools).files.into_keys().collect();
        let budget = SummaryBudget { tokens: 2_000, words: Some((300, 800)) };
        for structure in ALL {
            let first = summarise(history.messages(), structure, &budget, &tools, None, &count_by_chars);
            let second = summarise(&[], structure, &budget, &tools, Some(&first), &count_by_chars);
            for path in &changed {
                prop_assert!(expand_brace_notation(&first).contains(path), "{} not in {}", path, first);
                prop_assert!(expand_brace_notation(&second).contains(path), "{} not in {}", path, second);
            }
        }
    }

    #[test]
    fn pinned_paths_fit_the_budget_and_are_read_back(
        paths in proptest::collection::vec("(/w/)?([a-c]{1,2}/){0,3}[a-f ,{]{0,3}[a-f]\\.rs", 0..30),
        limit in 0usize..60,
    ) {
        let text = bundle_within_limit(&paths, limit, &count_by_chars);
        prop_assert!(count_by_chars(&text) <= limit);
        let all = bundle_within_limit(&paths, usize::MAX, &count_by_chars);
        let read = expand_brace_notation(&all);
        for path in &paths {
            prop_assert!(read.iter().any(|named| named == path), "{} not in {}", path, all);
        }
    }
}
