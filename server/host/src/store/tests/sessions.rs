//! Tests of whole sessions, of one writer at a time, and of changes that fit or are rejected.

use serde_json::json;
use strata_conversation::history::ContentBlock;

use super::*;

#[test]
fn committed_messages_survive_reopening() {
    let home = Home::new();
    let mut store = home.open();
    let handle = store.create(&new_session("a")).unwrap();
    let messages = [text_message(0, "how do I\nsort?"), text_message(1, "like this")];
    let state = json!({"selected": ["a.rs"]});
    let commit = SessionChange { state: Some(state.clone()), ..appended(&messages) };
    store.commit(&handle, &commit).unwrap();
    drop((handle, store));
    let store = home.open();
    let stored = store.load_session(&id("a")).unwrap();
    assert_eq!(stored.messages, messages);
    assert_eq!((stored.state, stored.next_id, &*stored.name), (state, 2, "Session a"));
    let listed = &store.list().unwrap()[0];
    assert_eq!((listed.messages, listed.updated_ms, &*listed.preview), (2, 2_000, "how do I sort?"));
}

#[test]
fn a_second_writer_gets_the_process_id_of_the_first_and_may_read() {
    let home = Home::new();
    let (mut one, two) = (home.open(), home.open());
    let writer = one.create(&new_session("a")).unwrap();
    let in_use = StoreError::InUse { id: id("a"), pid: Some(std::process::id()) };
    assert_eq!(two.open_session(&id("a"), SessionAccess::Write).unwrap_err(), in_use);
    let reader = two.open_session(&id("a"), SessionAccess::Read).unwrap();
    one.commit(&writer, &appended(&[text_message(0, "hello")])).unwrap();
    assert_eq!(texts(&two, "a"), ["hello"]);
    let mut two = two;
    let error = two.commit(&reader, &appended(&[text_message(1, "me too")])).unwrap_err();
    assert_eq!(error, StoreError::ReadOnly(id("a")));
    assert_eq!(two.delete(&id("a")).unwrap_err(), in_use);
    drop(writer);
    let writer = two.open_session(&id("a"), SessionAccess::Write).unwrap();
    two.commit(&writer, &appended(&[text_message(1, "me too")])).unwrap();
    assert_eq!(texts(&one, "a"), ["hello", "me too"]);
}

#[test]
fn the_cache_state_is_stored_with_a_session() {
    let home = Home::new();
    let mut store = home.open();
    let handle = store.create(&new_session("a")).unwrap();
    assert_eq!(store.cache_memory(&id("a")).unwrap(), None);
    store.commit(&handle, &appended(&[text_message(0, "zero")])).unwrap();
    let listed = store.list().unwrap();
    store.keep_cache_memory(&handle, "layout").unwrap();
    assert_eq!(store.list().unwrap(), listed, "storing the cache memory does not change the session");
    let stored = |is_current| Some(StoredCacheMemory { memory: "layout".to_owned(), is_current });
    assert_eq!(store.cache_memory(&id("a")).unwrap(), stored(true));
    store.commit(&handle, &appended(&[text_message(1, "one")])).unwrap();
    assert_eq!(store.cache_memory(&id("a")).unwrap(), stored(false));
    let reader = home.open().open_session(&id("a"), SessionAccess::Read).unwrap();
    assert_eq!(store.keep_cache_memory(&reader, "other").unwrap_err(), StoreError::ReadOnly(id("a")));
}

#[test]
fn an_invalid_commit_changes_nothing() {
    let home = Home::new();
    let mut store = home.open();
    let handle = store.create(&new_session("a")).unwrap();
    store.commit(&handle, &appended(&[text_message(0, "zero"), text_message(1, "one")])).unwrap();
    let before = store.load_session(&id("a")).unwrap();
    let order = |ids: &[u64]| Some(ids.iter().copied().map(MessageId).collect());
    let valid = || SessionChange { state: Some(json!(1)), ..appended(&[text_message(2, "two")]) };
    for (commit, error) in [
        (SessionChange { removed: vec![MessageId(7)], ..valid() }, StoreError::NoMessage(MessageId(7))),
        (
            SessionChange { changed: vec![text_message(7, "x")], ..valid() },
            StoreError::NoMessage(MessageId(7)),
        ),
        (
            SessionChange { appended: vec![text_message(2, "x"), text_message(1, "x")], ..valid() },
            StoreError::MessageExists(MessageId(1)),
        ),
        (SessionChange { order: order(&[0, 1]), ..valid() }, StoreError::Order { listed: 2, existing: 3 }),
        (SessionChange { order: order(&[0, 1, 1]), ..valid() }, StoreError::Order { listed: 3, existing: 3 }),
        (SessionChange { order: order(&[0, 1, 9]), ..valid() }, StoreError::Order { listed: 3, existing: 3 }),
    ] {
        assert_eq!(store.commit(&handle, &commit).unwrap_err(), error);
        assert_eq!(store.load_session(&id("a")).unwrap(), before);
        let results = store.search("two", 20).unwrap();
        assert_eq!(results.hits, []);
    }
}

#[test]
fn sessions_are_listed_by_last_change_regardless_of_the_clock() {
    let home = Home::new();
    let mut store = home.open();
    let handles = ["a", "b", "c"].map(|name| store.create(&new_session(name)).unwrap());
    let at = |now_ms: u64, number: u64| SessionChange { now_ms, ..appended(&[text_message(number, "x")]) };
    store.commit(&handles[1], &at(9_000, 0)).unwrap();
    store.commit(&handles[0], &at(5, 0)).unwrap();
    store.commit(&handles[0], &at(3, 1)).unwrap();
    let listed: Vec<String> = store.list().unwrap().iter().map(|info| info.id.to_string()).collect();
    assert_eq!(listed, ["a", "b", "c"]);
    assert_eq!(store.load_session(&id("a")).unwrap().messages, [text_message(0, "x"), text_message(1, "x")]);
}

#[test]
fn a_fork_copies_earlier_messages_and_then_diverges() {
    let home = Home::new();
    let mut store = home.open();
    let handle = store.create(&new_session("a")).unwrap();
    let messages = [text_message(0, "zero"), text_message(1, "one"), text_message(2, "two")];
    store.commit(&handle, &SessionChange { state: Some(json!({"x": 1})), ..appended(&messages) }).unwrap();
    let spilled = store.spills.write(&id("a"), b"long output").unwrap();
    let fork = store.fork(&id("a"), &new_session("b"), Some(MessageId(1))).unwrap();
    store.commit(&fork, &appended(&[text_message(3, "three")])).unwrap();
    assert_eq!(texts(&store, "b"), ["zero", "one", "three"]);
    assert_eq!(store.load_session(&id("b")).unwrap().state, json!({"x": 1}));
    assert_eq!(texts(&store, "a"), ["zero", "one", "two"]);
    assert_eq!(
        store.fork(&id("a"), &new_session("b"), None).unwrap_err(),
        StoreError::InUse { id: id("b"), pid: Some(std::process::id()) }
    );
    drop((handle, fork));
    assert_eq!(store.fork(&id("a"), &new_session("b"), None).unwrap_err(), StoreError::Exists(id("b")));
    let error = store.fork(&id("a"), &new_session("c"), Some(MessageId(9))).unwrap_err();
    assert_eq!(error, StoreError::NoMessage(MessageId(9)));
    store.delete(&id("a")).unwrap();
    assert_eq!(store.load_session(&id("a")).unwrap_err(), StoreError::NoSession(id("a")));
    assert_eq!(store.spills.read_lines(&id("b"), &spilled.id, 1, 9).unwrap().text, "long output");
    let results = store.search("zero", 20).unwrap();
    assert_eq!(results.hits.len(), 1);
}

#[test]
fn extreme_ids_and_times_are_restored() {
    let home = Home::new();
    let mut store = home.open();
    let handle = store.create(&NewSession { created_ms: u64::MAX, ..new_session("a") }).unwrap();
    let commit =
        SessionChange { next_id: u64::MAX, now_ms: u64::MAX, ..appended(&[text_message(u64::MAX - 1, "x")]) };
    store.commit(&handle, &commit).unwrap();
    let stored = store.load_session(&id("a")).unwrap();
    assert_eq!((stored.created_ms, stored.next_id), (u64::MAX, u64::MAX));
    assert_eq!(stored.messages[0].id, MessageId(u64::MAX - 1));
}

#[test]
fn a_renamed_session_is_listed_with_its_new_name() {
    let home = Home::new();
    let mut store = home.open();
    drop(store.create(&new_session("a")).unwrap());
    store.rename(&id("a"), "Sorting").unwrap();
    assert_eq!(store.list().unwrap()[0].name, "Sorting");
    assert_eq!(store.rename(&id("b"), "x").unwrap_err(), StoreError::NoSession(id("b")));
}

/// Returns a tool call with nested lists, which are three levels deep in the message.
fn nested_call(number: u64, levels: usize) -> Arc<Message> {
    let input = (1..levels).fold(json!([]), |inner, _| json!([inner]));
    let call = ContentBlock::ToolCall { id: "c".into(), name: "[{\"\\".into(), input };
    Arc::new(Message { id: MessageId(number), body: NewMessage::new(Role::Assistant, vec![call]) })
}

#[test]
fn messages_nested_too_deeply_are_rejected() {
    let home = Home::new();
    let mut store = home.open();
    let handle = store.create(&new_session("a")).unwrap();
    let deepest = [nested_call(0, 124)];
    store.commit(&handle, &appended(&deepest)).unwrap();
    for commit in [
        appended(&[text_message(1, "with it"), nested_call(2, 125)]),
        SessionChange { changed: vec![nested_call(0, 125)], next_id: 1, ..SessionChange::default() },
    ] {
        assert_eq!(store.commit(&handle, &commit).unwrap_err(), StoreError::TooDeep(127));
        assert_eq!(store.load_session(&id("a")).unwrap().messages, deepest);
    }
    let mut lines = Vec::new();
    store.export(&id("a"), &mut lines).unwrap();
    let copy = store.import(&*lines).unwrap();
    assert_eq!(store.load_session(&copy.handle.id).unwrap().messages, deepest);
}

#[test]
fn a_session_with_an_unreadable_message_is_listed() {
    let home = Home::new();
    let mut store = home.open();
    create_session_with(
        &mut store,
        "a",
        &[text_message(0, "hello"), text_message(1, "hi"), text_message(2, "more")],
    );
    create_session_with(&mut store, "b", &[text_message(0, "other")]);
    // As stored by earlier versions.
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    store.connection.execute("UPDATE message SET body = ?1 WHERE id = 0", [deep]).unwrap();
    let previews: Vec<String> = store.list().unwrap().into_iter().map(|info| info.preview).collect();
    assert_eq!(previews, ["", "more"]);
}

#[test]
fn the_reserved_session_id_is_rejected() {
    let home = Home::new();
    let mut store = home.open();
    create_session_with(&mut store, "a", &[text_message(0, "hello")]);
    let reserved = StoreError::Reserved(id("main"));
    assert_eq!(store.create(&new_session("main")).unwrap_err(), reserved);
    assert_eq!(store.fork(&id("a"), &new_session("main"), None).unwrap_err(), reserved);
    assert_eq!(store.list().unwrap().len(), 1);
    // As stored by earlier versions.
    store.connection.execute("UPDATE session SET id = 'main'", []).unwrap();
    assert_eq!(store.create(&new_session("main")).unwrap_err(), StoreError::Exists(id("main")));
    assert_eq!(texts(&store, "main"), ["hello"]);
    store.delete(&id("main")).unwrap();
}
