//! Faults of the library's own `Server` that the transport must not have. A test `library_*` proves that the library
//! has the fault (tower-lsp-server 0.23). Without such a test, version 0.23 no longer has it.

use serde_json::{Value, json};
use strata_lsp::transport::{Exit, ExitCause, TransportOptions};

use crate::library::{Fate, Library};
use crate::mock::{call, cancel, change, code, frame, frame_bytes, initialize, named, noop, notify};
use crate::ours::Ours;

const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;
const METHOD_NOT_FOUND: i64 = -32601;
const INTERNAL_ERROR: i64 = -32603;
const CANCELLED: i64 = -32800;

fn slow(range: std::ops::RangeInclusive<usize>) -> impl Iterator<Item = Value> {
    range.map(|number| call(number, "test/slow", named(number)))
}

#[test]
fn slow_requests_delay_neither_a_request_nor_an_edit() {
    let mut ours = Ours::start();
    ours.send_all(slow(1..=100));
    ours.send_all([change(1), noop(101)]);
    assert_eq!(ours.next()["id"], 101);
    ours.world.wait_for("change 1");
    (1..=100).for_each(|number| ours.world.open(&number.to_string()));
    let answers = ours.answers(100);
    assert!(
        answers
            .iter()
            .zip(1..)
            .all(|(answer, id)| answer["id"] == id && answer["result"].as_str() == Some(&id.to_string()))
    );
}

#[tokio::test(start_paused = true)]
async fn library_slow_requests_delay_everything() {
    let mut library = Library::start().await;
    library.send_all(slow(1..=4)).await;
    library.send_all([change(1), noop(101)]).await;
    assert_eq!(library.next().await, None, "the fault is gone");
    assert_eq!(library.world.log(), ["initialize", "slow 1", "slow 2", "slow 3", "slow 4"]);
    library.world.open("2");
    assert_eq!(library.next().await.unwrap()["id"], 2);
    assert_eq!(library.next().await.unwrap()["id"], 101);
}

#[test]
fn a_slow_request_can_be_cancelled_and_is_answered_once() {
    let mut ours = Ours::start();
    ours.send_all(slow(1..=8));
    ours.send(&cancel(3));
    let answer = ours.next();
    assert_eq!((&answer["id"], code(&answer)), (&json!(3), Some(CANCELLED)));
    // Cancellations that are too late, repeated or unknown have no effect.
    ours.send_all([cancel(3), cancel(77), cancel("3")]);
    (1..=8).for_each(|number| ours.world.open(&number.to_string()));
    let answered: Vec<_> = ours.answers(7).iter().map(|answer| answer["id"].as_i64().unwrap()).collect();
    assert_eq!(answered, [1, 2, 4, 5, 6, 7, 8]);
    assert_eq!(ours.rest(), Vec::<Value>::new());
}

#[tokio::test(start_paused = true)]
async fn library_cancelling_waits_for_a_slow_request() {
    let mut library = Library::start().await;
    library.send_all(slow(1..=4)).await;
    library.send(&cancel(3)).await;
    assert_eq!(library.next().await, None, "the fault is gone");
}

/// Bytes that are not a valid frame, each with a description.
fn broken_frames() -> Vec<(&'static str, Vec<u8>)> {
    let bytes = |text: &str| text.as_bytes().to_vec();
    vec![
        ("no length", bytes("Content-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n{}")),
        ("broken length", bytes("Content-Length: 1x\r\n\r\n{}")),
        ("negative length", bytes("Content-Length: -5\r\n\r\n{}")),
        ("no number", bytes("Content-Length: \r\n\r\n{}")),
        ("absurd length", bytes("Content-Length: 99999999999999999999999999\r\n\r\n{}")),
        ("no header", bytes("what is this?\r\n\r\n")),
        ("binary", vec![0, 159, 146, 150, 13, 10, 13, 10]),
        ("unknown charset", bytes("Content-Length: 2\r\nContent-Type: a/b; charset=latin1\r\n\r\n{}")),
    ]
}

fn broken_json() -> Vec<(&'static str, Vec<u8>)> {
    let bodies: [(_, &[u8]); 5] = [
        ("half", br#"{"jsonrpc":"2.0","#),
        ("empty", b""),
        ("not UTF-8", b"{\"jsonrpc\":\"2.0\",\"method\":\"\xff\"}"),
        ("two values", b"{}{}"),
        ("text", b"hello"),
    ];
    bodies.into_iter().map(|(name, body)| (name, frame_bytes(body))).collect()
}

fn invalid_messages() -> Vec<(&'static str, Vec<u8>)> {
    let bodies = [
        ("a number", "42"),
        ("no fields", "{}"),
        ("foreign fields", r#"{"foo":1}"#),
        ("no version", r#"{"id":7,"method":"test/noop"}"#),
        ("other version", r#"{"jsonrpc":"1.0","id":7,"method":"test/noop"}"#),
        ("method is a number", r#"{"jsonrpc":"2.0","id":7,"method":1}"#),
        ("id is an object", r#"{"jsonrpc":"2.0","id":{},"method":"test/noop"}"#),
        ("field twice", r#"{"jsonrpc":"2.0","id":7,"id":8,"method":"test/noop"}"#),
        ("batch", r#"[{"jsonrpc":"2.0","id":7,"method":"test/noop"}]"#),
    ];
    bodies.into_iter().map(|(name, body)| (name, frame_bytes(body.as_bytes()))).collect()
}

fn assert_answered_and_survived(cases: Vec<(&str, Vec<u8>)>, expected: i64) {
    for (name, bytes) in cases {
        let mut ours = Ours::start();
        ours.send_raw(&bytes);
        ours.send(&noop(1));
        let reply = ours.next();
        assert_eq!(code(&reply), Some(expected), "{name}: {reply}");
        assert!(reply["id"].is_null() || reply["id"] == 7, "{name}: {reply}");
        let served = ours.next();
        assert_eq!(served, json!({ "jsonrpc": "2.0", "id": 1, "result": null }), "{name}");
    }
}

/// Checks that the library's server ends although its input is open. It may send an answer before.
async fn assert_library_ends(cases: Vec<(&str, Vec<u8>)>) {
    for (name, bytes) in cases {
        let mut library = Library::start().await;
        library.send_raw(&bytes).await;
        library.send(&noop(1)).await;
        let rest = library.rest().await;
        assert!(rest.iter().all(|message| message["id"] != 1), "{name}: the fault is gone: {rest:?}");
        assert_eq!(library.fate().await, Fate::Ended, "{name}");
    }
}

#[test]
fn broken_frames_are_answered_and_skipped() {
    assert_answered_and_survived(broken_frames(), PARSE_ERROR);
}

#[tokio::test(start_paused = true)]
async fn library_broken_frames_are_fatal() {
    assert_library_ends(broken_frames()).await;
}

#[test]
fn broken_json_is_answered() {
    assert_answered_and_survived(broken_json(), PARSE_ERROR);
}

#[tokio::test(start_paused = true)]
async fn library_broken_json_is_fatal() {
    // After an empty body, the library waits for the next frame and continues normally.
    let cases = broken_json().into_iter().filter(|(name, _)| *name != "empty").collect();
    assert_library_ends(cases).await;
}

#[test]
fn json_that_is_not_a_message_is_rejected() {
    assert_answered_and_survived(invalid_messages(), INVALID_REQUEST);
}

#[tokio::test(start_paused = true)]
async fn library_json_that_is_not_a_message_is_fatal() {
    assert_library_ends(invalid_messages()).await;
}

#[test]
fn a_panic_is_an_error_reply() {
    let mut ours = Ours::start();
    for id in [1, 1] {
        // The same id can be used again, since the request that panicked is complete.
        ours.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "test/panic" }));
        let reply = ours.next();
        assert_eq!((&reply["id"], code(&reply)), (&json!(1), Some(INTERNAL_ERROR)));
    }
    for id in ["a", "a"] {
        ours.send(&call(id, "test/panicLater", named("later")));
        ours.world.open("later");
        let reply = ours.next();
        assert_eq!((&reply["id"], code(&reply)), (&json!("a"), Some(INTERNAL_ERROR)));
    }
    ours.send(&json!({ "jsonrpc": "2.0", "method": "test/boom" }));
    ours.send_all([change(1), noop(2)]);
    assert_eq!(ours.next()["id"], 2);
    assert_eq!(ours.world.log(), ["initialize", "boom", "change 1"]);
}

#[tokio::test(start_paused = true)]
async fn library_a_panic_is_fatal() {
    for message in [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "test/panic" }),
        json!({ "jsonrpc": "2.0", "method": "test/boom" }),
    ] {
        let mut library = Library::start().await;
        library.send_all([message, noop(2)]).await;
        assert_eq!(library.rest().await, Vec::<Value>::new(), "the fault is gone");
        assert_eq!(library.fate().await, Fate::Panicked);
    }
}

#[test]
fn an_unknown_dollar_request_is_answered() {
    let mut ours = Ours::start();
    ours.send_all([
        call(1, "$/x", json!({})),
        notify("$/x", json!({})),
        notify("what/ever", json!({})),
        noop(2),
    ]);
    let reply = ours.next();
    assert_eq!((&reply["id"], code(&reply)), (&json!(1), Some(METHOD_NOT_FOUND)));
    assert_eq!(ours.next()["id"], 2);
    assert_eq!(ours.rest(), Vec::<Value>::new());
}

#[tokio::test(start_paused = true)]
async fn library_an_unknown_dollar_request_is_never_answered() {
    let mut library = Library::start().await;
    library.send_all([call(1, "$/x", json!({})), noop(2)]).await;
    let rest = library.rest().await;
    assert_eq!(rest.iter().map(|message| &message["id"]).collect::<Vec<_>>(), [2], "the fault is gone");
}

/// Version 0.20 rejected `null`; version 0.23 accepts it but rejects `{}`.
#[test]
fn shutdown_is_accepted_with_any_parameters() {
    for params in [Value::Null, json!({}), json!([])] {
        let mut ours = Ours::start();
        ours.send(&call(1, "shutdown", params));
        assert_eq!(ours.next(), json!({ "jsonrpc": "2.0", "id": 1, "result": null }));
        ours.send_all([noop(2), notify("exit", Value::Null)]);
        assert_eq!(code(&ours.next()), Some(INVALID_REQUEST), "after shutdown");
        assert_eq!(ours.exit(), Exit { code: 0, cause: ExitCause::ExitNotification });
    }
}

#[tokio::test(start_paused = true)]
async fn library_shutdown_is_rejected_because_of_its_parameters() {
    let mut library = Library::start().await;
    library.send(&call(1, "shutdown", json!({}))).await;
    assert_eq!(code(&library.next().await.unwrap()), Some(-32602), "the fault is gone");
}

/// Version 0.20 continued while its input was open. Version 0.23 ends, but without an exit code.
#[test]
fn exit_ends_the_server_while_the_input_is_open() {
    let mut ours = Ours::start();
    ours.send_all(slow(1..=3));
    ours.send(&json!({ "jsonrpc": "2.0", "method": "exit" }));
    assert_eq!(ours.exit(), Exit { code: 1, cause: ExitCause::ExitNotification });

    let mut ours = Ours::fresh(TransportOptions::default());
    ours.send(&notify("exit", Value::Null));
    assert_eq!(ours.exit(), Exit { code: 1, cause: ExitCause::ExitNotification }, "before initialize");

    let mut ours = Ours::start();
    ours.send_all([call(1, "shutdown", Value::Null), call(2, "exit", Value::Null)]);
    assert_eq!(ours.exit(), Exit { code: 0, cause: ExitCause::ExitNotification }, "as a request");
}

#[test]
fn a_late_answer_of_the_client_is_received_after_any_number_of_requests() {
    let mut ours = Ours::start();
    ours.send_all((1..=200).map(|number| call(number, "test/ask", named(number))));
    ours.send_all([change(1), cancel(100)]);
    let mut questions = Vec::new();
    while questions.len() < 200 {
        let message = ours.next();
        if message["id"] == 100 && message.get("error").is_some() {
            assert_eq!(code(&message), Some(CANCELLED));
        } else {
            assert_eq!(message["method"], "test/question");
            questions.push(message);
        }
    }
    ours.world.wait_for("change 1");
    assert_eq!(
        ours.world.log().into_iter().skip(1).collect::<Vec<_>>(),
        (1..=200).map(|number| format!("ask {number}")).chain(["change 1".to_owned()]).collect::<Vec<_>>(),
        "wire order is state order"
    );
    let names: Vec<_> =
        questions.iter().map(|question| question["params"]["name"].as_str().unwrap()).collect();
    assert_eq!(names, (1..=200).map(|number| number.to_string()).collect::<Vec<_>>());
    ours.send_all(questions.iter().map(
        |question| json!({ "jsonrpc": "2.0", "id": question["id"], "result": question["params"]["name"] }),
    ));
    ours.send(&noop(201));
    let mut answers = std::collections::BTreeMap::new();
    while answers.len() < 200 {
        let answer = ours.next();
        if answer["id"] == 100 && code(&answer) == Some(CANCELLED) {
            continue;
        }
        assert!(answers.insert(answer["id"].as_i64().unwrap(), answer["result"].clone()).is_none());
    }
    let served = (1..=201).filter(|id| *id != 100);
    assert_eq!(answers.keys().copied().collect::<Vec<_>>(), served.collect::<Vec<_>>());
    assert!(answers.iter().all(|(id, result)| *id == 201 || result.as_str() == Some(&id.to_string())));
    assert_eq!(ours.rest(), Vec::<Value>::new());
}

#[tokio::test(start_paused = true)]
async fn library_a_late_answer_of_the_client_is_never_received() {
    let mut library = Library::start().await;
    library.send_all((1..=200).map(|number| call(number, "test/ask", named(number)))).await;
    library.send_all([change(1), cancel(100)]).await;
    let questions = library.rest().await;
    assert_eq!(questions.len(), 4, "the fault is gone");
    for question in questions {
        library.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": 0 })).await;
    }
    assert_eq!(library.next().await, None, "the fault is gone");
    assert!(!library.world.log().contains(&"change 1".to_owned()));
}

#[test]
fn messages_during_initialize_are_held_in_order() {
    let mut ours = Ours::fresh(TransportOptions::default());
    ours.send(&call(0, "initialize", json!({ "capabilities": {}, "initializationOptions": "slow" })));
    ours.world.wait_for("initialize");
    ours.send_all([change(1), call(1, "test/slow", named(1)), change(2), noop(2), noop(3), cancel(2)]);
    let reply = ours.next();
    assert_eq!((&reply["id"], code(&reply)), (&json!(2), Some(CANCELLED)), "held requests can be cancelled");
    ours.world.open("initialize");
    assert_eq!(ours.next()["id"], 0);
    assert_eq!(ours.next()["id"], 3);
    ours.world.wait_for("change 2");
    ours.world.open("1");
    assert_eq!(ours.next()["id"], 1);
    assert_eq!(ours.world.log(), ["initialize", "change 1", "slow 1", "change 2", "done 1"]);
}

#[tokio::test(start_paused = true)]
async fn library_messages_during_initialize_are_lost() {
    let mut library = Library::fresh();
    library
        .send(&call(0, "initialize", json!({ "capabilities": {}, "initializationOptions": "slow" })))
        .await;
    library.send_all([change(1), noop(1)]).await;
    assert_eq!(code(&library.next().await.unwrap()), Some(-32002), "the fault is gone");
    library.world.open("initialize");
    assert_eq!(library.next().await.unwrap()["id"], 0);
    assert_eq!(library.world.log(), ["initialize"]);
}

#[test]
fn a_request_that_is_too_large_is_skipped_and_answered_by_its_id() {
    let mut options = TransportOptions::default();
    options.limits.message = 10_000;
    let mut ours = Ours::start_with(options);
    let large = "x".repeat(100_000);
    ours.send_all([call(5, "test/noop", json!({ "name": large })), notify("what/ever", large), noop(6)]);
    let reply = ours.next();
    assert_eq!((&reply["id"], code(&reply)), (&json!(5), Some(INVALID_REQUEST)));
    let reply = ours.next();
    assert_eq!((&reply["id"], code(&reply)), (&Value::Null, Some(INVALID_REQUEST)));
    assert_eq!(ours.next()["id"], 6);
}

#[tokio::test(start_paused = true)]
async fn library_allocates_the_claimed_length() {
    let mut library = Library::start().await;
    library.send_raw(b"Content-Length: 1000000000000\r\n\r\n{}").await;
    library.send(&noop(1)).await;
    assert_eq!(library.next().await, None, "the fault is gone");
    assert_eq!(library.fate().await, Fate::Serves);
}

#[test]
fn garbage_before_a_frame_is_skipped_without_losing_the_frame() {
    let mut ours = Ours::fresh(TransportOptions::default());
    let mut bytes = b"garbage without an end".to_vec();
    bytes.extend(frame(&initialize()));
    bytes.extend(b"\r\n\r\nshort body");
    bytes.extend(frame(&noop(1)));
    ours.send_raw(&bytes);
    let replies: Vec<_> =
        (0..4).map(|_| ours.next()).map(|reply| (reply["id"].clone(), code(&reply))).collect();
    assert_eq!(
        replies,
        [
            (Value::Null, Some(PARSE_ERROR)),
            (json!("initialize"), None),
            (Value::Null, Some(PARSE_ERROR)),
            (json!(1), None)
        ]
    );
}
