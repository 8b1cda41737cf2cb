//! Tests of searching: what is found, and that no query except an empty one is an error.

use proptest::prelude::*;
use strata_conversation::history::{ContentBlock, Outcome, ResultPart, Visibility};

use super::*;

fn store_with(texts: &[&str]) -> (Home, Store) {
    let home = Home::new();
    let mut store = home.open();
    let handle = store.create(&new("a")).unwrap();
    let messages: Vec<Arc<Message>> = (0..).zip(texts).map(|(number, text)| said(number, text)).collect();
    store.commit(&handle, &appended(&messages)).unwrap();
    (home, store)
}

fn found(store: &Store, query: &str) -> Vec<String> {
    let found = store.search(query, &Scope::Workspace, Limits::default()).unwrap();
    found.hits.into_iter().map(|hit| hit.snippet).collect()
}

fn note(text: &str, tags: &[&str]) -> NewFragment {
    let tags = tags.iter().map(|&tag| tag.to_owned()).collect();
    NewFragment { text: text.into(), tags, session: Some(id("a")), created_ms: 5 }
}

#[test]
fn all_words_must_match_and_some_must_when_no_place_holds_all() {
    let (_home, store) = store_with(&["the parser is slow", "the lexer is fast", "nothing here"]);
    assert_eq!(found(&store, "SLOW Parser"), ["the parser is slow"]);
    let some = store.search("fast unheard parsers lexer", &Scope::Workspace, Limits::default()).unwrap();
    assert_eq!(some.matched, MatchedWords::Some);
    assert_eq!(some.hits[0].snippet, "the lexer is fast");
    assert_eq!(found(&store, "unheard"), [""; 0]);
}

#[test]
fn names_with_signs_are_found_as_they_are_written() {
    let (_home, store) = store_with(&["see src/parse/main.rs", "main parse src rs", "call foo_bar::baz()"]);
    assert_eq!(found(&store, "parse/main.rs"), ["see src/parse/main.rs"]);
    assert_eq!(found(&store, "foo_bar::baz"), ["call foo_bar::baz()"]);
}

#[test]
fn scripts_without_spaces_and_accents_are_found() {
    let (_home, store) = store_with(&["我们需要修复解析器", "パーサーが遅い", "déjà vu", "ไม่มีช่องว่าง"]);
    assert_eq!(found(&store, "解析器"), ["我们需要修复解析器"]);
    assert_eq!(found(&store, "遅い"), ["パーサーが遅い"]);
    assert_eq!(found(&store, "deja"), ["déjà vu"]);
    let apart = store.search("器析", &Scope::Workspace, Limits::default()).unwrap();
    assert_eq!(apart.matched, MatchedWords::Some);
}

#[test]
fn hidden_messages_and_what_tools_said_are_found_with_their_place() {
    let home = Home::new();
    let mut store = home.open();
    let handle = store.create(&new("a")).unwrap();
    let input = serde_json::json!({"deep": [{"path": "src/quux.rs"}]});
    let call = ContentBlock::ToolCall { id: "1".into(), name: "read_file".into(), input };
    let content = vec![ResultPart::Text { text: "error[E0308]: mismatched".into() }];
    let result = ContentBlock::ToolResult { call_id: "1".into(), content, outcome: Outcome::Error };
    let mut hidden = NewMessage::new(Role::User, vec![result]);
    (hidden.agent, hidden.user, hidden.time_ms) = (Visibility::Hidden, Visibility::Hidden, Some(77));
    let messages = [
        Arc::new(Message { id: MessageId(4), body: NewMessage::new(Role::Assistant, vec![call]) }),
        Arc::new(Message { id: MessageId(5), body: hidden }),
    ];
    store.commit(&handle, &appended(&messages)).unwrap();
    let hit = &store.search("E0308", &Scope::Workspace, Limits::default()).unwrap().hits[0];
    let kind = strata_conversation::history::Kind::Normal;
    let source = Source::Message { session: id("a"), message: MessageId(5), role: Role::User, kind };
    assert_eq!((&hit.source, hit.time_ms), (&source, Some(77)));
    assert!(found(&store, "quux.rs")[0].contains("src/quux.rs"));
}

#[test]
fn what_is_gone_or_changed_is_not_found_any_more() {
    let (home, store) = store_with(&["alpha", "beta", "gamma"]);
    drop(store);
    let mut store = home.open();
    let handle = store.open_session(&id("a"), Access::Write).unwrap();
    let removed = vec![MessageId(0)];
    let changed = vec![said(1, "delta")];
    store.commit(&handle, &Commit { removed, changed, next_id: 3, ..Commit::default() }).unwrap();
    assert_eq!(["alpha", "beta", "gamma", "delta"].map(|word| found(&store, word).len()), [0, 0, 1, 1]);
    drop(handle);
    store.delete(&id("a")).unwrap();
    assert_eq!(found(&store, "gamma"), [""; 0]);
}

#[test]
fn fragments_are_found_by_text_and_tag_and_outlive_their_session() {
    let (_home, mut store) = store_with(&["use tabs"]);
    let one = store.memory_add(&note("Indent with tabs.", &["style", "whitespace"])).unwrap();
    let two = store.memory_add(&note("Tests need docker.", &[])).unwrap();
    assert_eq!(found(&store, "whitespace"), ["Indent with tabs."]);
    assert_eq!(found(&store, "tabs").len(), 2);
    let inside = store.search("tabs", &Scope::Session(id("a")), Limits::default()).unwrap();
    assert_eq!(inside.hits.len(), 1);
    store.delete(&id("a")).unwrap();
    store.memory_remove(one).unwrap();
    assert_eq!(found(&store, "tabs"), [""; 0]);
    assert_eq!(store.memory_list().unwrap().iter().map(|kept| kept.id).collect::<Vec<_>>(), [two]);
    assert_eq!(store.memory_remove(one).unwrap_err(), StoreError::NoFragment(one));
    assert_eq!(store.memory_add(&note(" \n", &[])).unwrap_err(), StoreError::EmptyFragment);
    // Ids are not reused, so that no one removes the wrong note.
    store.memory_remove(two).unwrap();
    assert!(store.memory_add(&note("x", &[])).unwrap() > two);
}

#[test]
fn a_search_in_one_session_sees_no_other() {
    let (_home, mut store) = store_with(&["common word", "common thing"]);
    let handle = store.create(&new("b")).unwrap();
    store.commit(&handle, &appended(&[said(0, "common word elsewhere")])).unwrap();
    let inside = |query: &str, name: &str| {
        let found = store.search(query, &Scope::Session(id(name)), Limits::default()).unwrap();
        found.hits.into_iter().map(|hit| hit.snippet).collect::<Vec<_>>()
    };
    assert_eq!(inside("word", "b"), ["common word elsewhere"]);
    assert_eq!(inside("word", "a"), ["common word"]);
    assert_eq!(inside("elsewhere", "a"), [""; 0]);
    let nowhere = store.search("word", &Scope::Session(id("c")), Limits::default()).unwrap_err();
    assert_eq!(nowhere, StoreError::NoSession(id("c")));
}

#[test]
fn words_that_are_everywhere_are_found_newest_first_or_narrowed_by_rare_ones() {
    let home = Home::new();
    let mut store = home.open();
    let text = |number: u64| {
        if number == 10 { "every where needle".into() } else { format!("every where {number}") }
    };
    let messages: Vec<_> = (0..4_500).map(|number| said(number, &text(number))).collect();
    filled(&mut store, "old", &messages);
    let later: Vec<_> = (0..10).map(|number| said(number, &format!("every where later {number}"))).collect();
    filled(&mut store, "new", &later);
    let search = |query: &str, scope: &Scope| store.search(query, scope, Limits::default()).unwrap();
    let all = search("every", &Scope::Workspace);
    assert_eq!((all.coverage, all.hits.len()), (Coverage::Newest(2_000), 20));
    assert_eq!(search("every needle", &Scope::Workspace).hits[0].snippet, "every where needle");
    let compound = search("every-where every where", &Scope::Workspace);
    assert_eq!(compound.hits[0].snippet, "every where later 9");
    let old = search("every", &Scope::Session(id("old")));
    assert!(
        old.hits
            .iter()
            .all(|hit| matches!(&hit.source, Source::Message { session, .. } if *session == id("old")))
    );
    assert_eq!(old.hits.len(), 20);
    let new = search("every where", &Scope::Session(id("new")));
    assert_eq!((new.hits.len(), new.coverage), (10, Coverage::All));
}

#[test]
fn a_snippet_shows_the_match_on_one_line() {
    let long = format!("{} the needle\n\tis here {}", "before ".repeat(100), "after ".repeat(100));
    let (_home, store) = store_with(&[&long]);
    let limits = Limits { snippet_chars: 40, ..Limits::default() };
    let snippet = &store.search("NEEDLE", &Scope::Workspace, limits).unwrap().hits[0].snippet;
    assert!(snippet.contains("the needle is here"), "{snippet}");
    assert!(snippet.chars().count() <= 40 && snippet.starts_with('…') && snippet.ends_with('…'), "{snippet}");
}

#[test]
fn a_query_without_words_is_refused() {
    let (_home, store) = store_with(&["x"]);
    for query in ["", "  \n", "\"", "* ^", "()"] {
        let refused = store.search(query, &Scope::Workspace, Limits::default()).unwrap_err();
        assert_eq!(refused, StoreError::EmptyQuery, "{query:?}");
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
            match store.search(&query, &Scope::Workspace, Limits::default()) {
                Ok(_) | Err(StoreError::EmptyQuery) => {}
                Err(error) => prop_assert!(false, "{query:?}: {error}"),
            }
        }
    }
}
