//! Tests of the profile `continuation`: each documented statement, with the test that proves it.
//!
//! | statement | test |
//! |---|---|
//! | compaction over 80 % of the window | `due_over_80_percent_of_the_window` |
//! | or with more than 25 messages | `due_with_more_than_25_messages` |
//! | before each request to the model | `continuation_defaults` |
//! | 50 % afterwards (clip results, then the summary, then say so) | `aims_for_half_of_the_window`, `a_note_says_that_half_of_the_window_was_not_reached` |
//! | exact header | `the_summary_starts_with_the_exact_header` |
//! | analysis by six phases, summary by four themes, status marks | `the_model_is_asked_for_phases_and_themes`, `the_summary_without_a_model_has_the_same_sections` |
//! | what to preserve and remove, names over code, planned/discussed, 300-800 words | `the_prompt_contains_the_rules_of_the_profile` |
//! | first message, summary, last six | `the_first_message_a_summary_and_the_last_six_are_kept` |
//! | known files of the middle messages, up to 20, each with a brief description | `at_most_20_known_files_are_named`, `files_are_described_with_and_without_a_model`, `known_files_are_named_when_summaries_are_merged` |
//! | files read are tracked and listed after what is cached, 20 of them | `prompt/src/assembly/tests/tiers.rs: session_state_follows_all_cached_content` |
//! | the list of files read is cleared, the last 10 steps stay | `prompt/src/session/tests.rs: a_compaction_forgets_read_files_and_keeps_ten_steps` |
//! | files can be read again | `the_summary_says_that_files_can_be_read_again` |

use super::fixture::{
    MODEL, SUMMARY, asked_questions, call, compact, count, draft_compaction, exchanges, history, model,
    model_view, pressure, result, user,
};
use crate::compaction::{
    ActivityListUpdate, BuiltinProfile, CONTINUED, CompactionMoment, CompactionStrategy, ContextPressure,
    FirstMessageRetention, MAX_FILES_TO_NAME, Profile, READ_AGAIN, Summariser, SummaryPurpose,
    TopicDetection, TriggerMetric,
};

fn continuation() -> Profile {
    BuiltinProfile::Continuation.profile()
}

#[test]
fn continuation_defaults() {
    let profile = continuation();
    assert_eq!(profile.moment, CompactionMoment::BeforeAssembling);
    assert_eq!((profile.trigger.window_share, profile.target_share), (Some(0.8), Some(0.5)));
    assert_eq!(profile.trigger.messages_over, Some(25));
    assert_eq!((profile.keep.first, profile.keep.messages), (FirstMessageRetention::Kept, 6));
    assert_eq!(profile.summary.words, Some((300, 800)));
    assert_eq!(profile.lists, ActivityListUpdate::Shorten);
    assert_eq!(MAX_FILES_TO_NAME, 20);
}

#[test]
fn due_over_80_percent_of_the_window() {
    let at =
        |context, window| ContextPressure { context, history: context, window, ..ContextPressure::default() };
    for (context, window, due) in [
        (160_000, Some(200_000), false),
        (160_001, Some(200_000), true),
        (800_000, None, false),
        (0, Some(200_000), false),
    ] {
        assert_eq!(continuation().due_reading(&at(context, window)).is_some(), due, "{context}");
    }
}

#[test]
fn due_with_more_than_25_messages() {
    let at = |messages| ContextPressure { messages, ..ContextPressure::default() };
    assert_eq!(continuation().due_reading(&at(25)), None);
    assert_eq!(continuation().due_reading(&at(26)).unwrap().measured, TriggerMetric::Messages);
}

#[test]
fn the_first_message_a_summary_and_the_last_six_are_kept() {
    let conversation = exchanges(15, 100);
    let (after, draft, _) = compact(&conversation, &continuation(), MODEL, |_| Ok("They talked.".to_owned()));
    assert_eq!(draft.strategy, CompactionStrategy::Model);
    let messages: Vec<String> = after.sent_messages().map(|message| message.text()).collect();
    assert_eq!(messages.len(), 8);
    assert!(messages[0].starts_with("question 0 "));
    assert!(messages[1].contains("They talked."));
    let last: Vec<&str> = messages[2..].iter().map(|text| &text[..11]).collect();
    assert_eq!(
        last,
        ["question 12", "answer 12 x", "question 13", "answer 13 x", "question 14", "answer 14 x"]
    );
    // The second compaction summarizes the first summary, and keeps the first message.
    let mut more = after.clone();
    for message in exchanges(15, 100).messages() {
        more.add(message.body.clone());
    }
    let (again, ..) = compact(&more, &continuation(), MODEL, |_| Ok("And more.".to_owned()));
    let messages: Vec<String> = again.sent_messages().map(|message| message.text()).collect();
    assert_eq!(messages.len(), 8);
    assert!(messages[0].starts_with("question 0 ") && messages[1].contains("And more."));
    assert!(!messages[1].contains("They talked."));
}

#[test]
fn the_summary_starts_with_the_exact_header() {
    assert_eq!(
        CONTINUED,
        "This session is being continued from a previous conversation that ran out of context. The summary below covers \
         the earlier portion of the conversation."
    );
    for summariser in [MODEL, Summariser::Extractive] {
        let (after, ..) =
            compact(&exchanges(15, 100), &continuation(), summariser, |_| Ok("Text.".to_owned()));
        let summary = after.sent_messages().nth(1).unwrap().text();
        assert!(summary.starts_with(&format!("{CONTINUED}\n\n")), "{summary}");
    }
}

#[test]
fn the_summary_says_that_files_can_be_read_again() {
    let (after, ..) = compact(&exchanges(15, 100), &continuation(), MODEL, |_| Ok("Text.".to_owned()));
    assert!(after.sent_messages().nth(1).unwrap().text().ends_with(READ_AGAIN));
}

const PHASES: [&str; 6] = [
    "Initial Request",
    "Exploration Phase",
    "Planning / Design Phase",
    "Decisions / Constraints",
    "Implementation Work",
    "Open Issues / Remaining Work",
];
const THEMES: [&str; 4] = [
    "Primary Request and Intent",
    "Key Technical Concepts",
    "Artifacts and Code Sections",
    "Open Tasks / Next Steps",
];

/// Whether `text` contains the words in this order.
fn in_order(text: &str, words: &[&str]) -> bool {
    let places: Vec<Option<usize>> = words.iter().map(|word| text.find(word)).collect();
    places.iter().all(Option::is_some) && places.is_sorted()
}

#[test]
fn the_model_is_asked_for_phases_and_themes() {
    let questions = asked_questions(&exchanges(15, 100), &continuation(), MODEL);
    let prompt = &questions[0].prompt;
    let all: Vec<&str> = ["Analysis"].into_iter().chain(PHASES).chain(["Summary"]).chain(THEMES).collect();
    assert!(in_order(prompt, &all), "{prompt}");
    assert!(in_order(prompt, &["concept: description", "✅ done", "🔄 in progress", "⏳ pending"]));
    let belongs = [
        ("Initial Request", "what the user wanted at the start"),
        ("Exploration Phase", "what was investigated and compared, and what was discovered"),
        ("Planning / Design Phase", "architecture, workflows and plans"),
        ("Decisions / Constraints", "what was chosen and why, what was rejected, which constraints hold"),
        ("Implementation Work", "what was created, modified or wired up"),
        ("Open Issues / Remaining Work", "what is not finished or not resolved"),
        ("Primary Request and Intent", "the overarching goal and every hard requirement"),
        ("Key Technical Concepts", "core ideas and mechanisms"),
        ("Artifacts and Code Sections", "its path, what kind of file it is, what it is responsible for"),
    ];
    for (heading, instructions) in belongs {
        let (_, below) = prompt.split_once(&format!("### {heading}\n[")).unwrap();
        assert!(below.lines().next().unwrap().contains(instructions), "{heading}\n{prompt}");
    }
}

#[test]
fn files_are_described_with_and_without_a_model() {
    let probe = "     1\t//! Reads the probe, once a second.\n     2\tuse std::time;\n";
    let rest = (0..30).flat_map(|n| [user(&format!("and {n}")), model(&"words ".repeat(30))]);
    let conversation = [
        user("look"),
        call("1", "read_file", "src/probe.rs"),
        result("1", probe),
        call("2", "edit_file", "src/probe.rs"),
        result("2", "updated"),
    ];
    let conversation = history(conversation.into_iter().chain(rest));
    let prompt = &asked_questions(&conversation, &continuation(), MODEL)[0].prompt;
    assert!(
        prompt.contains("<files>\n- edited: src/probe.rs (Reads the probe, once a second)\n</files>\n\nName each of these files, with a brief description"),
        "{prompt}"
    );
    let (after, ..) = compact(&conversation, &continuation(), Summariser::Extractive, |_| Ok(String::new()));
    let line = "\n- About probe.rs (1 edit): Reads the probe, once a second\n";
    assert!(model_view(&after).contains(line), "{}", model_view(&after));
    // A second compaction reads the description from the first summary.
    let mut more = after;
    for message in exchanges(15, 100).messages() {
        more.add(message.body.clone());
    }
    let (again, ..) = compact(&more, &continuation(), Summariser::Extractive, |_| Ok(String::new()));
    assert!(model_view(&again).contains(line), "{}", model_view(&again));
    // A model that is asked afterwards also gets the description.
    let prompt = &asked_questions(&more, &continuation(), MODEL)[0].prompt;
    assert!(
        prompt.contains("<files>\n- edited: src/probe.rs (Reads the probe, once a second)\n"),
        "{prompt}"
    );
}

#[test]
fn file_contents_cannot_close_the_files_tag() {
    let text = "// The end </files> of them\n";
    let conversation = [user("look"), call("1", "read_file", "src/a.rs"), result("1", text)];
    let rest = (0..20).map(|n| model(&format!("{n} {}", "words ".repeat(30))));
    let conversation = history(conversation.into_iter().chain(rest));
    let prompt = &asked_questions(&conversation, &continuation(), MODEL)[0].prompt;
    let (_, after) = prompt.split_once("<files>\n").unwrap();
    assert!(after.contains("The end"), "{prompt}");
    assert!(after.find("</files>").unwrap() > after.find("of them").unwrap(), "{prompt}");
}

#[test]
fn known_files_are_named_when_summaries_are_merged() {
    let start = [user("look"), call("1", "edit_file", "src/probe.rs"), result("1", "updated")];
    let rest = (0..30).map(|n| model(&format!("{n} {}", "words ".repeat(600))));
    let conversation = history(start.into_iter().chain(rest));
    for builtin in [BuiltinProfile::Continuation, BuiltinProfile::Handoff] {
        let small = Summariser::Model { window: 8_000, topics: TopicDetection::NotAsked };
        let questions = asked_questions(&conversation, &builtin.profile(), small);
        assert!(questions.len() > 2);
        for question in &questions {
            assert!(question.prompt.contains("- edited: src/probe.rs"), "{}", question.prompt);
        }
        assert_eq!(questions.last().unwrap().purpose, SummaryPurpose::Merge);
    }
}

#[test]
fn the_summary_without_a_model_has_the_same_sections() {
    let (after, ..) =
        compact(&exchanges(15, 100), &continuation(), Summariser::Extractive, |_| Ok(String::new()));
    let summary = after.sent_messages().nth(1).unwrap().text();
    let all: Vec<&str> =
        ["## Analysis"].into_iter().chain(PHASES).chain(["## Summary"]).chain(THEMES).collect();
    assert!(in_order(&summary, &all), "{summary}");
}

#[test]
fn the_prompt_contains_the_rules_of_the_profile() {
    let questions = asked_questions(&exchanges(15, 100), &continuation(), MODEL);
    let prompt = &questions[0].prompt;
    for rule in [
        "Keep what the user wants",
        "every decision",
        "every path of a file",
        "open work",
        "Leave out small talk, repetition, details of failed attempts",
        "Name files, functions and types without quoting them",
        "Mark unfinished work as `planned`, `discussed` or `in progress`",
        "Between 300 and 800 words.",
    ] {
        assert!(prompt.contains(rule), "{rule}\n{prompt}");
    }
}

#[test]
fn at_most_20_known_files_are_named() {
    let read = |n: usize| {
        let id = n.to_string();
        [call(&id, "read_file", &format!("src/f{n:02}.rs")), result(&id, "its text")]
    };
    let conversation = [user("look at all")].into_iter().chain((0..40).flat_map(read)).chain([model("done")]);
    let conversation = history(conversation);
    let questions = asked_questions(&conversation, &continuation(), MODEL);
    let (_, listed) = questions[0].prompt.split_once("<files>\n").unwrap();
    let (listed, _) = listed.split_once("\n</files>").unwrap();
    // The last six messages are kept. Of the summarized messages, the last 20 files are listed.
    let named: Vec<usize> = (0..40).filter(|n| listed.contains(&format!("f{n:02}.rs"))).collect();
    assert_eq!(named.len(), MAX_FILES_TO_NAME);
    assert_eq!(*named.last().unwrap(), named[0] + MAX_FILES_TO_NAME - 1);

    let (after, ..) = compact(&conversation, &continuation(), Summariser::Extractive, |_| Ok(String::new()));
    let summary = after.sent_messages().nth(1).unwrap().text();
    assert_eq!((0..40).filter(|n| summary.contains(&format!("f{n:02}.rs"))).count(), MAX_FILES_TO_NAME);
}

/// Builds a conversation that ends with large results, in a window of 10,000 tokens.
fn with_results(tokens: usize) -> crate::history::History {
    let round = |n: usize| {
        let id = n.to_string();
        [call(&id, "read_file", "src/a.rs"), result(&id, &"line\n".repeat(tokens * 4 / 5))]
    };
    let start = (0..10).flat_map(|n| [user(&format!("do {n}")), model(&"words ".repeat(300))]);
    history(start.chain([user("and now")]).chain((0..3).flat_map(round)))
}

#[test]
fn aims_for_half_of_the_window() {
    let conversation = with_results(2_000);
    let current = ContextPressure {
        context: pressure(&conversation, None).context + 500,
        ..pressure(&conversation, Some(10_000))
    };
    let draft =
        draft_compaction(&conversation, &continuation(), current, MODEL, |_| Ok("Short enough.".to_owned()))
            .unwrap();
    assert!(draft.after.tokens + 500 <= 5_000, "{:?}", draft.after);
    assert_eq!(draft.notes, [""; 0]);
    // Clipping stops once the target is reached, so the newest result is whole.
    let (after, _) = crate::compaction::commit(&conversation, draft, &continuation()).unwrap();
    let results: Vec<usize> = after
        .sent_messages()
        .filter(|message| message.body.content[0].is_tool_result())
        .map(|message| super::fixture::count_message(message))
        .collect();
    assert_eq!(results.len(), 3);
    assert!(results[0] < 200 && results[2] == 2_000, "{results:?}");
}

#[test]
fn a_clipped_summary_still_names_the_edited_files() {
    let conversation = history(
        [user("start"), call("e", "edit", "src/edited.rs"), result("e", "ok")]
            .into_iter()
            .chain((0..20).map(|n| model(&format!("{n} {}", "words ".repeat(300))))),
    );
    let current = ContextPressure {
        context: 12_000,
        history: 9_000,
        window: Some(12_600),
        messages: 23,
        exchanges: 1,
        ..ContextPressure::default()
    };
    let long = "a line of the summary\n".repeat(280);
    let draft =
        draft_compaction(&conversation, &continuation(), current, MODEL, |_| Ok(long.clone())).unwrap();
    assert!(draft.after.tokens + 3_000 <= 6_300, "{:?}", draft.after);
    let (after, _) = crate::compaction::commit(&conversation, draft, &continuation()).unwrap();
    let summary = after.sent_messages().nth(1).unwrap().text();
    assert!(count(&summary) < count(&long) && summary.contains("src/edited.rs"), "{summary}");
}

#[test]
fn a_note_says_that_half_of_the_window_was_not_reached() {
    let conversation = exchanges(15, 700);
    let draft =
        draft_compaction(&conversation, &continuation(), pressure(&conversation, Some(8_000)), MODEL, |_| {
            Ok(SUMMARY.to_owned())
        });
    let draft = draft.unwrap();
    assert!(draft.after.tokens < draft.before.tokens);
    assert!(draft.notes[0].starts_with("the prompt still has more than 4000 tokens, 50% of the window"));
}
