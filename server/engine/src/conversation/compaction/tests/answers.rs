//! Answers of models that are no summaries.

use super::fixture::{MODEL, drafted, exchanges, pressure, seen};
use crate::conversation::compaction::{Family, Strategy, commit};

#[test]
fn only_a_summary_replaces_the_conversation() {
    let summary = "The user asked for a parser. It reads lines and is in src/parser.rs. ".repeat(20);
    let talk = exchanges(48, 1_000);
    let cases = [
        (summary.clone(), None),
        (format!("<think>First I should look.</think>\n{summary}"), None),
        (format!("I should look.\n</think>\n\n{summary}"), None),
        (format!("<thinking>Hm.</thinking>{summary}"), None),
        ("<think>I should look at all of it, and then".to_owned(), Some("only reasoning")),
        ("<think>I should look.</think>".to_owned(), Some("only reasoning")),
        ("I can".to_owned(), Some("has only 2 tokens for")),
        ("I can\u{2019}t help with that.".to_owned(), Some("refused")),
        (
            "I'm sorry, but I cannot summarize this conversation because it may contain private data."
                .to_owned(),
            Some("refused"),
        ),
        (String::new(), Some("is empty")),
    ];
    for family in Family::ALL {
        let profile = family.profile();
        for (answer, problem) in &cases {
            let draft =
                drafted(&talk, &profile, pressure(&talk, None), MODEL, |_| Ok(answer.clone())).unwrap();
            let expected = if problem.is_none() { Strategy::Model } else { Strategy::Extractive };
            assert_eq!(draft.strategy, expected, "{family:?} {answer:?}: {:?}", draft.notes);
            let said = problem.is_none_or(|problem| draft.notes.iter().any(|note| note.contains(problem)));
            assert!(said, "{family:?} {answer:?}: {:?}", draft.notes);
            let (after, _) = commit(&talk, draft, &profile).unwrap();
            let seen = seen(&after);
            assert!(!seen.contains("think") && !seen.contains("I should look"), "{family:?} {answer:?}");
            assert_eq!(seen.contains("It reads lines"), problem.is_none(), "{family:?} {answer:?}");
        }
    }
}
