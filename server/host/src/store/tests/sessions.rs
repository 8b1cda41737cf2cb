//! Tests of whole sessions, of one writer at a time, and of changes that fit or are rejected.

use serde_json::json;
use strata_conversation::history::ContentBlock;

use super::*;

#[test]
fn what_was_committed_is_there_after_opening_again() {
    let home = Home::new();
    let mut store = home.open();
    let handle = store.create(&new("a")).unwrap();
    let messages = [said(0, "how do I\nsort?"), said(1, "like this")];
    let state = json!({"selected": ["a.rs"]});
    let commit = Commit { state: Some(state.clone()), ..appended(&messages) };
    store.commit(&handle, &commit).unwrap();
    drop((handle, store));
    let store = home.open();
    let stored = store.load(&id("a")).unwrap();
    assert_eq!(stored.messages, messages);
    assert_eq!((stored.state, stored.next_id, &*stored.name), (state, 2, "Session a"));
    let listed = &store.list().unwrap()[0];
    assert_eq!((listed.messages, listed.updated_ms, &*listed.preview), (2, 2_000, "how do I sort?"));
}

#[test]
fn the_second_writer_is_told_who_is_first_and_may_read() {
    let home = Home::new();
    let (mut one, two) = (home.open(), home.open());
    let writer = one.create(&new("a")).unwrap();
    let in_use = StoreError::InUse { id: id("a"), pid: Some(std::process::id()) };
    assert_eq!(two.open_session(&id("a"), Access::Write).unwrap_err(), in_use);
    let reader = two.open_session(&id("a"), Access::Read).unwrap();
    one.commit(&writer, &appended(&[said(0, "hello")])).unwrap();
    assert_eq!(texts(&two, "a"), ["hello"]);
    let mut two = two;
    let refused = two.commit(&reader, &appended(&[said(1, "me too")])).unwrap_err();
    assert_eq!(refused, StoreError::ReadOnly(id("a")));
    assert_eq!(two.delete(&id("a")).unwrap_err(), in_use);
    drop(writer);
    let writer = two.open_session(&id("a"), Access::Write).unwrap();
    two.commit(&writer, &appended(&[said(1, "me too")])).unwrap();
    assert_eq!(texts(&one, "a"), ["hello", "me too"]);
}

#[test]
fn what_is_known_of_the_cache_is_kept_beside_a_session() {
    let home = Home::new();
    let mut store = home.open();
    let handle = store.create(&new("a")).unwrap();
    assert_eq!(store.cache_memory(&id("a")).unwrap(), None);
    store.commit(&handle, &appended(&[said(0, "zero")])).unwrap();
    let listed = store.list().unwrap();
    store.keep_cache_memory(&handle, "layout").unwrap();
    assert_eq!(store.list().unwrap(), listed, "storing the cache memory does not change the session");
    let kept = |is_current| Some(StoredCacheMemory { memory: "layout".to_owned(), is_current });
    assert_eq!(store.cache_memory(&id("a")).unwrap(), kept(true));
    store.commit(&handle, &appended(&[said(1, "one")])).unwrap();
    assert_eq!(store.cache_memory(&id("a")).unwrap(), kept(false));
    let reader = home.open().open_session(&id("a"), Access::Read).unwrap();
    assert_eq!(store.keep_cache_memory(&reader, "other").unwrap_err(), StoreError::ReadOnly(id("a")));
}

#[test]
fn a_commit_that_does_not_fit_changes_nothing() {
    let home = Home::new();
    let mut store = home.open();
    let handle = store.create(&new("a")).unwrap();
    store.commit(&handle, &appended(&[said(0, "zero"), said(1, "one")])).unwrap();
    let before = store.load(&id("a")).unwrap();
    let order = |ids: &[u64]| Some(ids.iter().copied().map(MessageId).collect());
    let fits = || Commit { state: Some(json!(1)), ..appended(&[said(2, "two")]) };
    for (commit, error) in [
        (Commit { removed: vec![MessageId(7)], ..fits() }, StoreError::NoMessage(MessageId(7))),
        (Commit { changed: vec![said(7, "x")], ..fits() }, StoreError::NoMessage(MessageId(7))),
        (
            Commit { appended: vec![said(2, "x"), said(1, "x")], ..fits() },
            StoreError::MessageExists(MessageId(1)),
        ),
        (Commit { order: order(&[0, 1]), ..fits() }, StoreError::Order { named: 2, held: 3 }),
        (Commit { order: order(&[0, 1, 1]), ..fits() }, StoreError::Order { named: 3, held: 3 }),
        (Commit { order: order(&[0, 1, 9]), ..fits() }, StoreError::Order { named: 3, held: 3 }),
    ] {
        assert_eq!(store.commit(&handle, &commit).unwrap_err(), error);
        assert_eq!(store.load(&id("a")).unwrap(), before);
        let hidden = store.search("two", &Scope::Workspace, Limits::default()).unwrap();
        assert_eq!(hidden.hits, []);
    }
}

#[test]
fn the_list_begins_with_what_was_written_last_whatever_the_clock_says() {
    let home = Home::new();
    let mut store = home.open();
    let handles = ["a", "b", "c"].map(|name| store.create(&new(name)).unwrap());
    let at = |now_ms: u64, number: u64| Commit { now_ms, ..appended(&[said(number, "x")]) };
    store.commit(&handles[1], &at(9_000, 0)).unwrap();
    store.commit(&handles[0], &at(5, 0)).unwrap();
    store.commit(&handles[0], &at(3, 1)).unwrap();
    let listed: Vec<String> = store.list().unwrap().iter().map(|info| info.id.to_string()).collect();
    assert_eq!(listed, ["a", "b", "c"]);
    assert_eq!(store.load(&id("a")).unwrap().messages, [said(0, "x"), said(1, "x")]);
}

#[test]
fn a_fork_holds_what_came_before_and_goes_its_own_way() {
    let home = Home::new();
    let mut store = home.open();
    let handle = store.create(&new("a")).unwrap();
    let messages = [said(0, "zero"), said(1, "one"), said(2, "two")];
    store.commit(&handle, &Commit { state: Some(json!({"x": 1})), ..appended(&messages) }).unwrap();
    let spilled = store.spills.write(&id("a"), b"long output").unwrap();
    let fork = store.fork(&id("a"), &new("b"), Some(MessageId(1))).unwrap();
    store.commit(&fork, &appended(&[said(3, "three")])).unwrap();
    assert_eq!(texts(&store, "b"), ["zero", "one", "three"]);
    assert_eq!(store.load(&id("b")).unwrap().state, json!({"x": 1}));
    assert_eq!(texts(&store, "a"), ["zero", "one", "two"]);
    assert_eq!(
        store.fork(&id("a"), &new("b"), None).unwrap_err(),
        StoreError::InUse { id: id("b"), pid: Some(std::process::id()) }
    );
    drop((handle, fork));
    assert_eq!(store.fork(&id("a"), &new("b"), None).unwrap_err(), StoreError::Exists(id("b")));
    let wrong = store.fork(&id("a"), &new("c"), Some(MessageId(9))).unwrap_err();
    assert_eq!(wrong, StoreError::NoMessage(MessageId(9)));
    store.delete(&id("a")).unwrap();
    assert_eq!(store.load(&id("a")).unwrap_err(), StoreError::NoSession(id("a")));
    assert_eq!(store.spills.read_lines(&id("b"), &spilled.id, 1, 9).unwrap().text, "long output");
    let found = store.search("zero", &Scope::Workspace, Limits::default()).unwrap();
    assert_eq!(found.hits.len(), 1);
}

#[test]
fn numbers_and_times_of_any_size_come_back() {
    let home = Home::new();
    let mut store = home.open();
    let handle = store.create(&NewSession { created_ms: u64::MAX, ..new("a") }).unwrap();
    let commit = Commit { next_id: u64::MAX, now_ms: u64::MAX, ..appended(&[said(u64::MAX - 1, "x")]) };
    store.commit(&handle, &commit).unwrap();
    let stored = store.load(&id("a")).unwrap();
    assert_eq!((stored.created_ms, stored.next_id), (u64::MAX, u64::MAX));
    assert_eq!(stored.messages[0].id, MessageId(u64::MAX - 1));
}

#[test]
fn a_new_name_is_listed() {
    let home = Home::new();
    let mut store = home.open();
    drop(store.create(&new("a")).unwrap());
    store.rename(&id("a"), "Sorting").unwrap();
    assert_eq!(store.list().unwrap()[0].name, "Sorting");
    assert_eq!(store.rename(&id("b"), "x").unwrap_err(), StoreError::NoSession(id("b")));
}

/// Returns a tool call with nested lists, which are three levels deep in the message.
fn nested(number: u64, levels: usize) -> Arc<Message> {
    let input = (1..levels).fold(json!([]), |inner, _| json!([inner]));
    let call = ContentBlock::ToolCall { id: "c".into(), name: "[{\"\\".into(), input };
    Arc::new(Message { id: MessageId(number), body: NewMessage::new(Role::Assistant, vec![call]) })
}

#[test]
fn what_could_not_be_read_back_is_not_stored() {
    let home = Home::new();
    let mut store = home.open();
    let handle = store.create(&new("a")).unwrap();
    let deepest = [nested(0, 124)];
    store.commit(&handle, &appended(&deepest)).unwrap();
    for commit in [
        appended(&[said(1, "with it"), nested(2, 125)]),
        Commit { changed: vec![nested(0, 125)], next_id: 1, ..Commit::default() },
    ] {
        assert_eq!(store.commit(&handle, &commit).unwrap_err(), StoreError::TooDeep(127));
        assert_eq!(store.load(&id("a")).unwrap().messages, deepest);
    }
    let mut lines = Vec::new();
    store.export(&id("a"), &mut lines).unwrap();
    let copy = store.import(&*lines).unwrap();
    assert_eq!(store.load(&copy.handle.id).unwrap().messages, deepest);
}

#[test]
fn a_message_that_cannot_be_read_hides_no_session() {
    let home = Home::new();
    let mut store = home.open();
    filled(&mut store, "a", &[said(0, "hello"), said(1, "hi"), said(2, "more")]);
    filled(&mut store, "b", &[said(0, "other")]);
    // As stored by earlier versions.
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    store.connection.execute("UPDATE message SET body = ?1 WHERE id = 0", [deep]).unwrap();
    let previews: Vec<String> = store.list().unwrap().into_iter().map(|info| info.preview).collect();
    assert_eq!(previews, ["", "more"]);
}

#[test]
fn no_session_is_begun_under_the_name_of_the_one_at_hand() {
    let home = Home::new();
    let mut store = home.open();
    filled(&mut store, "a", &[said(0, "hello")]);
    let refused = StoreError::Reserved(id("main"));
    assert_eq!(store.create(&new("main")).unwrap_err(), refused);
    assert_eq!(store.fork(&id("a"), &new("main"), None).unwrap_err(), refused);
    assert_eq!(store.list().unwrap().len(), 1);
    // As stored by earlier versions.
    store.connection.execute("UPDATE session SET id = 'main'", []).unwrap();
    assert_eq!(store.create(&new("main")).unwrap_err(), StoreError::Exists(id("main")));
    assert_eq!(texts(&store, "main"), ["hello"]);
    store.delete(&id("main")).unwrap();
}
