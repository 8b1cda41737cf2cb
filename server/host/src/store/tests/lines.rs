//! Tests of export and import: nothing is lost, and errors name their line.

use super::*;

fn export(store: &Store, name: &str) -> String {
    let mut out = Vec::new();
    store.export(&id(name), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn an_exported_session_can_be_imported_unchanged() {
    let home = Home::new();
    let mut store = home.open();
    let handle = store.create(&new_session("a")).unwrap();
    let messages = [text_message(3, "line\nbreak"), text_message(1, "\u{2028}\0\"quote")];
    store.commit(&handle, &appended(&messages)).unwrap();
    drop(handle);
    let lines = export(&store, "a");
    expect_test::expect![[r#"
        {"strataSession":1,"id":"a","name":"Session a","createdMs":1000}
        {"id":3,"role":"assistant","content":[{"type":"text","text":"line\nbreak"}],"agent":"shown","user":"shown","kind":"normal"}
    "#]]
    .assert_eq(&lines.split_inclusive('\n').take(2).collect::<String>());
    let copy = store.import(lines.as_bytes()).unwrap();
    assert_ne!(copy.handle.id, id("a"));
    let stored = store.load_session(&copy.handle.id).unwrap();
    assert_eq!((&*stored.name, copy.messages), ("Session a", 2));
    assert_eq!((stored.messages, stored.next_id, stored.created_ms), (messages.to_vec(), 4, 1_000));
    store.delete(&id("a")).unwrap();
    let again = store.import(lines.as_bytes()).unwrap();
    assert_eq!(again.handle.id, id("a"));
    assert_eq!(export(&store, "a"), lines);
}

#[test]
fn an_invalid_line_is_reported_and_nothing_is_imported() {
    const HEADER: &str = r#"{"strataSession":1,"id":"x","name":"","createdMs":0}"#;
    const MESSAGE: &str = r#"{"id":1,"role":"user","content":[]}"#;
    let home = Home::new();
    let mut store = home.open();
    for (lines, line, expected) in [
        (String::new(), 1, "header is missing"),
        ("{}".into(), 1, "missing field"),
        (HEADER.replace(":1,", ":2,"), 1, "version 2"),
        (HEADER.replace("\"x\"", "\"../x\""), 1, "is not a session id"),
        (format!("{HEADER}\n{MESSAGE}\nnot json"), 3, "expected"),
        (format!("{HEADER}\n\n{MESSAGE}"), 2, "EOF"),
        (format!("{HEADER}\n{MESSAGE}\n{MESSAGE}\n"), 3, "already has a message 1"),
        (format!("{HEADER}\n{}", MESSAGE.replace("role", "rule")), 2, "rule"),
        (format!("{HEADER}\n{}", MESSAGE.replace("\"id\":1,", "")), 2, "needs an `id`"),
        (format!("{HEADER}\n{}", MESSAGE.replace(":1,", ":4611686018427387904,")), 2, "too high"),
        (format!("{HEADER}\n{MESSAGE}\n{}", MESSAGE.replace(":1,", ":18446744073709551615,")), 3, "too high"),
        (format!("{HEADER}\n{}", MESSAGE.replace("[]", r#"[{"type":"text","text":1}]"#)), 2, "content[0]"),
    ] {
        match store.import(lines.as_bytes()).unwrap_err() {
            StoreError::Line { line: actual_line, problem } => {
                assert!(
                    actual_line == line && problem.contains(expected),
                    "{lines}: line {actual_line}: {problem}"
                );
            }
            error => panic!("{error}"),
        }
        assert_eq!(store.list().unwrap(), []);
    }
}

#[test]
fn messages_can_be_appended_after_the_highest_imported_id() {
    let home = Home::new();
    let mut store = home.open();
    let lines = r#"{"strataSession":1,"id":"x","name":"","createdMs":0}
{"id":4611686018427387903,"role":"user","content":[]}"#;
    let imported = store.import(lines.as_bytes()).unwrap();
    let next_id = store.load_session(&id("x")).unwrap().next_id;
    store.commit(&imported.handle, &appended(&[text_message(next_id, "next")])).unwrap();
    assert_eq!(texts(&store, "x"), ["", "next"]);
}

#[test]
fn an_imported_session_with_a_reserved_id_gets_another_id() {
    let home = Home::new();
    let mut store = home.open();
    let header = r#"{"strataSession":1,"id":"main","name":"Loop","createdMs":0}"#;
    let imported = store.import(header.as_bytes()).unwrap();
    assert!(!imported.handle.id.is_reserved());
    assert_eq!(store.load_session(&imported.handle.id).unwrap().name, "Loop");
}
