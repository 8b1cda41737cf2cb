//! Tests of export and import: nothing is lost, and errors name their line.

use super::*;

fn exported(store: &Store, name: &str) -> String {
    let mut out = Vec::new();
    store.export(&id(name), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn a_session_survives_the_way_through_lines() {
    let home = Home::new();
    let mut store = home.open();
    let handle = store.create(&new("a")).unwrap();
    let messages = [said(3, "line\nbreak"), said(1, "\u{2028}\0\"quote")];
    store.commit(&handle, &appended(&messages)).unwrap();
    drop(handle);
    let lines = exported(&store, "a");
    expect_test::expect![[r#"
        {"strataSession":1,"id":"a","name":"Session a","createdMs":1000}
        {"id":3,"role":"assistant","content":[{"type":"text","text":"line\nbreak"}],"agent":"shown","user":"shown","kind":"normal"}
    "#]]
    .assert_eq(&lines.split_inclusive('\n').take(2).collect::<String>());
    let copy = store.import(lines.as_bytes()).unwrap();
    assert_ne!(copy.handle.id, id("a"));
    let stored = store.load(&copy.handle.id).unwrap();
    assert_eq!((&*stored.name, copy.messages), ("Session a", 2));
    assert_eq!((stored.messages, stored.next_id, stored.created_ms), (messages.to_vec(), 4, 1_000));
    store.delete(&id("a")).unwrap();
    let again = store.import(lines.as_bytes()).unwrap();
    assert_eq!(again.handle.id, id("a"));
    assert_eq!(exported(&store, "a"), lines);
}

#[test]
fn a_wrong_line_is_named_and_nothing_is_kept() {
    const HEAD: &str = r#"{"strataSession":1,"id":"x","name":"","createdMs":0}"#;
    const ONE: &str = r#"{"id":1,"role":"user","content":[]}"#;
    let home = Home::new();
    let mut store = home.open();
    for (lines, line, what) in [
        (String::new(), 1, "header is missing"),
        ("{}".into(), 1, "missing field"),
        (HEAD.replace(":1,", ":2,"), 1, "version 2"),
        (HEAD.replace("\"x\"", "\"../x\""), 1, "is not a session id"),
        (format!("{HEAD}\n{ONE}\nnot json"), 3, "expected"),
        (format!("{HEAD}\n\n{ONE}"), 2, "EOF"),
        (format!("{HEAD}\n{ONE}\n{ONE}\n"), 3, "already has a message 1"),
        (format!("{HEAD}\n{}", ONE.replace("role", "rule")), 2, "rule"),
        (format!("{HEAD}\n{}", ONE.replace("\"id\":1,", "")), 2, "needs an `id`"),
        (format!("{HEAD}\n{}", ONE.replace(":1,", ":4611686018427387904,")), 2, "too high"),
        (format!("{HEAD}\n{ONE}\n{}", ONE.replace(":1,", ":18446744073709551615,")), 3, "too high"),
        (format!("{HEAD}\n{}", ONE.replace("[]", r#"[{"type":"text","text":1}]"#)), 2, "content[0]"),
    ] {
        match store.import(lines.as_bytes()).unwrap_err() {
            StoreError::Line { line: at, what: why } => {
                assert!(at == line && why.contains(what), "{lines}: line {at}: {why}");
            }
            other => panic!("{other}"),
        }
        assert_eq!(store.list().unwrap(), []);
    }
}

#[test]
fn there_are_numbers_behind_the_highest_that_is_read() {
    let home = Home::new();
    let mut store = home.open();
    let lines = r#"{"strataSession":1,"id":"x","name":"","createdMs":0}
{"id":4611686018427387903,"role":"user","content":[]}"#;
    let imported = store.import(lines.as_bytes()).unwrap();
    let next_id = store.load(&id("x")).unwrap().next_id;
    store.commit(&imported.handle, &appended(&[said(next_id, "next")])).unwrap();
    assert_eq!(texts(&store, "x"), ["", "next"]);
}

#[test]
fn a_session_called_as_the_one_at_hand_gets_another_name() {
    let home = Home::new();
    let mut store = home.open();
    let header = r#"{"strataSession":1,"id":"main","name":"Loop","createdMs":0}"#;
    let imported = store.import(header.as_bytes()).unwrap();
    assert!(!imported.handle.id.is_reserved());
    assert_eq!(store.load(&imported.handle.id).unwrap().name, "Loop");
}
