//! Tests of searching: what is found, and that no query except an empty one is an error.

use proptest::prelude::*;
use strata_conversation::history::{ContentBlock, ResultPart, ToolOutcome, Visibility};

use super::*;

fn store_with(texts: &[&str]) -> (Home, Store) {
    let home = Home::new();
    let mut store = home.open();
    let handle = store.create(&new_session("a")).unwrap();
    let messages: Vec<Arc<Message>> =
        (0..).zip(texts).map(|(number, text)| text_message(number, text)).collect();
    store.commit(&handle, &appended(&messages)).unwrap();
    (home, store)
}

fn search(store: &Store, query: &str) -> Vec<String> {
    let results = store.search(query, 20).unwrap();
    results.hits.into_iter().map(|hit| hit.snippet).collect()
}

fn new_fragment(text: &str, tags: &[&str]) -> NewNote {
    let tags = tags.iter().map(|&tag| tag.to_owned()).collect();
    NewNote { text: text.into(), tags, session: Some(id("a")), created_ms: 5 }
}

#[test]
fn a_search_requires_all_words_or_some_if_no_text_has_all() {
    let (_home, store) = store_with(&["the parser is slow", "the lexer is fast", "nothing here"]);
    assert_eq!(search(&store, "SLOW Parser"), ["the parser is slow"]);
    let results = store.search("fast unheard parsers lexer", 20).unwrap();
    assert_eq!(results.matched, MatchedWords::Some);
    assert_eq!(results.hits[0].snippet, "the lexer is fast");
    assert_eq!(search(&store, "unheard"), [""; 0]);
}

#[test]
fn identifiers_with_punctuation_are_found_literally() {
    let (_home, store) = store_with(&["see src/parse/main.rs", "main parse src rs", "call foo_bar::baz()"]);
    assert_eq!(search(&store, "parse/main.rs"), ["see src/parse/main.rs"]);
    assert_eq!(search(&store, "foo_bar::baz"), ["call foo_bar::baz()"]);
}

#[test]
fn scripts_without_spaces_and_accents_are_found() {
    let (_home, store) = store_with(&["我们需要修复解析器", "パーサーが遅い", "déjà vu", "ไม่มีช่องว่าง"]);
    assert_eq!(search(&store, "解析器"), ["我们需要修复解析器"]);
    assert_eq!(search(&store, "遅い"), ["パーサーが遅い"]);
    assert_eq!(search(&store, "deja"), ["déjà vu"]);
    let results = store.search("器析", 20).unwrap();
    assert_eq!(results.matched, MatchedWords::Some);
}

#[test]
fn hidden_messages_and_tool_results_are_found() {
    let home = Home::new();
    let mut store = home.open();
    let handle = store.create(&new_session("a")).unwrap();
    let input = serde_json::json!({"deep": [{"path": "src/quux.rs"}]});
    let call = ContentBlock::ToolCall { id: "1".into(), name: "read_file".into(), input };
    let content = vec![ResultPart::Text { text: "error[E0308]: mismatched".into() }];
    let result = ContentBlock::ToolResult { call_id: "1".into(), content, outcome: ToolOutcome::Error };
    let mut hidden = NewMessage::new(Role::User, vec![result]);
    (hidden.agent, hidden.user, hidden.time_ms) = (Visibility::Hidden, Visibility::Hidden, Some(77));
    let messages = [
        Arc::new(Message { id: MessageId(4), body: NewMessage::new(Role::Assistant, vec![call]) }),
        Arc::new(Message { id: MessageId(5), body: hidden }),
    ];
    store.commit(&handle, &appended(&messages)).unwrap();
    let hit = &store.search("E0308", 20).unwrap().hits[0];
    let kind = strata_conversation::history::MessageKind::Normal;
    let source = HitSource::Message { session: id("a"), message: MessageId(5), role: Role::User, kind };
    assert_eq!((&hit.source, hit.time_ms), (&source, Some(77)));
    assert!(search(&store, "quux.rs")[0].contains("src/quux.rs"));
}

#[test]
fn removed_and_changed_text_is_no_longer_found() {
    let (home, store) = store_with(&["alpha", "beta", "gamma"]);
    drop(store);
    let mut store = home.open();
    let handle = store.open_session(&id("a"), SessionAccess::Write).unwrap();
    let removed = vec![MessageId(0)];
    let changed = vec![text_message(1, "delta")];
    store
        .commit(&handle, &SessionChange { removed, changed, next_id: 3, ..SessionChange::default() })
        .unwrap();
    assert_eq!(["alpha", "beta", "gamma", "delta"].map(|word| search(&store, word).len()), [0, 0, 1, 1]);
    drop(handle);
    store.delete(&id("a")).unwrap();
    assert_eq!(search(&store, "gamma"), [""; 0]);
}

#[test]
fn fragments_are_found_by_text_and_tag_and_outlive_their_session() {
    let (_home, mut store) = store_with(&["use tabs"]);
    let one = store.add_note(&new_fragment("Indent with tabs.", &["style", "whitespace"])).unwrap();
    let two = store.add_note(&new_fragment("Tests need docker.", &[])).unwrap();
    assert_eq!(search(&store, "whitespace"), ["Indent with tabs."]);
    assert_eq!(search(&store, "tabs").len(), 2);
    store.delete(&id("a")).unwrap();
    store.remove_note(one).unwrap();
    assert_eq!(search(&store, "tabs"), [""; 0]);
    assert_eq!(store.list_notes().unwrap().iter().map(|fragment| fragment.id).collect::<Vec<_>>(), [two]);
    assert_eq!(store.remove_note(one).unwrap_err(), StoreError::NoFragment(one));
    assert_eq!(store.add_note(&new_fragment(" \n", &[])).unwrap_err(), StoreError::EmptyFragment);
    // Ids are not reused, so that no one removes the wrong note.
    store.remove_note(two).unwrap();
    assert!(store.add_note(&new_fragment("x", &[])).unwrap() > two);
}

#[test]
fn common_words_are_found_newest_first_or_narrowed_by_rare_words() {
    let home = Home::new();
    let mut store = home.open();
    let text = |number: u64| {
        if number == 10 { "every where needle".into() } else { format!("every where {number}") }
    };
    let messages: Vec<_> = (0..4_500).map(|number| text_message(number, &text(number))).collect();
    create_session_with(&mut store, "old", &messages);
    let later: Vec<_> =
        (0..10).map(|number| text_message(number, &format!("every where later {number}"))).collect();
    create_session_with(&mut store, "new", &later);
    let search = |query: &str| store.search(query, 20).unwrap();
    let all = search("every");
    assert_eq!((all.coverage, all.hits.len()), (RankingCoverage::Newest(2_000), 20));
    assert_eq!(search("every needle").hits[0].snippet, "every where needle");
    let compound = search("every-where every where");
    assert_eq!(compound.hits[0].snippet, "every where later 9");
}

#[test]
fn a_snippet_shows_the_match_on_one_line() {
    let long = format!("{} the needle\n\tis here {}", "before ".repeat(100), "after ".repeat(100));
    let (_home, store) = store_with(&[&long]);
    let snippet = &store.search("NEEDLE", 20).unwrap().hits[0].snippet;
    assert!(snippet.contains("the needle is here"), "{snippet}");
    assert!(
        snippet.chars().count() <= 240 && snippet.starts_with('…') && snippet.ends_with('…'),
        "{snippet}"
    );
}

#[test]
fn a_query_without_words_is_refused() {
    let (_home, store) = store_with(&["x"]);
    for query in ["", "  \n", "\"", "* ^", "()"] {
        let error = store.search(query, 20).unwrap_err();
        assert_eq!(error, StoreError::EmptyQuery, "{query:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// FTS5 syntax, quotes and other special characters have no meaning in a query.
    #[test]
    fn no_query_is_a_syntax_error(queries in prop::collection::vec(
        prop_oneof![".{0,40}", "[\"'()*:^{}+AND OR NOT NEAR word,0-9-]{1,40}", "\\PC{0,30}"], 1..12,
    )) {
        let (_home, store) = store_with(&["word AND other OR NOT NEAR(x y)", "col:umn ^first"]);
        for query in queries {
            match store.search(&query, 20) {
                Ok(_) | Err(StoreError::EmptyQuery) => {}
                Err(error) => prop_assert!(false, "{query:?}: {error}"),
            }
        }
    }
}
