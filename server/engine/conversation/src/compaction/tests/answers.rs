//! Answers of models that are no summaries.

use super::fixture::{MODEL, call, draft_compaction, exchanges, history, model_view, pressure, result, user};
use crate::compaction::{BuiltinProfile, CompactionStrategy, commit};

#[test]
fn only_a_summary_replaces_the_conversation() {
    let prose = "The user asked for a parser. It reads lines and is in src/parser.rs. ".repeat(20);
    let headings = "## Done\n## Next Steps\n## Summary\n## 7. Immediate Next Step";
    let summary = format!("{headings}\n{prose}");
    let conversation = exchanges(48, 1_000);
    let cases = [
        (summary.clone(), None),
        (format!("<think>First I should look.</think>\n{summary}"), None),
        (format!("I should look.\n</think>\n\n{summary}"), None),
        (format!("<thinking>Hm.</thinking>{summary}"), None),
        (format!("[THINK]I should look.[/THINK]{summary}"), None),
        (format!("\u{25c1}think\u{25b7}I should look.\u{25c1}/think\u{25b7}{summary}"), None),
        (format!("<|channel>thought\nI should look.<channel|>{summary}<end_of_turn>"), None),
        (
            format!(
                "<|channel|>analysis<|message|>I should look.<|end|><|start|>assistant<|channel|>final<|message|>{summary}<|return|>"
            ),
            None,
        ),
        ("<|channel|>analysis<|message|>I should look.".to_owned(), Some("only reasoning")),
        (format!("**Done:**\n\n1. Next steps\n\n# summary\n\n7. Immediate Next Step\n\n{prose}"), None),
        (format!("## Ziel\n{prose}\n## Erledigt\n{prose}"), None),
        (format!("Sure! Let us go on with the parser.\n{prose}"), Some("none of the headings")),
        ("Please provide the conversation that you want me to summarize.".to_owned(), Some("refused")),
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
    for builtin in BuiltinProfile::ALL {
        let profile = builtin.profile();
        for (answer, problem) in &cases {
            let draft =
                draft_compaction(&conversation, &profile, pressure(&conversation, None), MODEL, |_| {
                    Ok(answer.clone())
                })
                .unwrap();
            let expected =
                if problem.is_none() { CompactionStrategy::Model } else { CompactionStrategy::Extractive };
            assert_eq!(draft.strategy, expected, "{builtin:?} {answer:?}: {:?}", draft.notes);
            let has_note =
                problem.is_none_or(|problem| draft.notes.iter().any(|note| note.contains(problem)));
            assert!(has_note, "{builtin:?} {answer:?}: {:?}", draft.notes);
            let (after, _) = commit(&conversation, draft, &profile).unwrap();
            let view = model_view(&after);
            assert!(!view.contains("think") && !view.contains("I should look"), "{builtin:?} {answer:?}");
            assert!(!view.contains("<|") && !view.contains("<end_of_turn>"), "{builtin:?} {answer:?}");
            assert_eq!(view.contains("It reads lines"), problem.is_none(), "{builtin:?} {answer:?}");
        }
    }
}

#[test]
fn a_summary_names_what_was_edited() {
    let edits = |number: usize| {
        let path = format!("src/part{number}.rs");
        let id = format!("c{number}");
        [user(&format!("Edit {path}.")), call(&id, "Edit", &path), result(&id, &"done ".repeat(400))]
    };
    let conversation = history((0..30).flat_map(edits));
    for (answer, is_accepted) in [
        (
            "## Done\n## Next Steps\n## Summary\n## 7. Immediate Next Step\nWe edited `src/part3.rs` and more.",
            true,
        ),
        (
            "## Done\n## Next Steps\n## Summary\n## 7. Immediate Next Step\nWe edited **part3.rs**: it is done.",
            true,
        ),
        (
            "## Done\n## Next Steps\n## Summary\n## 7. Immediate Next Step\nWe talked about the weather.",
            false,
        ),
    ] {
        for builtin in BuiltinProfile::ALL {
            let profile = builtin.profile();
            let draft =
                draft_compaction(&conversation, &profile, pressure(&conversation, None), MODEL, |_| {
                    Ok(answer.to_owned())
                })
                .unwrap();
            let expected =
                if is_accepted { CompactionStrategy::Model } else { CompactionStrategy::Extractive };
            assert_eq!(draft.strategy, expected, "{builtin:?} {answer}: {:?}", draft.notes);
            let has_note = draft.notes.iter().any(|note| note.contains("names none of the"));
            assert_eq!(has_note, !is_accepted, "{builtin:?} {answer}: {:?}", draft.notes);
            let (after, _) = commit(&conversation, draft, &profile).unwrap();
            assert!(model_view(&after).contains("part0.rs"), "{builtin:?} {answer}");
        }
    }
}
